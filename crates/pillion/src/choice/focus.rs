//! When a file was last focused in a companion's editor: asked only of companions that nothing else
//! tells apart.

use std::io;
use std::time::Duration;

use pillion_companion::control;
use pillion_discovery::survey::Companion;
use tokio::task::JoinSet;

/// One that has not answered by then counts as never used: nobody is to wait for a hung editor.
const PATIENCE: Duration = Duration::from_millis(500);

/// For each of them, in Unix milliseconds; none if it shows no file, does not say,
/// or is not Pillion's.
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

/// Companions of others are not asked: they tell only agents, and a second session with VS Code's
/// breaks the one that an agent has.
async fn ask(companion: &Companion) -> Option<u64> {
    let state = companion.state.as_ref()?;
    let client = control::Client::new(companion.port, state.control_token.clone());
    client.status().await.ok()?.last_focused_ms
}
