//! Dialling, as the agent would: with the host, the port and the token that it would use.
//!
//! A session is opened only with companions of Pillion's, which bear any number of them. Others may
//! bear one, and an agent may be using it.

use std::net::{TcpStream, ToSocketAddrs};
use std::time::Duration;

use pillion_agent::find::Dial;
use pillion_agent::host::Host;
use pillion_agent::{Address, Client, ClientError, Update, Updates, knock};
use pillion_companion::control;
use pillion_discovery::survey::Companion;

use crate::runtime;

/// How long a companion may take to answer. It answers within milliseconds; agents wait longer.
const PATIENCE: Duration = Duration::from_secs(5);

/// A companion sends the context as soon as a session can receive it (C4.1).
const CONTEXT_PATIENCE: Duration = Duration::from_secs(2);

/// One attempt, and what came of it.
#[derive(Debug, Clone)]
pub struct Dialled {
    pub dial: Dial,
    pub outcome: Outcome,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Outcome {
    Connected {
        can_diff: bool,
        has_context: bool,
    },
    /// Another's companion, which takes the token; no session was opened.
    Admitted,
    /// A companion that does not answer to the name by which it is dialled.
    NameRefused,
    /// The host has no address, or nobody listens there.
    Unreachable,
    /// The token does not open it (C3.3), or there is none.
    TokenRefused,
    /// Whoever listens is no companion, and why.
    NoCompanion(String),
    /// Whoever listens does not answer.
    Silent,
}

/// The short names of the agents that a companion of Pillion's has now; none if it does not say.
pub fn agents_of(companion: &Companion) -> anyhow::Result<Vec<String>> {
    let Some(state) = &companion.state else {
        return Ok(Vec::new());
    };
    let client = control::Client::new(state.port, state.control_token.clone());
    let status = runtime::start()?.block_on(async {
        let status = client.status();
        tokio::time::timeout(PATIENCE, status).await
    });
    Ok(match status {
        Ok(Ok(status)) => status.agents,
        // Dialling says what is wrong with it.
        _ => Vec::new(),
    })
}

/// Dials one after the other until one answers. `is_pillions` tells whose companion has a port.
pub fn dial(dials: &[Dial], is_pillions: impl Fn(u16) -> bool) -> anyhow::Result<Vec<Dialled>> {
    let runtime = runtime::start()?;
    let mut dialled = Vec::new();
    for dial in dials {
        let outcome = runtime.block_on(attempt(dial, is_pillions(dial.port)));
        let is_connected = outcome.is_connected();
        dialled.push(Dialled {
            dial: dial.clone(),
            outcome,
        });
        if is_connected {
            break;
        }
    }
    // A name server that is still silent must not hold up the end.
    runtime.shutdown_background();
    Ok(dialled)
}

impl Outcome {
    pub fn is_connected(&self) -> bool {
        matches!(self, Self::Connected { .. } | Self::Admitted)
    }
}

async fn attempt(dial: &Dial, is_pillions: bool) -> Outcome {
    let address = Address::new(dial.port)
        .with_host(dial.host.to_string())
        .with_token(dial.token.clone())
        .with_patience(PATIENCE, PATIENCE);
    let attempt = async {
        if is_pillions {
            session(address).await
        } else {
            knock(&address).await.map(|()| Outcome::Admitted)
        }
    };
    // The client's patience begins when somebody listens.
    match tokio::time::timeout(2 * PATIENCE, attempt).await {
        Ok(Ok(outcome)) => outcome,
        Ok(Err(error)) => failed(error, dial),
        Err(_) => Outcome::Silent,
    }
}

async fn session(address: Address) -> Result<Outcome, ClientError> {
    let (client, updates) = Client::connect_to(address).await?;
    let can_diff = client.can_diff();
    let has_context = has_context(updates).await;
    // The session is over either way.
    let _ = client.disconnect().await;
    Ok(Outcome::Connected {
        can_diff,
        has_context,
    })
}

async fn has_context(mut updates: Updates) -> bool {
    let context = async {
        while let Some(update) = updates.next().await {
            if matches!(update, Update::Context(_)) {
                return true;
            }
        }
        false
    };
    let waited = tokio::time::timeout(CONTEXT_PATIENCE, context).await;
    waited.unwrap_or(false)
}

fn failed(error: ClientError, dial: &Dial) -> Outcome {
    match error {
        ClientError::Unreachable(_) if listens(dial) => {
            Outcome::NoCompanion("it does not speak HTTP".to_owned())
        }
        ClientError::Unreachable(_) => Outcome::Unreachable,
        // Before it looks at the token.
        ClientError::Refused(403) if dial.host == Host::ContainerHost => Outcome::NameRefused,
        ClientError::Refused(401 | 403) => Outcome::TokenRefused,
        ClientError::Silent(_) => Outcome::Silent,
        other => Outcome::NoCompanion(other.to_string()),
    }
}

fn listens(dial: &Dial) -> bool {
    let addresses = (dial.host.to_string(), dial.port).to_socket_addrs();
    let mut addresses = addresses.into_iter().flatten();
    addresses.any(|address| TcpStream::connect_timeout(&address, PATIENCE).is_ok())
}
