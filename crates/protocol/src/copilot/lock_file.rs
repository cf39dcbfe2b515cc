//! The lock file. The agent takes any file in its folder whose name ends in `.lock`; ours is `PORT.lock`, by the port
//! of the companion's other agents.

use std::path::PathBuf;

use serde::{Deserialize, Serialize};

use crate::discovery::{DiscoveryFile, IdeInfo, Publisher};
use crate::token::Token;

/// The only kind of socket on Unix.
const UNIX: &str = "unix";

/// The part before the token in the header.
const BEARER: &str = "Bearer ";

/// The content of a lock file. The agent passes over one that lacks a field.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct LockFile {
    /// The socket on which the companion listens.
    pub socket_path: PathBuf,
    /// `unix`.
    pub scheme: String,
    /// Sent with every request, as they are here.
    pub headers: Headers,
    /// A living process: the agent passes over the file of a dead one.
    pub pid: u32,
    /// The editor's name for people.
    pub ide_name: String,
    /// The time when it was written, in Unix milliseconds: of two files for a folder the agent takes the later.
    pub timestamp: u64,
    /// The workspace roots with links resolved. The agent connects by itself only if its resolved folder equals one.
    pub workspace_folders: Vec<PathBuf>,
    /// Marks the file as written by Pillion; without it a file is never swept.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pillion: Option<Publisher>,
}

/// The headers that the agent is told to send.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub struct Headers {
    /// The value that opens the companion.
    #[serde(
        rename = "Authorization",
        default,
        skip_serializing_if = "Option::is_none"
    )]
    pub authorization: Option<Token>,
}

impl Headers {
    /// Those that present this token.
    pub fn bearing(token: &Token) -> Self {
        let authorization = Some(Token::from(format!("{BEARER}{}", token.expose())));
        Self { authorization }
    }

    /// The token that they present.
    pub fn token(&self) -> Option<Token> {
        let value = self.authorization.as_ref()?.expose();
        Some(Token::from(value.strip_prefix(BEARER)?.to_owned()))
    }
}

impl LockFile {
    /// The file of a companion of this process that listens at `socket_path`.
    pub fn new(socket_path: PathBuf, token: &Token, ide_name: &str, pid: u32) -> Self {
        Self {
            socket_path,
            scheme: UNIX.to_owned(),
            headers: Headers::bearing(token),
            pid,
            ide_name: ide_name.to_owned(),
            timestamp: 0,
            workspace_folders: Vec::new(),
            pillion: None,
        }
    }

    /// The same as a discovery file of a companion on this port says it.
    pub fn into_discovery_file(self, port: u16) -> DiscoveryFile {
        let roots = serde_json::to_string(&self.workspace_folders);
        DiscoveryFile {
            port,
            // An array, for its paths may hold the separator.
            workspace_path: roots.unwrap_or_default(),
            ppid: Some(self.pid),
            ide_info: Some(IdeInfo::new(self.ide_name.to_lowercase(), &self.ide_name)),
            auth_token: self.headers.token(),
            ide_name: Some(self.ide_name),
            pillion: self.pillion,
        }
    }
}

#[cfg(all(test, unix))]
mod tests {
    use std::path::Path;

    use serde_json::json;

    use super::*;
    use crate::discovery::split_roots;

    fn file() -> LockFile {
        let token = Token::from("s3cret".to_owned());
        let mut file = LockFile::new("/run/p/7.sock".into(), &token, "Neovim", 7);
        file.timestamp = 5;
        file.workspace_folders = vec!["/a".into(), "/b:c".into()];
        file.pillion = Some(Publisher::from(9));
        file
    }

    #[test]
    fn a_file_of_ours_has_the_shape_that_the_agent_reads() {
        let file = file();
        assert_eq!(
            serde_json::to_value(&file).unwrap(),
            json!({
                "socketPath": "/run/p/7.sock", "scheme": "unix", "headers": {"Authorization": "Bearer s3cret"},
                "pid": 7, "ideName": "Neovim", "timestamp": 5, "workspaceFolders": ["/a", "/b:c"],
                "pillion": {"pid": 9}
            })
        );
        assert!(!format!("{file:?}").contains("s3cret"), "{file:?}");
        let file = file.into_discovery_file(80);
        let roots = split_roots(&file.workspace_path);
        assert_eq!(roots, [Path::new("/a"), Path::new("/b:c")]);
        assert_eq!((file.port, file.ppid), (80, Some(7)));
        assert_eq!(file.auth_token.unwrap().expose(), "s3cret");
    }

    #[test]
    fn a_header_of_another_kind_holds_no_token_of_ours() {
        for headers in [
            json!({}),
            json!({"Authorization": "Nonce x"}),
            json!({"X": "y"}),
        ] {
            let headers: Headers = serde_json::from_value(headers).unwrap();
            assert!(headers.token().is_none(), "{headers:?}");
        }
    }
}
