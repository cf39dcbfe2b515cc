//! `cargo xtask picture`: takes the README's picture from a real run of the review.

use std::process::{Command, ExitCode};
use std::time::Duration;

use anstyle_svg::Term;
use anyhow::{Context, ensure};
use pillion_testkit::{Home, Size, Tmux};

use crate::{root, target_dir};

/// Take the README's picture from a real run of the review
#[derive(Debug, clap::Args)]
pub struct Args {}

const SIZE: Size = Size::new(112, 31);
const SOON: Duration = Duration::from_secs(20);

pub fn run(_args: &Args) -> anyhow::Result<ExitCode> {
    let built = Command::new(env!("CARGO"))
        .args(["build", "--release", "--package", "pillion"])
        .status()?;
    ensure!(built.success(), "the build failed");
    let command = target_dir().join("release/pillion");
    let command = command.to_str().context("the path is not Unicode")?;

    let home = Home::new();
    let env = home.env().with("COLORTERM", "truecolor");
    let tmux = Tmux::start();
    let review = [command, "review", "--demo", "--theme", "dark"];
    let pane = tmux.spawn("review", SIZE, &env, &home.workspace(), &review);
    pane.wait_for("5 hunks", SOON);
    pane.send_keys(["n", "n"]);
    pane.wait_for("hunk 3/5", SOON);
    // A diff that has just come up takes no decisions yet.
    std::thread::sleep(Duration::from_millis(600));
    pane.send_keys(["Space"]);
    pane.wait_for("1 taken out", SOON);
    let screen = pane.screen_with_colours();

    let path = root().join("docs/review.svg");
    std::fs::write(&path, Term::new().render_svg(&screen))?;
    Ok(ExitCode::SUCCESS)
}
