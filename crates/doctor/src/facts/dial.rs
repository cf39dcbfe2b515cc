//! Dialling, as the agent would: with the host, the port and the token that it would use.
//!
//! A token is presented to nobody of whom it is known that it is another program than the companion whose token it is.
//! No session is opened: a companion may bear one only, and an agent may be using it.

use std::time::Duration;

use pillion_agent::find::{Dial, Transport};
use pillion_agent::host::{Host, container_host_resolves, is_in_container};
use pillion_agent::{Address, ClientError, knock, knock_claude};
use pillion_discovery::survey::{Companion, FoundFile};
use pillion_system::{peer, process};
use tokio::net::TcpStream;
use tokio::time::timeout;

/// The time limit for a companion's answer. It answers within milliseconds; agents wait longer.
const ANSWER_TIMEOUT: Duration = Duration::from_secs(5);

/// Facts that decide whether a dial arrives: containers and names.
#[derive(Debug, Clone, Copy, Default)]
pub struct Network {
    /// True if agents take this machine for a container.
    pub in_container: bool,
    /// True if the name by which a container calls the machine around it has an address here.
    pub resolves: bool,
}

impl Network {
    pub fn look() -> Self {
        let in_container = is_in_container();
        Self {
            in_container,
            resolves: in_container && container_host_resolves(),
        }
    }

    fn has(self, host: Host) -> bool {
        host == Host::Loopback || self.resolves
    }
}

/// One attempt, and what came of it.
#[derive(Debug, Clone)]
pub struct Dialled {
    pub dial: Dial,
    pub outcome: Outcome,
}

/// The outcome. `Display` says it to people, as what follows the dial.
#[derive(Debug, Clone, PartialEq, Eq, derive_more::Display)]
pub enum Outcome {
    #[display("answers")]
    Connected,
    /// Another's companion, which takes the token.
    #[display("answers and accepts the token")]
    Admitted,
    /// A companion that does not answer to the name by which it is dialled.
    #[display("refuses this host name")]
    NameRefused,
    /// The host has no address, or nothing listens there.
    #[display("is unreachable")]
    Unreachable,
    /// The token does not open it (C3.3), or there is none.
    #[display("refuses the token")]
    TokenRefused,
    /// The process on the port is not a companion, and why.
    #[display("is not a companion")]
    NoCompanion(String),
    /// The process on the port does not respond.
    #[display("does not respond")]
    Silent,
}

/// Everything that dialling shows.
#[derive(Debug, Default)]
pub struct Attempts {
    /// Each attempt until one connects.
    pub dialled: Vec<Dialled>,
    /// The agents that the companion which answered had before.
    pub connected: Vec<String>,
}

/// Dials one after the other until one answers. `pillions` finds Pillion's companion on a port, `files` the discovery
/// files that lead to a dial. A host that has no address is not waited for once more: a name server may be slow, and
/// nothing listens.
pub fn dial<'a>(
    dials: &[Dial],
    network: Network,
    pillions: impl Fn(u16) -> Option<&'a Companion>,
    files: impl Fn(&Dial) -> Vec<&'a FoundFile>,
) -> anyhow::Result<Attempts> {
    let strangers: Vec<bool> = dials
        .iter()
        .map(|dial| dial.host != Host::ContainerHost && is_strangers(dial.port, &files(dial)))
        .collect();
    let runtime = pillion_agent::runtime()?;
    let attempts = runtime.block_on(async {
        // All are asked at once, so that several that are silent take no longer than one.
        let knocks: Vec<_> = dials
            .iter()
            .zip(&strangers)
            .map(|(dial, is_strangers)| {
                let is_dialled = network.has(dial.host) && !is_strangers;
                is_dialled.then(|| tokio::spawn(admits(dial)))
            })
            .collect();
        let mut attempts = Attempts::default();
        for ((dial, knock), is_strangers) in dials.iter().zip(knocks).zip(&strangers) {
            let outcome = match knock {
                _ if *is_strangers => {
                    let reason = "its process is not the one that left the file";
                    Outcome::NoCompanion(reason.to_owned())
                }
                Some(knock) => {
                    let gone = |_| Err(ClientError::Silent(2 * ANSWER_TIMEOUT));
                    let admitted = knock.await.unwrap_or_else(gone);
                    let pillions = pillions(dial.port).filter(|_| admitted.is_ok());
                    if let Some(state) = pillions.and_then(|companion| companion.state.as_ref()) {
                        attempts.connected.clone_from(&state.agents);
                    }
                    outcome(admitted, dial, pillions.is_some()).await
                }
                None => Outcome::Unreachable,
            };
            let is_connected = outcome.is_connected();
            attempts.dialled.push(Dialled {
                dial: dial.clone(),
                outcome,
            });
            if is_connected {
                break;
            }
        }
        attempts
    });
    // A name server that is still silent must not hold up the end.
    runtime.shutdown_background();
    Ok(attempts)
}

impl Outcome {
    pub fn is_connected(&self) -> bool {
        matches!(self, Self::Connected | Self::Admitted)
    }
}

/// Returns true if whoever listens there is surely none of those that left these files. Nothing is known of a
/// companion whose process cannot be seen from here, as that of another container: then nobody is seen to listen,
/// either.
fn is_strangers(port: u16, files: &[&FoundFile]) -> bool {
    const ROOT: u32 = 0;
    let Some(listener) = peer::listener(port) else {
        return false;
    };
    let is_anothers = listener.uid != ROOT && listener.uid != process::own_uid();
    let may_be_its = |file: &&FoundFile| match file.publisher() {
        Some(pid) => listener.pids.contains(&pid),
        // Its editor is named, and a child of that may listen.
        None => {
            let named = [file.pid(), file.content.ppid];
            let mut named = named.into_iter().flatten().peekable();
            named.peek().is_none() || named.any(process::is_alive)
        }
    };
    let is_others = !listener.pids.is_empty() && !files.iter().any(may_be_its);
    is_anothers || (is_others && !files.is_empty())
}

fn address(dial: &Dial) -> Address {
    dial.address().with_timeout(ANSWER_TIMEOUT)
}

/// Checks that a companion is there that takes the token.
fn admits(dial: &Dial) -> impl Future<Output = Result<(), ClientError>> + use<> {
    let (address, transport) = (address(dial), dial.transport);
    async move {
        // The client's timeout starts once something listens.
        let knock = async {
            match transport {
                Transport::Http => knock(&address).await,
                Transport::WebSocket | Transport::EventSource => knock_claude(&address).await,
            }
        };
        let knock = timeout(2 * ANSWER_TIMEOUT, knock);
        knock
            .await
            .unwrap_or(Err(ClientError::Silent(2 * ANSWER_TIMEOUT)))
    }
}

async fn outcome(admitted: Result<(), ClientError>, dial: &Dial, is_pillion: bool) -> Outcome {
    match admitted {
        Ok(()) if is_pillion => Outcome::Connected,
        Ok(()) => Outcome::Admitted,
        Err(error) => failed(error, dial).await,
    }
}

async fn failed(error: ClientError, dial: &Dial) -> Outcome {
    match error {
        ClientError::Unreachable(_) if listens(dial).await => {
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

/// A name server may be silent, and a host may drop what is sent to it.
async fn listens(dial: &Dial) -> bool {
    let connecting = TcpStream::connect((dial.host.to_string(), dial.port));
    matches!(timeout(ANSWER_TIMEOUT, connecting).await, Ok(Ok(_)))
}
