//! The lock file `PORT.lock`: the port is in its name.

use std::path::PathBuf;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::discovery::{DiscoveryFile, IdeInfo, Publisher};
use crate::token::Token;

/// The only transport that knows a token: for any other word the agent dials without one.
const WEBSOCKET: &str = "ws";

/// The content of a lock file.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct LockFile {
    /// A living process: the agent deletes the file of a dead one. In a terminal of VS Code it must
    /// also be an ancestor of the agent. Some companions write it as a string, or not at all.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pid: Option<Value>,
    /// The workspace roots with links resolved: the agent compares its resolved folder with them.
    #[serde(default)]
    pub workspace_folders: Vec<PathBuf>,
    /// The editor's name for people.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ide_name: Option<String>,
    /// `ws`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub transport: Option<String>,
    /// The token that the agent presents when it dials.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub auth_token: Option<Token>,
    /// Marks the file as written by Pillion; without it a file is never swept.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pillion: Option<Publisher>,
}

impl LockFile {
    /// The file of a companion that listens to WebSockets.
    pub fn new(pid: u32, workspace_folders: Vec<PathBuf>, ide_name: &str, token: Token) -> Self {
        Self {
            pid: Some(pid.into()),
            workspace_folders,
            ide_name: Some(ide_name.to_owned()),
            transport: Some(WEBSOCKET.to_owned()),
            auth_token: Some(token),
            pillion: None,
        }
    }

    /// The process that it names.
    pub fn pid(&self) -> Option<u32> {
        match self.pid.as_ref()? {
            Value::String(text) => text.parse().ok(),
            number => number.as_u64()?.try_into().ok(),
        }
    }

    /// The same as a discovery file of this port says it.
    pub fn into_discovery_file(self, port: u16) -> DiscoveryFile {
        let roots = serde_json::to_string(&self.workspace_folders);
        DiscoveryFile {
            port,
            // An array, for its paths may hold the separator.
            workspace_path: roots.unwrap_or_default(),
            ppid: self.pid(),
            ide_info: self
                .ide_name
                .as_ref()
                .map(|name| IdeInfo::new(name.to_lowercase(), name)),
            auth_token: self.auth_token,
            ide_name: self.ide_name,
            pillion: self.pillion,
        }
    }
}

#[cfg(all(test, unix))]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::discovery::split_roots;

    #[test]
    fn a_file_of_ours_has_the_shape_that_the_agent_reads() {
        let token = Token::from("s".to_owned());
        let mut file = LockFile::new(7, vec!["/a".into(), "/b:c".into()], "Neovim", token);
        file.pillion = Some(Publisher::from(9));
        assert_eq!(
            serde_json::to_value(&file).unwrap(),
            json!({
                "pid": 7, "workspaceFolders": ["/a", "/b:c"], "ideName": "Neovim", "transport": "ws",
                "authToken": "s", "pillion": {"pid": 9}
            })
        );
        assert_eq!(file.transport.as_deref(), Some(WEBSOCKET));
        assert!(!format!("{file:?}").contains("\"s\""), "{file:?}");
        let file = file.into_discovery_file(80);
        assert_eq!(
            split_roots(&file.workspace_path),
            [PathBuf::from("/a"), "/b:c".into()]
        );
        assert_eq!((file.port, file.ppid), (80, Some(7)));
    }

    #[test]
    fn files_of_others_are_read_whatever_they_leave_out() {
        let read = |value| serde_json::from_value::<LockFile>(value).unwrap();
        assert_eq!(read(json!({})).pid(), None);
        assert_eq!(
            read(json!({"pid": "12", "runningInWindows": false})).pid(),
            Some(12)
        );
        for pid in [json!(-1), json!("x"), json!(1.5), json!(null), json!([1])] {
            assert_eq!(read(json!({"pid": pid})).pid(), None, "{pid}");
        }
        let file = read(json!({"ideName": "VS Code", "transport": "sse"}));
        assert_ne!(file.transport.as_deref(), Some(WEBSOCKET));
        assert!(file.into_discovery_file(1).ide_info.unwrap().is_named());
    }
}
