//! `pillion` and `pillion review`.

use anyhow::Context;
use pillion_companion::start_own;
use pillion_discovery::Environment;
use pillion_protocol::IdeInfo;
use pillion_system::spawn;
use pillion_view::{Options, Shows, attach};

use crate::args::Roots;
use crate::commands::demo;
use crate::failure::{Failure, Kind};
use crate::workspace;
use pillion_review::{Notify, ThemeChoice};

/// Review the changes that agents propose (the default command)
///
/// Start an agent in another terminal, in the same folder: `pillion run claude`. Its changes open here as
/// diffs, which you accept, reject, edit, or pick apart hunk by hunk. Press `?` for the keys.
#[derive(Debug, clap::Args)]
pub struct Args {
    #[command(flatten)]
    roots: Roots,

    /// The colour theme
    #[arg(long, value_enum, default_value_t)]
    theme: ThemeChoice,

    /// Append lines, and read commands in lines, in place of a screen: for screen readers, for terminals that cannot place text, and
    /// for logs
    ///
    /// A line is a key and what follows it, such as `a`, `y`, `R use the table`, `: 120`; an empty one goes on like `n`.
    #[arg(long)]
    plain: bool,

    /// How to notify you of a new proposal while you are looking at something else; separate
    /// several with commas
    #[arg(
        long,
        value_enum,
        value_name = "HOW",
        value_delimiter = ',',
        default_value = "none"
    )]
    notify: Vec<Notify>,

    /// Do not share the files you save with agents
    #[arg(long)]
    no_watch: bool,

    /// Leave the mouse to the terminal; `M` in the review does so, too
    #[arg(long)]
    no_mouse: bool,

    /// Propose a sample change, to try the review without an agent
    #[arg(long)]
    demo: bool,
}

pub fn run(args: Args) -> anyhow::Result<()> {
    pillion_review::check(args.plain).map_err(|error| {
        Failure::new(Kind::Usage, error.to_string())
            .hint("Without a terminal, run `pillion serve` and answer with `pillion accept`.")
    })?;
    let mut folders = args.roots.roots;
    let demo = args.demo.then(demo::folder).transpose()?;
    // A view that is open in the current folder shows nothing that was made up.
    folders.extend(demo.iter().map(|folder| folder.path().to_owned()));
    let roots = workspace::roots(&folders)?;
    let (front, review) = pillion_review::channel();
    let options = Options {
        environment: Environment::current(),
        editor_pid: std::process::id(),
        ide: IdeInfo::new("pillion", "Pillion"),
        roots: roots.clone(),
        shows: Shows::Always,
    };
    let companion =
        attach(options, front.clone(), start_own).context("cannot start the companion")?;
    if let Some(mismatch) = companion.mismatch() {
        front.notice(mismatch.to_string());
    }
    if let Some(folder) = &demo {
        let front = front.clone();
        demo::start(folder.path(), move |told| front.notice(told))?;
    }
    // PATH may have folders whose disks are slow.
    let _ = spawn("agents", move || {
        front.installed(pillion_doctor::installed(&Environment::current()));
    });
    let options = pillion_review::Options {
        roots,
        theme: args.theme,
        notify: args.notify,
        watch: !args.no_watch,
        is_plain: args.plain,
        mouse: !args.no_mouse,
    };
    review.run(companion.handle(), options)
}
