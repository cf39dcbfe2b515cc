//! `pillion hub`.

use std::io::{self, IsTerminal, Write};

use anyhow::Context;
use pillion_companion::hub::Hub;
use pillion_discovery::Environment;
use pillion_system::{descriptors, lineage, signals};
use pillion_view::hub::{IS_THERE, LISTENS};

/// Host the companions of all editors and reviews of this user
///
/// Editors and reviews start this by themselves; there is nothing to see in a terminal. Those whose folders overlap share
/// a companion. It ends when the last of them has left.
///
/// With PILLION_HUB=off in its environment an editor or review has a companion of its own, in its own process. With
/// PILLION_HUB_LOG=FILE the hub that it starts logs to this file.
#[derive(Debug, clap::Args)]
pub struct Args {}

pub fn run(_: Args) -> anyhow::Result<()> {
    let environment = Environment::current();
    // It outlives the terminal and the folder of whoever started it, but for a person who looks what it does.
    if !io::stdin().is_terminal() {
        let _ = rustix::process::setsid();
        lineage::note_detached();
    }
    let _ = std::env::set_current_dir("/");
    // Of each workspace it has ten open, and systems let programs have 256 or 1,024 unless they ask for more.
    descriptors::raise_limit();
    let hub = Hub::listen(&environment).context("cannot listen for editors")?;
    let Some(hub) = hub else {
        return say(IS_THERE);
    };
    let stopper = hub.stopper();
    signals::on_signal(move || stopper.stop()).context("cannot catch signals")?;
    say(LISTENS)?;
    hub.serve().context("cannot serve editors")
}

fn say(word: &str) -> anyhow::Result<()> {
    let mut out = io::stdout().lock();
    let said = writeln!(out, "{word}").and_then(|()| out.flush());
    said.context("cannot report that the hub is ready")
}
