//! The troubles that keep saved files from being noticed, in a sentence each: what it means, and what to do.

use std::fmt;
use std::path::PathBuf;

/// Something that lasts until the person acts.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub enum Trouble {
    /// There are more folders than so many.
    TooManyFolders(usize),
    /// The system has no watches left.
    NoWatches,
    /// A workspace folder cannot be watched.
    Root(PathBuf, String),
    /// Nothing can be watched.
    Nothing(String),
}

impl fmt::Display for Trouble {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::TooManyFolders(max) => write!(
                f,
                "files saved below the first {} folders are not shared: start in a smaller \
                 folder, ignore what is generated, or use pillion focus",
                thousands(*max)
            ),
            Self::NoWatches => f.write_str(
                "files saved in some folders are not shared, because the system has no watches left: \
                 raise fs.inotify.max_user_watches with sysctl, or use pillion focus",
            ),
            Self::Root(root, error) => write!(
                f,
                "files saved in {} are not shared ({error}): use pillion focus",
                root.display()
            ),
            Self::Nothing(error) => write!(
                f,
                "saved files are not shared ({error}): raise fs.inotify.max_user_instances with \
                 sysctl, or use pillion focus"
            ),
        }
    }
}

/// With a comma between groups of three digits.
fn thousands(number: usize) -> String {
    let digits = number.to_string();
    let mut text = String::new();
    for (at, digit) in digits.chars().enumerate() {
        if at > 0 && (digits.len() - at).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}
