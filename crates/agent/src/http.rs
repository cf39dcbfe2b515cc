//! One HTTP request to a companion, over a connection of its own.

use std::net::Ipv4Addr;

use ::http::header::{ACCEPT, AUTHORIZATION, CONTENT_TYPE, HOST};
use ::http::{Method, Request, Response};
use http_body_util::Full;
use hyper::body::{Bytes, Incoming};
use hyper::client::conn::http1;
use hyper_util::rt::TokioIo;
use pillion_protocol::{MCP_PATH, Token};
use tokio::net::TcpStream;

use crate::ClientError;

pub(crate) const SESSION_HEADER: &str = "mcp-session-id";

/// Where and how to dial.
#[derive(Debug, Clone)]
pub(crate) struct Address {
    pub(crate) port: u16,
    pub(crate) token: Token,
}

impl Address {
    pub(crate) async fn send(
        &self,
        method: Method,
        session: Option<&str>,
        body: Bytes,
    ) -> Result<Response<Incoming>, ClientError> {
        let mut request = Request::builder()
            .method(method)
            .uri(MCP_PATH)
            .header(HOST, format!("127.0.0.1:{}", self.port))
            .header(AUTHORIZATION, format!("Bearer {}", self.token.expose()))
            .header(ACCEPT, "application/json, text/event-stream")
            .header(CONTENT_TYPE, "application/json");
        if let Some(session) = session {
            request = request.header(SESSION_HEADER, session);
        }
        let request = request.body(Full::new(body)).map_err(unreachable)?;
        let stream = TcpStream::connect((Ipv4Addr::LOCALHOST, self.port))
            .await
            .map_err(unreachable)?;
        stream.set_nodelay(true).map_err(unreachable)?;
        let (mut sender, connection) = http1::handshake(TokioIo::new(stream))
            .await
            .map_err(unreachable)?;
        // Ends with the response's body.
        tokio::spawn(connection);
        let response = sender.send_request(request).await.map_err(unreachable)?;
        if response.status().is_success() {
            Ok(response)
        } else {
            Err(ClientError::Refused(response.status().as_u16()))
        }
    }
}

pub(crate) fn unreachable(
    error: impl Into<Box<dyn std::error::Error + Send + Sync>>,
) -> ClientError {
    ClientError::Unreachable(error.into())
}
