//! The attributes of a file beside its text and its permissions, such as access control lists. The one place
//! that differs between systems.

use std::collections::BTreeMap;
use std::path::Path;

/// Extended attributes by name; none where they cannot be read.
pub type Attributes = Option<BTreeMap<Vec<u8>, Vec<u8>>>;

/// The attributes of the file at `path`.
#[cfg(any(target_os = "linux", target_os = "macos"))]
pub fn of(path: &Path) -> Attributes {
    use rustix::fs::{getxattr, getxattr_query, listxattr, listxattr_query};
    let mut names = vec![0; listxattr_query(path).ok()?];
    let length = listxattr(path, &mut names[..]).ok()?;
    names.truncate(length);
    let names = names.split(|byte| *byte == 0);
    let named = names.filter(|name| !name.is_empty()).map(|name| {
        let mut value = vec![0; getxattr_query(path, name).ok()?];
        let length = getxattr(path, name, &mut value[..]).ok()?;
        value.truncate(length);
        Some((name.to_owned(), value))
    });
    named.collect()
}

/// Gives the file at `path` these attributes, as far as it may have them. The caller is to look if it has
/// them: what a system gives by itself, such as a program's capabilities, is not passed on.
#[cfg(any(target_os = "linux", target_os = "macos"))]
pub fn give(path: &Path, wanted: &Attributes) {
    use rustix::fs::{XattrFlags, setxattr};
    let Some(wanted) = wanted else { return };
    let has = of(path).unwrap_or_default();
    for (name, value) in wanted {
        let is_the_users = cfg!(target_os = "macos")
            || name.starts_with(b"user.")
            || name.starts_with(b"system.posix_acl_");
        if is_the_users && has.get(name) != Some(value) {
            // The comparison shows what could not be given.
            let _ = setxattr(path, name, value, XattrFlags::empty());
        }
    }
}

/// There is nothing to give there.
#[cfg(not(any(target_os = "linux", target_os = "macos")))]
pub fn give(_path: &Path, _wanted: &Attributes) {}

/// There they are not looked at.
#[cfg(not(any(target_os = "linux", target_os = "macos")))]
pub fn of(_path: &Path) -> Attributes {
    None
}
