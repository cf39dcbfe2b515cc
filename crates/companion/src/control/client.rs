//! The commands' client.

use std::net::Ipv4Addr;
use std::time::Duration;

use pillion_http::header::{AUTHORIZATION, CONTENT_TYPE, HOST};
use pillion_http::{Bytes, Method, Request, StatusCode};
use pillion_protocol::{Dialect, Token};
use pillion_view::OpenFile;
use serde::Serialize;
use serde::de::DeserializeOwned;
use tokio::time::timeout;

use super::{
    COMMANDING_HEADER, CompanionStatus, DiffError, DiffRef, DiffSummary, DiffText, Mentioned,
    MentionedFile, PROCESS_HEADER, Settle, Settled,
};

/// How long a companion may be silent before its answer and within; the editor alone may take 10 s.
const ANSWER_TIMEOUT: Duration = Duration::from_secs(15);

/// Talks to the companion on one port of this machine.
#[derive(Debug, Clone)]
pub struct Client {
    port: u16,
    token: Token,
    commanding: Vec<Dialect>,
}

/// Why a command did not get through.
#[derive(Debug, thiserror::Error)]
pub enum ClientError {
    /// Nothing listens, or the connection broke.
    #[error("no answer from the companion on port {port}")]
    Unreachable {
        /// The port that was dialled.
        port: u16,
        /// What went wrong.
        #[source]
        source: Box<dyn std::error::Error + Send + Sync>,
    },
    /// Something listens, but does not answer.
    #[error("the companion on port {port} did not answer within {ANSWER_TIMEOUT:?}")]
    Silent {
        /// The port that was dialled.
        port: u16,
    },
    /// The companion refused, and why.
    #[error("{0}")]
    Refused(String),
    /// A diff is not given out, or a decision about it does not stand.
    #[error(transparent)]
    Diff(DiffError),
    /// Something else answers on that port, or another version of Pillion.
    #[error("port {port} does not answer like a companion (HTTP {status})")]
    Foreign {
        /// The port that was dialled.
        port: u16,
        /// The HTTP status of the answer.
        status: u16,
    },
}

impl Client {
    /// A client for the companion on `port`, with its control token.
    pub fn new(port: u16, token: Token) -> Self {
        Self {
            port,
            token,
            commanding: Vec::new(),
        }
    }

    /// The same with these agents' variables in its environment.
    #[must_use]
    pub fn commanded_by(self, commanding: Vec<Dialect>) -> Self {
        Self { commanding, ..self }
    }

    /// The diffs that wait for the reviewer, oldest first.
    ///
    /// # Errors
    /// When the companion cannot be reached.
    pub async fn diffs(&self) -> Result<Vec<DiffSummary>, ClientError> {
        self.get("/control/diffs").await
    }

    /// A diff that waits for the reviewer, with its text.
    ///
    /// # Errors
    /// When there is no such diff any more, another revision of it is shown, or the companion cannot
    /// be reached.
    pub async fn diff(&self, diff: DiffRef) -> Result<DiffText, ClientError> {
        self.get(&format!("/control/diffs/{diff}")).await
    }

    /// Which agents are connected, and what is pending.
    ///
    /// # Errors
    /// When the companion cannot be reached.
    pub async fn status(&self) -> Result<CompanionStatus, ClientError> {
        self.get("/control/status").await
    }

    /// Accepts or rejects a pending diff.
    ///
    /// # Errors
    /// When there is no such diff any more, another revision of it is shown, its file has changed, or the companion
    /// cannot be reached.
    pub async fn settle(&self, settle: &Settle) -> Result<Settled, ClientError> {
        let answer = self.post("/control/settle", settle).await?;
        self.parse(&answer)
    }

    /// Reports which file is in focus; returns when that was sent to agents, or would have been.
    ///
    /// # Errors
    /// When the companion cannot be reached.
    pub async fn focus(&self, file: &OpenFile) -> Result<(), ClientError> {
        self.post("/control/focus", file).await.map(drop)
    }

    /// Mentions a file to an agent: the one that was last active, of those that know mentions.
    ///
    /// # Errors
    /// When the companion cannot be reached.
    pub async fn mention(&self, mentioned: &MentionedFile) -> Result<Mentioned, ClientError> {
        let answer = self.post("/control/mention", mentioned).await?;
        self.parse(&answer)
    }

    async fn get<T: DeserializeOwned>(&self, path: &str) -> Result<T, ClientError> {
        let body = self.send(Method::GET, path, Bytes::new()).await?;
        self.parse(&body)
    }

    async fn post(&self, path: &str, body: &impl Serialize) -> Result<Vec<u8>, ClientError> {
        let body = serde_json::to_vec(body).map_err(|source| self.unreachable(source))?;
        self.send(Method::POST, path, body.into()).await
    }

    fn parse<T: DeserializeOwned>(&self, body: &[u8]) -> Result<T, ClientError> {
        serde_json::from_slice(body).map_err(|source| self.unreachable(source))
    }

    async fn send(&self, method: Method, path: &str, body: Bytes) -> Result<Vec<u8>, ClientError> {
        let bearer = format!("Bearer {}", self.token.expose());
        let bearer = pillion_http::secret(bearer).map_err(|source| self.unreachable(source))?;
        let commanding: Vec<_> = self.commanding.iter().map(|agent| agent.name()).collect();
        let request = Request::builder()
            .method(method)
            .uri(path)
            .header(HOST, format!("127.0.0.1:{}", self.port))
            .header(AUTHORIZATION, bearer)
            .header(CONTENT_TYPE, "application/json")
            .header(PROCESS_HEADER, std::process::id())
            .header(COMMANDING_HEADER, commanding.join(","))
            .body(body)
            .map_err(|source| self.unreachable(source))?;
        let sent = pillion_http::send((Ipv4Addr::LOCALHOST, self.port), request);
        let mut answer = self.within(sent).await?;
        let mut body = Vec::new();
        while let Some(bytes) = self.within(answer.body.next()).await? {
            body.extend_from_slice(&bytes);
        }
        self.judge(answer.status, body)
    }

    /// What comes before the companion was silent for too long.
    async fn within<T>(
        &self,
        coming: impl Future<Output = Result<T, pillion_http::Error>>,
    ) -> Result<T, ClientError> {
        match timeout(ANSWER_TIMEOUT, coming).await {
            Ok(came) => came.map_err(|source| self.unreachable(source)),
            Err(_) => Err(ClientError::Silent { port: self.port }),
        }
    }

    fn judge(&self, status: StatusCode, body: Vec<u8>) -> Result<Vec<u8>, ClientError> {
        match status {
            StatusCode::OK | StatusCode::NO_CONTENT => Ok(body),
            StatusCode::CONFLICT => self
                .parse(&body)
                .and_then(|error| Err(ClientError::Diff(error))),
            StatusCode::BAD_REQUEST | StatusCode::SERVICE_UNAVAILABLE => {
                let reason = String::from_utf8_lossy(&body).into_owned();
                Err(ClientError::Refused(reason))
            }
            other => Err(ClientError::Foreign {
                port: self.port,
                status: other.as_u16(),
            }),
        }
    }

    fn unreachable(
        &self,
        source: impl Into<Box<dyn std::error::Error + Send + Sync>>,
    ) -> ClientError {
        ClientError::Unreachable {
            port: self.port,
            source: source.into(),
        }
    }
}
