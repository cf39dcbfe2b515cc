//! The files in which git keeps rules, and their content. Files that cannot be read ignore nothing.
//!
//! They are in `.gitignore` and `.ignore`, in `.git/info/exclude` (also of worktrees and submodules), and in
//! `core.excludesFile`, whose path git reports.

use std::env;
use std::path::{Path, PathBuf};

use ignore::gitignore::{Gitignore, GitignoreBuilder, gitconfig_excludes_path};
use pillion_discovery::regular_file;
use pillion_discovery::version_control::{GitFolders, git};

/// Nobody writes so many rules: what is larger is something else.
const MAX_RULES_BYTES: u64 = 1 << 20;

/// The file of what the user ignores in every repository. git is asked, which alone knows all places
/// of its settings; without it, the usual ones are read.
pub fn user_excludes(root: &Path) -> Option<PathBuf> {
    match git::path_setting(root, "core.excludesFile") {
        Ok(Some(path)) => Some(root.join(path)),
        Ok(None) => default_excludes(),
        Err(_) => gitconfig_excludes_path(),
    }
}

fn default_excludes() -> Option<PathBuf> {
    let settings = env::var_os("XDG_CONFIG_HOME").filter(|folder| !folder.is_empty());
    let settings = settings
        .map(PathBuf::from)
        .or_else(|| Some(env::home_dir()?.join(".config")))?;
    Some(settings.join("git/ignore"))
}

/// The rules of a repository that are not shared with others. A worktree or submodule has a file for
/// `.git`, which leads to the folder; that of a worktree leads on to the one that all share.
pub fn exclude_file(top: &Path) -> Option<PathBuf> {
    Some(GitFolders::of(top)?.common.join("info/exclude"))
}

/// The rules of `file` about what is in `folder`.
pub fn compile(file: &Path, folder: &Path) -> Option<Gitignore> {
    let text = read(file)?;
    let mut builder = GitignoreBuilder::new(folder);
    // As git does where the file systems do so.
    let _ = builder.case_insensitive(cfg!(any(windows, target_os = "macos")));
    for line in text.trim_start_matches('\u{feff}').lines() {
        // One rule that is wrong takes no other with it.
        let _ = builder.add_line(None, line);
    }
    builder.build().ok()
}

/// The text of a regular file: to open anything else may wait forever.
fn read(path: &Path) -> Option<String> {
    let bytes = regular_file::read(path, MAX_RULES_BYTES).ok()?;
    Some(String::from_utf8_lossy(&bytes).into_owned())
}
