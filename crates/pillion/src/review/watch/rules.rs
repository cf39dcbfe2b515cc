//! Which saved files are nobody's business: ignored, hidden, or an editor's own.

use std::path::{Path, PathBuf};

use ignore::gitignore::{Gitignore, GitignoreBuilder};

/// What is ignored below one root.
pub struct Rules {
    /// The folder.
    pub root: PathBuf,
    /// The repository that holds it, or the root itself: rules above it are none of ours.
    top: PathBuf,
}

impl Rules {
    /// The rules for what is below `root`.
    pub fn new(root: &Path) -> Self {
        let is_repository = |folder: &&Path| folder.join(".git").exists();
        let top = root.ancestors().find(is_repository).unwrap_or(root);
        Self {
            root: root.to_owned(),
            top: top.to_owned(),
        }
    }

    /// Whether `path` is hidden, or ignored by a `.gitignore` between it and the top of the
    /// repository. The files are read again each time: saves are rare, and the rules change too.
    pub fn ignore(&self, path: &Path) -> bool {
        let Ok(within) = path.strip_prefix(&self.root) else {
            return true;
        };
        let is_hidden =
            |part: std::path::Component<'_>| part.as_os_str().to_string_lossy().starts_with('.');
        if within.components().any(is_hidden) {
            return true;
        }
        let is_dir = path.is_dir();
        let is_inside = |folder: &&Path| folder.starts_with(&self.top);
        for folder in path.ancestors().skip(1).take_while(is_inside) {
            let rules = gitignore(folder);
            let matched = rules.matched_path_or_any_parents(path, is_dir);
            if !matched.is_none() {
                return matched.is_ignore();
            }
        }
        false
    }
}

fn gitignore(folder: &Path) -> Gitignore {
    let mut builder = GitignoreBuilder::new(folder);
    // The last one has the last word.
    for name in [".git/info/exclude", ".gitignore", ".ignore"] {
        let file = folder.join(name);
        if file.is_file() {
            // What cannot be read ignores nothing.
            let _ = builder.add(file);
        }
    }
    builder.build().unwrap_or_else(|_| Gitignore::empty())
}

/// Files that editors write beside the one that a person saves.
pub fn is_made_by_an_editor(path: &Path) -> bool {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    let is_number = !name.is_empty() && name.bytes().all(|byte| byte.is_ascii_digit());
    let endings = [
        "~",
        ".swp",
        ".swo",
        ".swx",
        ".tmp",
        ".bak",
        ".orig",
        "___jb_tmp___",
    ];
    is_number
        || (name.starts_with('#') && name.ends_with('#'))
        || endings.iter().any(|ending| name.ends_with(ending))
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    #[test]
    fn what_editors_write_for_themselves_is_no_save() {
        for name in ["a.rs~", ".a.rs.swp", "4913", "#a.rs#", "a.rs.tmp"] {
            assert!(is_made_by_an_editor(Path::new(name)), "{name}");
        }
        for name in ["a.rs", "#a.rs", "v2"] {
            assert!(!is_made_by_an_editor(Path::new(name)), "{name}");
        }
    }

    #[test]
    fn ignored_and_hidden_files_are_left_out() {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path();
        fs::create_dir_all(root.join("src/deep")).unwrap();
        fs::write(root.join(".gitignore"), "target/\n*.log\n").unwrap();
        fs::write(root.join("src/.gitignore"), "!keep.log\ndeep/\n").unwrap();
        let rules = Rules::new(root);
        for (path, is_ignored) in [
            ("src/a.rs", false),
            ("a.log", true),
            ("src/keep.log", false),
            ("src/deep/a.rs", true),
            ("target/debug/x", true),
            (".git/HEAD", true),
            ("src/.env", true),
        ] {
            assert_eq!(rules.ignore(&root.join(path)), is_ignored, "{path}");
        }
        assert!(rules.ignore(Path::new("/elsewhere/a.rs")));
    }

    #[test]
    fn rules_above_the_root_hold_up_to_the_top_of_the_repository() {
        let folder = tempfile::tempdir().unwrap();
        let outer = folder.path();
        let repository = outer.join("repo");
        let root = repository.join("sub");
        fs::create_dir_all(repository.join(".git/info")).unwrap();
        fs::create_dir_all(&root).unwrap();
        fs::write(outer.join(".gitignore"), "*.rs\n").unwrap();
        fs::write(repository.join(".gitignore"), "*.env.json\n/sub/out/\n").unwrap();
        fs::write(repository.join(".git/info/exclude"), "mine.txt\n").unwrap();
        let rules = Rules::new(&root);
        for (path, is_ignored) in [
            ("secret.env.json", true),
            ("out/a.txt", true),
            ("mine.txt", true),
            ("a.rs", false),
        ] {
            assert_eq!(rules.ignore(&root.join(path)), is_ignored, "{path}");
        }
    }
}
