//! Finds what a diff's path leads to on disk, so that a change behind a reviewer's back is noticed. Looks,
//! and never writes (C5.9).

use std::path::{Path, PathBuf};

use pillion_discovery::real_path;
use pillion_text::fingerprint;
use pillion_view::Stamp;

use crate::disk::{CHECK_TIMEOUT, DiskThreads};

/// The most commands that may check their files at once.
pub(crate) const MAX_CHECKS: usize = 16;

/// The place to which a path leads, and the file there.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct OnDisk {
    pub(crate) leads_to: PathBuf,
    /// Nothing if there is no file.
    pub(crate) stamp: Option<Stamp>,
}

/// The file of a proposal as it was at one moment: when the agent made it, or when somebody decided about it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct FileState {
    pub(crate) on_disk: OnDisk,
    /// Fingerprint of its bytes, if they were read.
    pub(crate) text: Option<String>,
}

impl FileState {
    /// Returns true if the file is another one now. One that was written again with the same bytes is not.
    pub(crate) fn has_changed(&self, now: &OnDisk, bytes: Option<&[u8]>) -> bool {
        let is_same_text = || bytes.is_some() && self.text == Some(fingerprint::of(bytes));
        self.on_disk != *now && (self.on_disk.leads_to != now.leads_to || !is_same_text())
    }
}

impl OnDisk {
    /// Waits for the disk: not for a loop that serves everybody.
    pub(crate) fn check(path: &Path) -> Self {
        Self {
            leads_to: real_path(path),
            stamp: Stamp::of(path),
        }
    }

    /// Checks a path of which the last name is not followed, if that is a link: a change that is written already made the link.
    pub(crate) fn itself(path: &Path) -> Self {
        let place = path.parent().zip(path.file_name());
        Self {
            leads_to: place.map_or_else(|| path.to_owned(), |(at, name)| real_path(at).join(name)),
            stamp: Stamp::of_itself(path),
        }
    }

    /// Returns the place to which the path leads, if it is a link.
    pub(crate) fn elsewhere(&self, path: &str) -> Option<String> {
        let is_elsewhere = self.leads_to != Path::new(path);
        is_elsewhere.then(|| self.leads_to.to_string_lossy().into_owned())
    }
}

/// Looks at these paths beside the loop. Nothing if the disk does not answer in time: then nothing
/// is concluded, and only this command has waited.
pub(crate) async fn check(threads: &DiskThreads, paths: Vec<String>) -> Option<Vec<OnDisk>> {
    let checking = threads.run(move || {
        let paths = paths.iter().map(Path::new);
        paths.map(OnDisk::check).collect()
    });
    tokio::time::timeout(CHECK_TIMEOUT, checking).await.ok()?
}

#[cfg(all(test, unix))]
mod tests {
    use std::fs;
    use std::os::unix::fs::symlink;

    use super::*;

    #[test]
    fn a_file_is_another_one_when_it_is_written_replaced_or_its_link_leads_elsewhere() {
        let folder = tempfile::tempdir().unwrap();
        let real = folder.path().canonicalize().unwrap();
        let [file, other, link] = ["file", "other", "link"].map(|name| real.join(name));
        symlink(&file, &link).unwrap();
        let mut seen = vec![OnDisk::check(&link)];
        let mut check = |what: &str| {
            let now = OnDisk::check(&link);
            assert!(!seen.contains(&now), "{what}");
            assert_eq!(now, OnDisk::check(&link), "{what}");
            seen.push(now);
        };
        fs::write(&file, "one").unwrap();
        check("it is there");
        fs::write(&file, "three").unwrap();
        check("it is written");
        fs::write(&other, "three").unwrap();
        fs::rename(&other, &file).unwrap();
        check("another one took its place");
        fs::write(&other, "three").unwrap();
        fs::remove_file(&link).unwrap();
        symlink(&other, &link).unwrap();
        check("the link leads elsewhere");
    }

    #[test]
    fn a_file_with_the_bytes_that_it_had_has_not_changed_unless_it_is_elsewhere() {
        let folder = tempfile::tempdir().unwrap();
        let real = folder.path().canonicalize().unwrap();
        let [file, other] = ["file", "other"].map(|name| real.join(name));
        fs::write(&file, "one").unwrap();
        let opened = FileState {
            on_disk: OnDisk::check(&file),
            text: Some(fingerprint::of(Some(b"one"))),
        };
        let has_changed = |opened: &FileState| {
            let bytes = fs::read(&file).ok();
            opened.has_changed(&OnDisk::check(&file), bytes.as_deref())
        };
        assert!(!has_changed(&opened));
        fs::write(&other, "one").unwrap();
        fs::rename(&other, &file).unwrap();
        assert!(!has_changed(&opened), "another one with the same bytes");
        fs::write(&file, "two").unwrap();
        assert!(has_changed(&opened), "other bytes");
        fs::remove_file(&file).unwrap();
        assert!(has_changed(&opened), "it is not there");
        fs::write(&other, "one").unwrap();
        symlink(&other, &file).unwrap();
        assert!(has_changed(&opened), "the same bytes elsewhere");
        let unread = FileState {
            text: None,
            ..opened
        };
        fs::remove_file(&file).unwrap();
        fs::write(&file, "one").unwrap();
        assert!(has_changed(&unread), "nobody knows its bytes");
    }

    #[test]
    fn only_a_path_that_leads_elsewhere_is_told_where() {
        let folder = tempfile::tempdir().unwrap();
        let real = folder.path().canonicalize().unwrap();
        symlink(real.join("file"), real.join("link")).unwrap();
        let elsewhere = |name: &str| {
            let path = real.join(name);
            OnDisk::check(&path).elsewhere(path.to_str().unwrap())
        };
        let file = real.join("file").to_str().unwrap().to_owned();
        assert_eq!(elsewhere("file"), None);
        assert_eq!(elsewhere("link"), Some(file.clone()));
        assert_eq!(elsewhere("missing/../file"), Some(file));
    }
}
