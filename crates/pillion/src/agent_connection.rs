//! A session with the companion that is meant, as Pillion's own commands open one.

use std::mem;
use std::time::Duration;

use pillion_agent::{Address, Backoff, Client, ClientError, Updates, claude};
use pillion_discovery::Environment;
use pillion_discovery::survey::Companion;
use pillion_protocol::Dialect;
use pillion_protocol::dialect::Protocol;
use tokio::task::spawn_blocking;

use crate::args::Target;
use crate::choice;
use crate::failure::{Failure, Kind};

/// The companion that is meant, before anybody has talked to it.
#[derive(Debug)]
pub struct AgentConnection {
    target: Target,
    environment: Environment,
    companion: Companion,
}

impl AgentConnection {
    /// The companion that `target` means.
    ///
    /// # Errors
    /// [`Kind::NoCompanion`] when there is none.
    pub fn find(target: &Target) -> anyhow::Result<Self> {
        let environment = Environment::current();
        let companion = choice::choose(target, &environment)?;
        Ok(Self {
            target: target.clone(),
            environment,
            companion,
        })
    }

    /// The companion that is meant.
    pub fn companion(&self) -> &Companion {
        &self.companion
    }

    /// The editor's name for people.
    pub fn editor(&self) -> &str {
        self.companion.display_name()
    }

    /// How the companion is spoken to.
    pub fn protocol(&self) -> Protocol {
        self.companion.protocol()
    }

    /// Connects as Claude Code does. The connection is not opened again when it is lost.
    ///
    /// # Errors
    /// When it cannot reach the companion, or the companion refuses.
    pub async fn connect_as_claude(&self) -> anyhow::Result<(claude::Client, claude::Updates)> {
        let connecting = claude::Client::connect(address(&self.companion));
        connecting.await.map_err(failure)
    }

    /// Connects.
    ///
    /// # Errors
    /// When it cannot reach the companion, or the companion refuses.
    pub async fn connect(&self) -> anyhow::Result<(Client, Updates)> {
        let connecting = Client::connect_to(address(&self.companion));
        connecting.await.map_err(failure)
    }

    /// Connects to the companion that the same target means now, as soon as there is one: after a
    /// restart it has another port and another token. `lasted` is how long the last session did.
    pub async fn connect_again(
        &self,
        backoff: &mut Backoff,
        mut lasted: Duration,
    ) -> (Client, Updates) {
        loop {
            tokio::time::sleep(backoff.next(mem::take(&mut lasted))).await;
            let (target, environment) = (self.target.clone(), self.environment.clone());
            // Choosing may need a runtime of its own, which no thread of this one can have.
            let choosing = spawn_blocking(move || choice::choose(&target, &environment));
            if let Ok(Ok(companion)) = choosing.await
                && let Ok(session) = Client::connect_to(address(&companion)).await
            {
                return session;
            }
        }
    }
}

/// Where a companion is. Pillion's own know its commands by a token of their own; to another's they
/// are an agent like any other.
fn address(companion: &Companion) -> Address {
    let mut dialects = std::iter::once(Dialect::Script).chain(Dialect::PROGRAMS);
    let token = dialects.find_map(|dialect| companion.token(dialect));
    Address::new(companion.port).with_token(token.cloned())
}

/// An error of the client, for people.
pub fn failure(error: ClientError) -> anyhow::Error {
    const LIST: &str = "`pillion list` shows the running companions.";
    let (kind, hint) = match &error {
        ClientError::Refused(401 | 403) => (
            Kind::Refused,
            "The companion does not accept the token in its discovery file: restart the editor.",
        ),
        ClientError::NoDiffs => (
            Kind::Refused,
            "Update the companion in that editor, or turn its diffs on.",
        ),
        ClientError::Silent(_) => (
            Kind::Internal,
            "Was the editor suspended with Ctrl-Z? `fg` in its terminal resumes it.",
        ),
        ClientError::Unreachable(_) => {
            let failure = Failure::new(Kind::NoCompanion, "cannot reach the companion").hint(LIST);
            return anyhow::Error::new(error).context(failure);
        }
        ClientError::Lost | ClientError::NotConnected => (Kind::NoCompanion, LIST),
        _ => return Failure::new(Kind::Refused, error.to_string()).into(),
    };
    Failure::new(kind, error.to_string()).hint(hint).into()
}
