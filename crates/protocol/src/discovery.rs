//! The discovery file (C2.4): how an agent learns port, workspace and token. And the addresses at which it dials.

use std::fmt;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use crate::token::Token;

/// The separator between two roots in `workspacePath` (C2.5).
pub const WORKSPACE_SEPARATOR: char = if cfg!(windows) { ';' } else { ':' };

/// The content of a discovery file, in every place where a release looks for one.
///
/// One object serves all places: the specified files need the first four fields (C2.4), Qwen Code's
/// lock files read `ppid` and `ideName` as well, and agents ignore the rest.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct DiscoveryFile {
    /// The loopback port of the companion.
    pub port: u16,
    /// Every workspace root, absolute, joined by [`WORKSPACE_SEPARATOR`] (C2.5).
    pub workspace_path: String,
    /// The token that the agent presents on every request (C3.2). The oldest text lets a companion leave it out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub auth_token: Option<Token>,
    /// The name of the editor. The oldest text lets a companion leave it out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ide_info: Option<IdeInfo>,
    /// Qwen Code deletes a lock file whose `ppid` is dead: always a living process.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ppid: Option<u32>,
    /// Qwen Code's older name for `ideInfo.displayName`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ide_name: Option<String>,
    /// Marks the file as written by Pillion; without it a file is never swept.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pillion: Option<Publisher>,
}

/// The companion that wrote a discovery file.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Publisher {
    /// The companion's own process id, which is not always the one in the file's name.
    pub pid: u32,
    /// The namespaces in which that id, and the port, mean something; none where the system does not tell.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub namespaces: Option<Namespaces>,
}

/// The part of a machine that a process sees: in another container the same numbers mean others.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Namespaces {
    /// The machine, and its current start.
    pub boot: String,
    /// The processes that are seen.
    pub pid: u64,
    /// The network, and with it loopback.
    pub net: u64,
}

impl From<u32> for Publisher {
    /// One of which nothing but its process is known.
    fn from(pid: u32) -> Self {
        Self {
            pid,
            namespaces: None,
        }
    }
}

/// The editor's identity (C2.4).
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct IdeInfo {
    /// A short lowercase identifier, such as `neovim`.
    pub name: String,
    /// The name for people, such as `Neovim`.
    pub display_name: String,
}

impl IdeInfo {
    /// An identity from both of its names.
    pub fn new(name: impl Into<String>, display_name: impl Into<String>) -> Self {
        Self {
            name: name.into(),
            display_name: display_name.into(),
        }
    }

    /// Returns true if both names say something. An editor without one is none to agents.
    pub fn is_named(&self) -> bool {
        !self.name.is_empty() && !self.display_name.is_empty()
    }
}

/// A workspace root that `workspacePath` cannot carry.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
pub enum RootError {
    /// Agents compare with their absolute working directory.
    #[error("workspace root {0:?} is not absolute")]
    Relative(PathBuf),
    /// A JSON string cannot hold it.
    #[error("workspace root {0:?} is not valid Unicode")]
    NotUnicode(PathBuf),
    /// Agents would read it as two roots.
    #[error(
        "workspace root {0:?} contains {WORKSPACE_SEPARATOR:?}, which separates roots in a discovery file"
    )]
    HoldsSeparator(PathBuf),
}

/// Joins workspace roots for `workspacePath` (C2.5).
///
/// # Errors
/// The first root that is relative, not Unicode, or contains the separator.
pub fn join_roots<P: AsRef<Path>>(roots: &[P]) -> Result<String, RootError> {
    let mut joined = String::new();
    for root in roots {
        let root = root.as_ref();
        let owned = || root.to_owned();
        if !root.is_absolute() {
            return Err(RootError::Relative(owned()));
        }
        let text = root
            .to_str()
            .ok_or_else(|| RootError::NotUnicode(owned()))?;
        if text.contains(WORKSPACE_SEPARATOR) {
            return Err(RootError::HoldsSeparator(owned()));
        }
        if !joined.is_empty() {
            joined.push(WORKSPACE_SEPARATOR);
        }
        joined.push_str(text);
    }
    Ok(joined)
}

/// The roots that a `workspacePath` lists (C2.5). Some companions for Qwen Code write a JSON array
/// instead, which it understands.
pub fn split_roots(workspace_path: &str) -> Vec<PathBuf> {
    let array = workspace_path.trim_start().starts_with('[');
    let listed = array.then(|| serde_json::from_str::<Vec<PathBuf>>(workspace_path).ok());
    listed.flatten().unwrap_or_else(|| {
        let roots = workspace_path.split(WORKSPACE_SEPARATOR);
        roots
            .filter(|root| !root.is_empty())
            .map(PathBuf::from)
            .collect()
    })
}

/// One place where a companion listens.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Address {
    /// A port on loopback.
    Tcp(u16),
    /// A Unix socket, by its absolute path.
    Unix(PathBuf),
}

impl From<u16> for Address {
    fn from(port: u16) -> Self {
        Self::Tcp(port)
    }
}

impl fmt::Display for Address {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Tcp(port) => write!(f, "port {port}"),
            Self::Unix(path) => path.display().fmt(f),
        }
    }
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;

    #[test]
    fn a_full_file_has_the_wire_shape_of_the_contract() {
        let file = DiscoveryFile {
            port: 4242,
            workspace_path: "/a:/b".into(),
            auth_token: Some(Token::from("s".to_owned())),
            ide_info: Some(IdeInfo::new("neovim", "Neovim")),
            ppid: Some(7),
            ide_name: Some("Neovim".into()),
            pillion: Some(Publisher::from(9)),
        };
        assert_eq!(
            serde_json::to_value(&file).unwrap(),
            serde_json::json!({
                "port": 4242, "workspacePath": "/a:/b", "authToken": "s",
                "ideInfo": {"name": "neovim", "displayName": "Neovim"},
                "ppid": 7, "ideName": "Neovim", "pillion": {"pid": 9}
            })
        );
        assert!(!format!("{file:?}").contains("\"s\""), "{file:?}");
    }

    #[test]
    fn a_reader_copes_without_token_and_identity() {
        let file: DiscoveryFile =
            serde_json::from_str(r#"{"port":1,"workspacePath":"/a"}"#).unwrap();
        assert!(file.auth_token.is_none() && file.ide_info.is_none());
    }

    #[test]
    fn roots_that_cannot_be_joined_are_named() {
        assert_eq!(join_roots(&["/a", "/b c"]), Ok("/a:/b c".into()));
        assert_eq!(join_roots::<&str>(&[]), Ok(String::new()));
        assert_eq!(join_roots(&["a"]), Err(RootError::Relative("a".into())));
        assert_eq!(
            join_roots(&["/a:b"]),
            Err(RootError::HoldsSeparator("/a:b".into()))
        );
    }

    #[test]
    fn roots_are_split_at_the_separator_or_taken_from_an_array() {
        let two = [PathBuf::from("/a"), PathBuf::from("/b c")];
        for listed in ["/a:/b c", ":/a::/b c:", r#" ["/a", "/b c"]"#] {
            assert_eq!(split_roots(listed), two, "{listed:?}");
        }
        assert!(split_roots("").is_empty());
        assert_eq!(split_roots("[x"), [PathBuf::from("[x")]);
    }
}
