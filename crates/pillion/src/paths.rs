//! Paths between people and programs: one that a person typed, as companions, editors and agents can use it, and one that a
//! person is shown.

use std::io;
use std::path::{Component, Path, PathBuf};

use pillion_discovery::real_path;
use pillion_text::visible;

use crate::failure::{Failure, Kind};

/// The path from the root, without `..`: editors and agents take that for the folder before it,
/// which behind a link is another one. Links stay as they were typed.
pub fn absolute(path: &Path) -> io::Result<PathBuf> {
    let path = std::path::absolute(path)?;
    let goes_up = path.components().any(|part| part == Component::ParentDir);
    match (path.parent(), path.file_name()) {
        (Some(folder), Some(name)) if goes_up => Ok(real_path(folder).join(name)),
        _ => Ok(path),
    }
}

/// A path as it is sent: JSON holds Unicode only.
pub fn unicode(path: PathBuf) -> Result<String, Failure> {
    path.into_os_string().into_string().map_err(|path| {
        let path = path.display();
        Failure::new(Kind::Refused, format!("{path} is not valid Unicode"))
    })
}

/// `path` safe for a terminal, with `~` for `home`.
pub fn shown(path: &Path, home: Option<&Path>) -> String {
    let below = home.and_then(|home| path.strip_prefix(home).ok());
    let text = match below {
        Some(below) if below.as_os_str().is_empty() => "~".to_owned(),
        Some(below) => Path::new("~").join(below).display().to_string(),
        None => path.display().to_string(),
    };
    visible::one_line(&text)
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;

    #[test]
    fn going_up_goes_up_from_where_a_link_leads() {
        let root = tempfile::tempdir().unwrap();
        let root = root.path().canonicalize().unwrap();
        std::fs::create_dir_all(root.join("a/b")).unwrap();
        std::os::unix::fs::symlink(root.join("a/b"), root.join("link")).unwrap();
        let read = |path: &str| absolute(&root.join(path)).unwrap();
        assert_eq!(read("link/../c.txt"), root.join("a/c.txt"));
        assert_eq!(read("a/../c.txt"), root.join("c.txt"));
        assert_eq!(read("link/c.txt"), root.join("link/c.txt"));
        assert!(absolute(Path::new("")).is_err());
    }

    #[test]
    fn only_what_is_in_the_home_folder_is_shortened() {
        let home = Some(Path::new("/home/a"));
        let shown = |path: &str| shown(Path::new(path), home);
        assert_eq!(shown("/home/a"), "~");
        assert_eq!(shown("/home/a/b c"), "~/b c");
        assert_eq!(shown("/home/ab"), "/home/ab");
        assert_eq!(shown("/tmp/\u{1b}[2J"), "/tmp/␛[2J");
    }
}
