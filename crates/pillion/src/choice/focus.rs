//! When a file was last focused in a companion's editor: asked only of companions that nothing else
//! tells apart.

use std::io;
use std::time::Duration;

use pillion_agent::Update;
use pillion_companion::control;
use pillion_discovery::survey::Companion;
use pillion_protocol::Dialect;
use tokio::task::JoinSet;

/// One that has not answered by then counts as never used: nobody is to wait for a hung editor.
const PATIENCE: Duration = Duration::from_millis(500);

/// For each of them, in Unix milliseconds; none if it shows no file, does not
/// say, or is not Pillion's.
///
/// # Errors
/// When the system lets nothing be asked.
pub fn last_focused(companions: &[&Companion]) -> io::Result<Vec<Option<u64>>> {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()?;
    let mut found = vec![None; companions.len()];
    runtime.block_on(async {
        let mut asked = JoinSet::new();
        for (at, companion) in companions.iter().enumerate() {
            let companion = Companion::clone(companion);
            asked.spawn(async move {
                let answer = tokio::time::timeout(PATIENCE, ask(&companion)).await;
                (at, answer.ok().flatten())
            });
        }
        while let Some(answer) = asked.join_next().await {
            if let Ok((at, focused)) = answer {
                found[at] = focused;
            }
        }
    });
    Ok(found)
}

async fn ask(companion: &Companion) -> Option<u64> {
    if let Some(state) = &companion.state {
        let client = control::Client::new(companion.port, state.control_token.clone());
        return client.status().await.ok()?.last_focused_ms;
    }
    // Others tell only agents, and a second session with VS Code's takes the answers of the agent
    // that has one.
    if !companion.is_pillion() {
        return None;
    }
    // Its state is not to be seen from here: be an agent, and hear its first context.
    let token = Dialect::AGENTS
        .into_iter()
        .find_map(|agent| companion.token(agent))?;
    let connected = pillion_agent::Client::connect(companion.port, token.clone()).await;
    let (client, mut updates) = connected.ok()?;
    let focused = loop {
        match updates.next().await? {
            Update::Context(context) => {
                let files = context.files().iter();
                break files.map(|file| file.timestamp).max();
            }
            _ => continue,
        }
    };
    // It has been heard; whether the goodbye is does not matter.
    let _ = client.disconnect().await;
    focused
}
