//! `cargo xtask picture`: films the README's pictures, real runs of Claude Code beside the review and Neovim. The model
//! is a stand-in; everything else is what people run.

mod film;

use std::env;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};
use std::time::Duration;

use anyhow::{Context, ensure};
use pillion_testkit::{
    Claude, ClaudeRelease, Home, Model, NvimSetup, NvimVersion, Pane, Size, Tmux, Turn,
    set_up_claude,
};

use self::film::Film;
use crate::test::isolation::offline;
use crate::{editors, npm, root, target_dir};

/// Film the README's pictures: real runs of the review and of Neovim, with Claude Code
#[derive(Debug, clap::Args)]
pub struct Args {
    /// The program that was built; set where only this machine can be reached.
    #[arg(hide = true)]
    program: Option<PathBuf>,
}

const SIZE: Size = Size::new(100, 26);
const AGENTS_SIZE: Size = Size::new(100, 13);
const SOON: Duration = Duration::from_secs(60);

/// The time that a view has to have been on the screen: no decision comes before.
const LOOK: Duration = Duration::from_millis(1500);

const NAME: &str = "cart.py";
const BEFORE: &str = include_str!("picture/before.py");
const AFTER: &str = include_str!("picture/after.py");

pub fn run(args: &Args) -> anyhow::Result<ExitCode> {
    match &args.program {
        Some(program) => film(program),
        None => start(),
    }
}

/// Builds and installs what is in the pictures, and takes them in a process of its own.
fn start() -> anyhow::Result<ExitCode> {
    let built = Command::new(env!("CARGO"))
        .args(["build", "--release", "--package", "pillion"])
        .status()?;
    ensure!(built.success(), "the build failed");
    let target = target_dir();
    let mut child = Command::new(env::current_exe()?);
    child
        .arg("picture")
        .arg(target.join("release/pillion"))
        .env("PILLION_TEST_NPM", npm::install(&target)?)
        .env("PILLION_TEST_CLAUDE", npm::install_claude(&target)?)
        .env("PILLION_TEST_EDITORS", editors::install(&target)?);
    let filmed = offline(child).status()?;
    ensure!(filmed.success(), "the pictures could not be taken");
    Ok(ExitCode::SUCCESS)
}

fn film(program: &Path) -> anyhow::Result<ExitCode> {
    let docs = root().join("docs");
    fs::write(docs.join("review.svg"), Set::new(program)?.review()?)?;
    fs::write(docs.join("nvim.svg"), Set::new(program)?.neovim()?)?;
    Ok(ExitCode::SUCCESS)
}

/// A person's home, and what they have in it.
struct Set {
    program: String,
    tmux: Tmux,
    model: Model,
    home: Home,
    file: PathBuf,
    film: Film,
}

impl Set {
    fn new(program: &Path) -> anyhow::Result<Self> {
        let home = Home::new();
        set_up_claude(&home, &home.workspace());
        Ok(Self {
            program: program
                .to_str()
                .context("the path is not Unicode")?
                .to_owned(),
            tmux: Tmux::start(),
            model: Model::start(),
            file: home.file(NAME, BEFORE),
            home,
            film: Film::default(),
        })
    }

    /// Claude Code in its own default mode, as the README says to start it.
    fn claude(&self) -> Claude {
        let release = ClaudeRelease::Native;
        let env = release.env(self.home.env(), &self.model);
        let command = [&self.program, "run", "claude"];
        let folder = self.home.workspace();
        let pane = self
            .tmux
            .spawn("claude", AGENTS_SIZE, &env, &folder, &command);
        Claude::attach(release, pane)
    }

    /// Has it propose to change the file.
    fn prompt(&self, claude: &Claude) {
        let turns = [
            Turn::read_file(&self.file),
            Turn::write_file(&self.file, AFTER),
            Turn::say("The cart is tidied up, as you left it."),
        ];
        self.model.script(turns);
        claude.prompt("tidy up the cart");
    }

    /// A shell in which the file is looked at.
    fn shell(&self) -> Pane {
        let env = self.home.env().with("PS1", "$ ");
        let folder = self.home.workspace();
        let pane = self
            .tmux
            .spawn("shell", AGENTS_SIZE, &env, &folder, &["sh", "-i"]);
        pane.wait_for("$", SOON);
        pane.type_text(&format!("cat {NAME}"));
        pane.send_keys(["Enter"]);
        pane.wait_for("percent / 100", SOON);
        pane
    }

    fn review(mut self) -> anyhow::Result<String> {
        let env = self.home.env().with("COLORTERM", "truecolor");
        let command = [&self.program, "review", "--theme", "dark"];
        let review = self
            .tmux
            .spawn("review", SIZE, &env, &self.home.workspace(), &command);
        review.wait_for("Waiting for an agent", SOON);
        let claude = self.claude();
        review.wait_for("● Claude Code", SOON);
        self.film.shot(&review, claude.pane(), 2.0);
        self.prompt(&claude);
        review.wait_for("3 hunks", SOON);
        claude.wait_question();
        std::thread::sleep(LOOK);
        self.film.shot(&review, claude.pane(), 3.0);
        review.send_keys(["n"]);
        review.wait_for("hunk 2/3", SOON);
        std::thread::sleep(LOOK);
        self.film.shot(&review, claude.pane(), 1.5);
        review.send_keys(["Space"]);
        review.wait_for("1 excluded", SOON);
        self.film.still(&review, claude.pane(), 3.0);
        review.send_keys(["a"]);
        claude.wait_for("as you left it");
        review.wait_for("Nothing to review", SOON);
        self.film.shot(&review, claude.pane(), 2.5);
        self.film.shot(&review, &self.shell(), 4.0);
        self.film.svg("Claude Code proposes three changes; in Pillion's review one is excluded, the rest is accepted and written")
    }

    fn neovim(mut self) -> anyhow::Result<String> {
        let nvim = NvimSetup::new(NvimVersion::V0_12, &self.home)
            .pillion(&self.program)
            .arg(&self.file)
            .in_tmux(&self.tmux, SIZE);
        nvim.wait_until(
            "Pillion running",
            "require('pillion.client').state.port ~= nil",
        );
        let pane = nvim.pane();
        let claude = self.claude();
        nvim.wait_until(
            "Claude Code connected",
            "#require('pillion.client').state.agents == 1",
        );
        self.film.shot(&pane, claude.pane(), 2.0);
        self.prompt(&claude);
        claude.wait_question();
        nvim.wait_until("a diff", "#require('pillion.diff.pending').sorted() == 1");
        pane.wait_for("raise ValueError", SOON);
        std::thread::sleep(LOOK);
        self.film.shot(&pane, claude.pane(), 3.0);
        // The proposal is text like any other.
        nvim.input("/ValueError(<CR>f(ci('not a percentage'<Esc>0");
        pane.wait_for("not a percentage", SOON);
        std::thread::sleep(LOOK);
        self.film.still(&pane, claude.pane(), 3.0);
        nvim.input(":w<CR>");
        claude.wait_for("as you left it");
        pane.wait_for("not a percentage", SOON);
        self.film.shot(&pane, claude.pane(), 2.5);
        self.film.shot(&pane, &self.shell(), 4.0);
        self.film.svg("Claude Code's change opens as a diff in Neovim, is edited there, and :w accepts it as edited")
    }
}
