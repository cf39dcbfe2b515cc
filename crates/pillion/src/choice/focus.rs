//! When a file was last focused in a companion's editor: asked only of companions that nothing else
//! tells apart.

use futures_util::future::join_all;
use pillion_discovery::survey::Companion;
use pillion_protocol::Dialect;
use tokio::time::timeout;

use super::rules::Use;
use crate::status::{ANSWER_TIMEOUT, Statuses, ask};

/// What each of them reports, or has reported.
///
/// # Errors
/// When the system lets nothing be asked.
pub fn last_focused(
    companions: &[&Companion],
    known: Option<&Statuses>,
) -> anyhow::Result<Vec<Use>> {
    let asked;
    let statuses = match known {
        Some(known) => known,
        None => {
            asked = ask(companions.iter().copied())?;
            &asked
        }
    };
    let found = companions.iter().map(|companion| async move {
        if companion.state.is_some() {
            let status = statuses.get(&companion.port);
            return status.map_or(Use::Silent, |status| used(status.last_focused_ms));
        }
        let answer = timeout(ANSWER_TIMEOUT, listen(companion)).await;
        answer.unwrap_or(Use::Silent)
    });
    Ok(pillion_agent::runtime()?.block_on(join_all(found)))
}

/// What one without a state file sends to agents.
async fn listen(companion: &Companion) -> Use {
    // Others tell only agents, and a second session with VS Code's takes the answers of the agent
    // that has one.
    if !companion.is_pillion() {
        return Use::Unknown;
    }
    // Its state is not to be seen from here. That happens without an XDG_RUNTIME_DIR, as below
    // `su`, `docker exec` and cron, while the companion has one: the discovery files are found, and
    // the private state beside them is not. Be an agent, and hear its first context.
    let mut agents = Dialect::AGENTS.into_iter();
    let Some(token) = agents.find_map(|agent| companion.token(agent)) else {
        return Use::Unknown;
    };
    let connected = pillion_agent::Client::connect(companion.port, token.clone()).await;
    let Ok((client, mut updates)) = connected else {
        return Use::Silent;
    };
    let Ok(context) = updates.context().await else {
        return Use::Silent;
    };
    let focused = context.files().iter().map(|file| file.timestamp).max();
    // It has been received; whether the close is does not matter.
    let _ = client.disconnect().await;
    used(focused)
}

fn used(focused: Option<u64>) -> Use {
    focused.map_or(Use::Unknown, Use::Focused)
}
