//! The environment that a process under test gets: only what is named, nothing inherited.

use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};

/// Environment variables, by name. A process started with it has these and no others.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Env(BTreeMap<OsString, OsString>);

impl Env {
    /// Sets `name`, over what it was.
    pub fn set(&mut self, name: impl AsRef<OsStr>, value: impl AsRef<OsStr>) -> &mut Self {
        self.0
            .insert(name.as_ref().to_owned(), value.as_ref().to_owned());
        self
    }

    /// The same with `name` set.
    #[must_use]
    pub fn with(mut self, name: impl AsRef<OsStr>, value: impl AsRef<OsStr>) -> Self {
        self.set(name, value);
        self
    }

    /// Puts `folder` in front of PATH.
    pub fn prepend_path(&mut self, folder: impl AsRef<OsStr>) -> &mut Self {
        let mut path = folder.as_ref().to_owned();
        if let Some(rest) = self.get("PATH") {
            path.push(":");
            path.push(rest);
        }
        self.set("PATH", path)
    }

    /// The value of `name`, if it is set.
    pub fn get(&self, name: impl AsRef<OsStr>) -> Option<&OsStr> {
        self.0.get(name.as_ref()).map(OsString::as_os_str)
    }

    /// All of them, in the order of their names.
    pub fn iter(&self) -> impl Iterator<Item = (&OsStr, &OsStr)> {
        self.0.iter().map(|(n, v)| (n.as_os_str(), v.as_os_str()))
    }
}
