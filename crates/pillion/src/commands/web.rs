//! `pillion web`.

use std::io::{self, Write};

use anyhow::Context;
use pillion_companion::start_own;
use pillion_discovery::Environment;
use pillion_protocol::IdeInfo;
use pillion_system::spawn;
use pillion_text::stderr;
use pillion_view::{Options, Shows, StartError, attach};
use pillion_web::{Asked, Settings};
use qrcode::QrCode;
use qrcode::render::unicode::Dense1x2;

use crate::args::Roots;
use crate::failure::{Failure, Kind};
use crate::workspace;

/// Review the changes that agents propose in a browser
///
/// Serves a page on 127.0.0.1, prints its address, and opens it in your browser. The address works once; the page stays open in
/// that browser until the command ends. While no tab has it open, agents ask elsewhere. If the page of this workspace runs
/// already, one more tab of it is opened.
#[derive(Debug, clap::Args)]
pub struct Args {
    #[command(flatten)]
    roots: Roots,

    /// Print the address, and open no browser
    #[arg(long)]
    no_open: bool,

    /// Print a new address of the page that runs, for another browser
    #[arg(long)]
    url: bool,

    /// Print the address as a QR code, too
    #[arg(long)]
    qr: bool,

    /// Started by the review, which holds standard input open: the page ends with it, or some time after its last tab
    #[arg(long, hide = true)]
    from_review: bool,
}

pub fn run(args: Args) -> anyhow::Result<()> {
    let roots = workspace::roots(&args.roots.roots)?;
    // A tab would open where the page was started, which is not where this is typed.
    let is_remote = Environment::current().filled("SSH_CONNECTION").is_some();
    let asked = match args.url || args.no_open || args.qr || is_remote {
        true => Asked::Address,
        false => Asked::Tab,
    };
    let refused = |why| Failure::new(Kind::Refused, why);
    if let Some(address) = pillion_web::ask(&roots, asked).map_err(refused)? {
        return print(&address, args.qr);
    }
    if args.url {
        let failure = Failure::new(Kind::Refused, "no page of this workspace runs");
        return Err(failure.hint("`pillion web` starts one.").into());
    }
    let (front, web) = pillion_web::channel();
    let review = front.clone();
    let options = Options {
        environment: Environment::current(),
        editor_pid: std::process::id(),
        ide: IdeInfo::new("pillion", "Pillion"),
        roots: roots.clone(),
        shows: Shows::Always,
    };
    let companion = match attach(options, front, start_own) {
        // A signal is no failure, as at any later time.
        Err(StartError::Interrupted) => return Ok(()),
        started => started.context("cannot start the companion")?,
    };
    if let Some(mismatch) = companion.mismatch() {
        stderr::warn(mismatch);
    }
    if args.from_review {
        spawn("review", move || {
            let _ = io::copy(&mut io::stdin().lock(), &mut io::sink());
            review.leave();
        })
        .context("cannot start a thread")?;
    }
    let settings = Settings {
        roots,
        opens: !args.no_open,
        ends_unseen: args.from_review,
    };
    let mut printed = Ok(());
    web.run(companion.handle(), settings, |address| {
        printed = print(address, args.qr);
    })
    .context("cannot serve the page")?;
    printed
}

/// Prints an address, and how it is opened from elsewhere.
fn print(address: &str, is_picture: bool) -> anyhow::Result<()> {
    let mut out = anstream::stdout().lock();
    let picture = if is_picture {
        qr(address)?
    } else {
        String::new()
    };
    write!(out, "{address}\n{picture}")
        .and_then(|()| out.flush())
        .context("cannot print the address")?;
    let environment = Environment::current();
    if let Some(tunnel) = pillion_web::tunnel(&environment, address) {
        stderr::print(format_args!(
            "from your own machine: {tunnel}, then open that address there"
        ));
    }
    Ok(())
}

/// A text for a camera, black on white whatever the colours of the terminal are.
fn qr(text: &str) -> anyhow::Result<String> {
    let code = QrCode::new(text).context("the address does not fit into a QR code")?;
    let picture = code.render::<Dense1x2>().build();
    let line = |line| format!("\x1b[38;5;16;48;5;231m{line}\x1b[0m\n");
    Ok(picture.lines().map(line).collect())
}
