//! Folders that are checkouts of one Git repository: each has a branch, and files, of its own.

use std::path::{Path, PathBuf};

use pillion_discovery::canonicalize;
use pillion_discovery::version_control::{GIT, GitFolders};

/// Those of `roots` that are other checkouts of the repository in which `folder` is.
pub fn others<'a>(folder: &Path, roots: impl Iterator<Item = &'a PathBuf>) -> Vec<PathBuf> {
    let Some((own, repository)) = checkout(folder) else {
        return Vec::new();
    };
    let is_other = |root: &&PathBuf| {
        checkout(root).is_some_and(|(other, its)| other != own && its == repository)
    };
    roots.filter(is_other).cloned().collect()
}

/// The checkout that a folder is in, and the repository that it belongs to.
fn checkout(folder: &Path) -> Option<(PathBuf, PathBuf)> {
    let top = folder.ancestors().find(|it| it.join(GIT).exists())?;
    let git = GitFolders::of(top)?;
    Some((canonicalize(top).ok()?, canonicalize(&git.common).ok()?))
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    #[test]
    fn worktrees_of_one_repository_are_other_checkouts() {
        let folder = tempfile::tempdir().unwrap();
        let at = |name: &str| folder.path().join(name);
        let write = |name: &str, text: String| {
            fs::create_dir_all(at(name).parent().unwrap()).unwrap();
            fs::write(at(name), text).unwrap();
        };
        for main in ["main", "foreign"] {
            fs::create_dir_all(at(main).join(".git")).unwrap();
            fs::create_dir_all(at(main).join("src")).unwrap();
        }
        for tree in ["one", "two"] {
            let own = format!("main/.git/worktrees/{tree}");
            write(&format!("{own}/commondir"), "../..\n".to_owned());
            write(
                &format!("{tree}/.git"),
                format!("gitdir: {}\n", at(&own).display()),
            );
        }
        write("main/sub/.git", "gitdir: ../.git/modules/sub\n".to_owned());
        fs::create_dir_all(at("main/.git/modules/sub")).unwrap();
        fs::create_dir(at("plain")).unwrap();
        let all = [
            "main", "main/src", "one", "two", "foreign", "main/sub", "plain",
        ]
        .map(at);
        let others = |name: &str| others(&at(name), all.iter());
        assert_eq!(others("one"), ["main", "main/src", "two"].map(at));
        assert_eq!(others("main/src"), ["one", "two"].map(at));
        assert!(others("foreign").is_empty() && others("plain").is_empty());
        assert!(others("main/sub").is_empty());
    }
}
