//! When a file was last focused in a companion's editor: asked only of companions that nothing else
//! tells apart.

use std::time::Duration;

use pillion_agent::Update;
use pillion_companion::control;
use pillion_discovery::survey::Companion;
use pillion_protocol::Dialect;
use tokio::task::JoinSet;

use super::rules::Use;

/// One that has not answered by then does not count: nobody is to wait for a hung editor.
const ANSWER_TIMEOUT: Duration = Duration::from_millis(500);

/// What each of them says.
///
/// # Errors
/// When the system lets nothing be asked.
pub fn last_focused(companions: &[&Companion]) -> anyhow::Result<Vec<Use>> {
    let mut found = vec![Use::Silent; companions.len()];
    pillion_agent::runtime()?.block_on(async {
        let mut asked = JoinSet::new();
        for (at, companion) in companions.iter().enumerate() {
            let companion = Companion::clone(companion);
            asked.spawn(async move {
                let answer = tokio::time::timeout(ANSWER_TIMEOUT, ask(&companion)).await;
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

async fn ask(companion: &Companion) -> Use {
    if let Some(state) = &companion.state {
        let client = control::Client::new(companion.port, state.control_token.clone());
        let status = client.status().await;
        return status.map_or(Use::Silent, |status| used(status.last_focused_ms));
    }
    // Others tell only agents, and a second session with VS Code's takes the answers of the agent
    // that has one.
    if !companion.is_pillion() {
        return Use::Unknown;
    }
    // Its state is not to be seen from here. That happens to whoever has no XDG_RUNTIME_DIR, as below
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
    let focused = loop {
        match updates.next().await {
            Some(Update::Context(context)) => {
                let files = context.files().iter();
                break files.map(|file| file.timestamp).max();
            }
            Some(_) => {}
            None => return Use::Silent,
        }
    };
    // It has been heard; whether the goodbye is does not matter.
    let _ = client.disconnect().await;
    used(focused)
}

fn used(focused: Option<u64>) -> Use {
    focused.map_or(Use::Unknown, Use::Focused)
}
