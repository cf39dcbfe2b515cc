//! Prints the companion that the agents would find from here, and why not another:
//!
//! ```sh
//! cargo run -p pillion-agent --example find            # the newest releases
//! cargo run -p pillion-agent --example find 0.45.0     # that release of Gemini CLI
//! ```

use std::io::{self, Write as _};

use pillion_agent::find::{Release, Situation, find};
use pillion_agent::host::is_in_container;
use pillion_discovery::Environment;
use pillion_protocol::Dialect;
use pillion_system::process;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let releases = match std::env::args().nth(1) {
        Some(version) => vec![Release {
            agent: Dialect::GeminiCli,
            version: version.parse()?,
        }],
        None => Dialect::AGENTS.map(Release::newest).to_vec(),
    };
    let environment = Environment::current();
    // This process stands for the agent's.
    let chain = process::chain(std::process::id());
    let mut out = io::stdout().lock();
    for release in releases {
        let finding = find(&Situation {
            only: None,
            release,
            environment: &environment,
            current_dir: environment.current_dir(),
            chain: &chain,
            in_container: is_in_container(),
        });
        writeln!(out, "{release}: editor's process {:?}", finding.ide_pid)?;
        for candidate in &finding.candidates {
            let path = candidate.path.display();
            writeln!(out, "  {path}: {}", candidate.verdict)?;
        }
        for dial in &finding.dials {
            writeln!(out, "  dials {dial}")?;
        }
        if let Some(refusal) = &finding.refusal {
            writeln!(out, "  {refusal}")?;
        }
    }
    Ok(())
}
