//! When a file was last focused in a companion's editor: asked only of companions that nothing else
//! tells apart.

use pillion_discovery::survey::Companion;
use pillion_protocol::Dialect;
use tokio::task::JoinSet;

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
    let mut found = vec![Use::Silent; companions.len()];
    pillion_agent::runtime()?.block_on(async {
        let mut asked = JoinSet::new();
        for (at, companion) in companions.iter().enumerate() {
            if companion.state.is_some() {
                let status = statuses.get(&companion.port);
                found[at] = status.map_or(Use::Silent, |status| used(status.last_focused_ms));
                continue;
            }
            let companion = Companion::clone(companion);
            asked.spawn(async move {
                let answer = tokio::time::timeout(ANSWER_TIMEOUT, listen(&companion)).await;
                (at, answer.unwrap_or(Use::Silent))
            });
        }
        while let Some(answer) = asked.join_next().await {
            if let Ok((at, used)) = answer {
                found[at] = used;
            }
        }
    });
    Ok(found)
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
