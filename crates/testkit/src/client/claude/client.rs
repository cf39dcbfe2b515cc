//! One session with a companion of Claude Code's protocol: the handshake and the tools.

use pillion_protocol::claude::tools::{
    CLOSE_TAB, DIFF_REJECTED, FILE_SAVED, GET_DIAGNOSTICS, TAB_CLOSED,
};
use pillion_protocol::diagnostics::FileDiagnostics;
use pillion_protocol::diff::OPEN_DIFF;
use pillion_protocol::json;
use serde_json::{Value, json};

use crate::client::claude::connection::{self, Command, Connection};
use crate::client::claude::updates::Updates;
use crate::client::error::{ClientError, unreachable, within};
use crate::client::introduction::{self, Server};
use crate::client::link::CALL_TIMEOUT;
use crate::client::message;
use pillion_agent::Address;

/// A session, as long as its connection lasts. Dropping it cuts the connection, as when the agent is
/// killed: whatever it had open is then orphaned.
#[derive(Debug)]
pub struct Client {
    connection: Connection,
    server: Server,
}

/// The outcome of a proposal. `Debug` does not show the text.
#[derive(Clone, PartialEq, Eq, derive_more::Debug)]
pub enum Answer {
    /// `FILE_SAVED`: accepted, with the complete final text.
    #[debug("Saved({} bytes)", _0.len())]
    Saved(String),
    /// `DIFF_REJECTED`: rejected.
    Rejected,
    /// `TAB_CLOSED`: the view was closed without a decision. The agent writes its proposal then.
    TabClosed,
}

impl Client {
    /// Opens a session with a companion, under the name of this program.
    ///
    /// # Errors
    /// [`Unreachable`](pillion_agent::ClientError::Unreachable) when nothing listens or it hangs up, [`Silent`](pillion_agent::ClientError::Silent) when what listens
    /// does not answer in time ([`Address::with_timeout`]), [`Refused`](pillion_agent::ClientError::Refused) when the upgrade
    /// is refused (401: the token), [`Protocol`](pillion_agent::ClientError::Protocol) when the answers are no WebSocket with the
    /// subprotocol, not MCP, or of a revision that this client does not know.
    pub async fn connect(address: Address) -> Result<(Self, Updates), ClientError> {
        Self::connect_as(address, introduction::CLIENT_NAME).await
    }

    /// Opens a session under the name of another client: some companions tell clients apart by it.
    ///
    /// # Errors
    /// As [`connect`](Self::connect).
    pub async fn connect_as(address: Address, name: &str) -> Result<(Self, Updates), ClientError> {
        let opened = Self::open(address, name).await;
        opened.map_err(|error| match error {
            ClientError::Lost => unreachable("it hung up"),
            error => error,
        })
    }

    async fn open(address: Address, name: &str) -> Result<(Self, Updates), ClientError> {
        let limit = address.limit();
        let (sink, stream) = within(limit, connection::open(&address)).await?;
        let (inbox, updates) = Updates::new();
        let connection = Connection::start(sink, stream, inbox);
        let initialize = connection.request("initialize", introduction::params(name));
        let result = within(limit, initialize).await?;
        let (mut server, _) = introduction::server(&result)?;
        let process = json!({"pid": std::process::id()});
        for notification in [
            json!({"method": "notifications/initialized"}),
            json!({"method": "ide_connected", "params": process}),
        ] {
            connection.command(Command::Notify(notification)).await?;
        }
        let tools = connection.request("tools/list", json!({}));
        // As agents do: without an answer to that they call openDiff all the same.
        server.tools = introduction::tool_names(within(limit, tools).await)?;
        let client = Self { connection, server };
        Ok((client, updates))
    }

    /// The companion, as it introduces itself.
    pub fn server(&self) -> &Server {
        &self.server
    }

    /// Returns true if the companion offers the tool for diffs. The agent calls it in any case.
    pub fn can_diff(&self) -> bool {
        self.server.tools.iter().any(|tool| tool == OPEN_DIFF)
    }

    /// Proposes a new content for a file, by its absolute path, and waits until the person has decided,
    /// however long that takes. Dropping this leaves the view open: [`close_tab`](Self::close_tab).
    ///
    /// # Errors
    /// [`ClientError::Tool`] when the companion cannot show it, [`Protocol`](pillion_agent::ClientError::Protocol) when the
    /// answer is none of [`Answer`], [`ClientError::Lost`] when the connection ends first.
    pub async fn open_diff(
        &self,
        path: &str,
        contents: &str,
        tab_name: &str,
    ) -> Result<Answer, ClientError> {
        let arguments = json!({
            "old_file_path": path,
            "new_file_path": path,
            "new_file_contents": contents,
            "tab_name": tab_name,
        });
        answer(self.call(OPEN_DIFF, arguments).await?)
    }

    /// Closes the view of that name. The agent does it after each decision, more than once, so a
    /// companion has to bear it.
    ///
    /// # Errors
    /// [`ClientError::Tool`] when the companion fails; otherwise as [`connect`](Self::connect).
    pub async fn close_tab(&self, tab_name: &str) -> Result<(), ClientError> {
        let arguments = json!({"tab_name": tab_name});
        self.call_in_time(CLOSE_TAB, arguments).await.map(drop)
    }

    /// The problems that the editor shows, of one file (`file://` and its path) or of all.
    ///
    /// # Errors
    /// [`Protocol`](pillion_agent::ClientError::Protocol) when the answer is not a list of them; otherwise as
    /// [`close_tab`](Self::close_tab).
    pub async fn get_diagnostics(
        &self,
        uri: Option<&str>,
    ) -> Result<Vec<FileDiagnostics>, ClientError> {
        let arguments = uri.map_or_else(|| json!({}), |uri| json!({"uri": uri}));
        let texts = self.call_in_time(GET_DIAGNOSTICS, arguments).await?;
        let text = texts.into_iter().next().unwrap_or_default();
        let read = json::value(text.as_bytes()).and_then(serde_json::from_value);
        read.map_err(|error| ClientError::protocol(format!("{GET_DIAGNOSTICS}: {error}")))
    }

    /// Calls a tool with any arguments and waits for its answer, however long that takes: the texts in
    /// it.
    ///
    /// # Errors
    /// [`ClientError::Tool`] when the tool fails, [`Protocol`](pillion_agent::ClientError::Protocol) when the answer is an error,
    /// [`ClientError::Lost`] when the connection ends first.
    pub async fn call(&self, tool: &str, arguments: Value) -> Result<Vec<String>, ClientError> {
        let params = json!({"name": tool, "arguments": arguments});
        let mut result = self.connection.request("tools/call", params).await?;
        message::tool_texts(tool, &mut result)
    }

    async fn call_in_time(&self, tool: &str, arguments: Value) -> Result<Vec<String>, ClientError> {
        within(CALL_TIMEOUT, self.call(tool, arguments)).await
    }

    /// Ends the connection in good order.
    pub async fn disconnect(self) {
        self.connection.close().await;
    }
}

/// Reads the texts of an answer to `openDiff`.
fn answer(texts: Vec<String>) -> Result<Answer, ClientError> {
    let mut texts = texts.into_iter();
    let word = texts.next().unwrap_or_default();
    match word.as_str() {
        FILE_SAVED => match texts.next() {
            Some(text) => Ok(Answer::Saved(text)),
            None => Err(refused("FILE_SAVED without a text")),
        },
        DIFF_REJECTED => Ok(Answer::Rejected),
        TAB_CLOSED => Ok(Answer::TabClosed),
        "" => Err(refused("no text")),
        word => {
            let beginning: String = word.chars().take(40).collect();
            Err(refused(&format!("{beginning:?}")))
        }
    }
}

fn refused(found: &str) -> ClientError {
    ClientError::protocol(format!(
        "{OPEN_DIFF} is answered with {found}, not with FILE_SAVED and a text or DIFF_REJECTED"
    ))
}
