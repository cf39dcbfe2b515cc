//! `pillion --demo`: an agent of our own that proposes a sample change through the real endpoint,
//! so that a newcomer without an agent sees the whole way.

use std::fs;
use std::path::Path;

use anyhow::Context;
use pillion_agent::Client;
use pillion_protocol::{DiscoveryFile, Outcome, Token};
use tempfile::TempDir;

const NAME: &str = "reading_list.py";
/// The sample file.
const BEFORE: &str = include_str!("demo/before.py");
/// The text that the agent proposes for it.
const AFTER: &str = include_str!("demo/after.py");

/// A folder with the sample file, to be a root of the review. Dropping it removes it.
pub fn folder() -> anyhow::Result<TempDir> {
    let folder = tempfile::Builder::new()
        .prefix("pillion-demo-")
        .tempdir()
        .context("cannot create a folder for the demo")?;
    fs::write(folder.path().join(NAME), BEFORE)?;
    Ok(folder)
}

/// Lets the agent go, in that folder. It reads `discovery_file` as any agent does, and reports to `notice`
/// how it ended, in a sentence for people.
pub fn start(
    folder: &Path,
    discovery_file: &Path,
    notice: impl Fn(String) + Send + 'static,
) -> anyhow::Result<()> {
    let file: DiscoveryFile = serde_json::from_slice(&fs::read(discovery_file)?)
        .with_context(|| format!("cannot read {}", discovery_file.display()))?;
    let token = file.auth_token.context("the discovery file has no token")?;
    let runtime = pillion_agent::runtime()?;
    let path = folder.join(NAME);
    pillion_system::spawn("demo agent", move || {
        let told = runtime.block_on(propose(file.port, token, &path));
        notice(told.unwrap_or_else(|error| format!("the demo agent failed: {error:#}")));
    })?;
    Ok(())
}

async fn propose(port: u16, token: Token, path: &Path) -> anyhow::Result<String> {
    let path = path
        .to_str()
        .context("the path of the demo's folder is not valid Unicode")?;
    let (client, mut updates) = Client::connect(port, token).await?;
    client.open_diff(path, AFTER).await?;
    let told = match updates.decision(path).await? {
        Outcome::Accepted { content: text, .. } => {
            // The agent writes, never the companion (C5.9).
            fs::write(path, &*text)?;
            let edited = if *text == AFTER {
                ""
            } else {
                " as you left it"
            };
            format!("Accepted: the demo agent wrote the text{edited}.")
        }
        Outcome::Rejected => "Rejected: the demo agent wrote nothing.".to_owned(),
    };
    client.disconnect().await?;
    Ok(told)
}
