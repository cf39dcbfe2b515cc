//! The context that the companion which is meant shows to agents: Pillion's own are asked at their sockets, another's is followed
//! in a session, as agents open one.

use std::mem;
use std::time::Duration;

use pillion_agent::claude::{self, Selection, Update};
use pillion_agent::{Address, Backoff, Client, ClientError, Updates};
use pillion_discovery::survey::Companion;
use pillion_discovery::{Environment, survey};
use pillion_protocol::dialect::Protocol;
use pillion_protocol::{Cursor, Dialect, File, IdeContext};
use pillion_system::{now_ms, spawn};
use pillion_view::Connected;
use pillion_view::ask::GetContext;
use tokio::sync::mpsc;
use tokio::task::spawn_blocking;
use tokio::time::{sleep, timeout};

use crate::args::Target;
use crate::choice::{Need, Running};
use crate::commands::control_client;
use crate::failure::{Failure, Kind};

/// The time limit for the goodbye.
const END_TIMEOUT: Duration = Duration::from_secs(2);

/// The companion that is meant, before anybody has talked to it.
#[derive(Debug)]
pub struct Connection {
    target: Target,
    environment: Environment,
    pub companion: Companion,
}

/// What the companion shows, by the way in which it tells that.
pub enum Session {
    /// One of Pillion's answers at its socket.
    Asked(mpsc::UnboundedReceiver<anyhow::Result<IdeContext>>),
    Companion(Client, Updates),
    Claude(claude::Client, claude::Updates),
}

impl Connection {
    /// The companion that `target` means.
    ///
    /// # Errors
    /// [`Kind::NoCompanion`] when there is none.
    pub fn find(target: &Target) -> anyhow::Result<Self> {
        let environment = Environment::current();
        let companion = Running::look(&environment).choose(Need::Any, target)?;
        Ok(Self::to(companion, target))
    }

    /// This companion, which `target` means.
    pub fn to(companion: Companion, target: &Target) -> Self {
        Self {
            target: target.clone(),
            environment: Environment::current(),
            companion,
        }
    }

    /// Connects.
    ///
    /// # Errors
    /// When it cannot reach the companion, or the companion refuses.
    pub async fn connect(&self) -> anyhow::Result<Session> {
        Session::open(&self.environment, &self.companion).await
    }

    /// Connects to the companion that the same target means now, as soon as there is one: after a
    /// restart it has another port and another token. `lasted` is how long the last session did.
    ///
    /// Never to one that is not Pillion's, but for that of the editor whose session the person agreed to.
    pub async fn connect_again(&self, backoff: &mut Backoff, mut lasted: Duration) -> Session {
        loop {
            sleep(backoff.next(mem::take(&mut lasted))).await;
            let (target, environment) = (self.target.clone(), self.environment.clone());
            let agreed = (!self.companion.is_pillion()).then(|| self.companion.display_name());
            let agreed = agreed.map(str::to_owned);
            let choose = move || {
                let mut companions = survey(&environment).companions;
                let is_agreed = |it: &Companion| agreed.as_deref() == Some(it.display_name());
                companions.retain(|it| it.is_pillion() || is_agreed(it));
                Running::among(companions, &environment).choose(Need::Any, &target)
            };
            // Choosing may need a runtime of its own, which no thread of this one can have.
            let choosing = spawn_blocking(choose);
            if let Ok(Ok(companion)) = choosing.await
                && let Ok(session) = Session::open(&self.environment, &companion).await
            {
                return session;
            }
        }
    }
}

impl Session {
    async fn open(environment: &Environment, companion: &Companion) -> anyhow::Result<Self> {
        if companion.state.is_some() {
            let connection = control_client::connect(environment, companion)?;
            return Ok(Self::Asked(follow(connection)?));
        }
        Self::open_as_agent(companion).await.map_err(failure)
    }

    async fn open_as_agent(companion: &Companion) -> Result<Self, ClientError> {
        let tokens = Dialect::ALL.into_iter();
        let token = tokens.filter_map(|dialect| companion.token(dialect)).next();
        let address = Address::new(companion.port).with_token(token.cloned());
        Ok(match companion.protocol() {
            Protocol::Companion | Protocol::Copilot | Protocol::Codex => {
                let (client, updates) = Client::connect_to(address).await?;
                Self::Companion(client, updates)
            }
            Protocol::Claude => {
                let (client, updates) = claude::Client::connect(address).await?;
                Self::Claude(client, updates)
            }
        })
    }

    /// Returns the context that the editor shows now, and then each that it shows next, as agents of the companion contract see
    /// it. Cancel-safe.
    ///
    /// # Errors
    /// When the companion or the session is gone.
    pub async fn context(&mut self) -> anyhow::Result<IdeContext> {
        let lost = || failure(ClientError::NotConnected);
        let updates = match self {
            Self::Asked(contexts) => return contexts.recv().await.unwrap_or_else(|| Err(lost())),
            Self::Companion(_, updates) => return updates.context().await.map_err(failure),
            Self::Claude(_, updates) => updates,
        };
        loop {
            match updates.next().await.ok_or_else(lost)? {
                Update::Selection(selection) => return Ok(selected(selection)),
                Update::Mention(_) => {}
            }
        }
    }

    /// Ends it.
    pub async fn end(self) {
        match self {
            Self::Asked(_) => {}
            // Most companions do not let sessions be ended: the stream's end shows them, too.
            Self::Companion(client, _) => drop(timeout(END_TIMEOUT, client.disconnect()).await),
            Self::Claude(client, _) => client.disconnect().await,
        }
    }
}

/// The one file that Claude Code gets, with what is selected in it, as a context.
fn selected(selection: Selection) -> IdeContext {
    let file = selection.path.map(|path| {
        let end = selection.range.end;
        File {
            cursor: Some(Cursor {
                line: end.line.saturating_add(1),
                character: end.character.saturating_add(1),
            }),
            selected_text: Some(selection.text).filter(|text| !text.is_empty()),
            selection: Some(selection.range),
            ..File::focused(path, now_ms())
        }
    });
    IdeContext::for_agents(file.into_iter().collect(), None)
}

/// Asks again and again what is shown, from a thread of its own, until the connection breaks.
fn follow(
    mut connection: Connected,
) -> anyhow::Result<mpsc::UnboundedReceiver<anyhow::Result<IdeContext>>> {
    let (sender, contexts) = mpsc::unbounded_channel();
    spawn("context", move || {
        let mut known = None;
        loop {
            let shown = connection.wait_for(GetContext { known });
            let shown = shown.map_err(control_client::failure);
            let is_over = shown.is_err();
            known = shown.as_ref().ok().map(|shown| shown.number);
            let context = shown.map(|shown| shown.context.as_seen_by_agent());
            if sender.send(context).is_err() || is_over {
                return;
            }
        }
    })?;
    Ok(contexts)
}

/// An error of the client, for people.
fn failure(error: ClientError) -> anyhow::Error {
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

#[cfg(test)]
mod tests {
    use pillion_protocol::context::{Position, Range};

    use super::*;

    #[test]
    fn a_selection_is_the_only_file() {
        let end = Position {
            line: 3,
            character: 2,
        };
        let selection = Selection {
            path: Some("/a".to_owned()),
            text: "x".to_owned(),
            range: Range {
                start: Position::default(),
                end,
            },
        };
        let shown = selected(selection);
        let file = &shown.files()[0];
        assert_eq!((file.path.as_str(), file.is_focused()), ("/a", true));
        let cursor = file.cursor.unwrap();
        assert_eq!((cursor.line, cursor.character), (4, 3));
        assert_eq!(file.selected_text.as_deref(), Some("x"));
        assert!(selected(Selection::default()).files().is_empty());
    }
}
