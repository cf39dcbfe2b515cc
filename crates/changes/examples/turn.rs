//! Runs a command as a turn of an agent would, and prints how long Pillion's part took, in seconds:
//! `cargo run --release -p pillion-changes --example turn -- FOLDER COMMAND…`. The benchmark uses it.

#![allow(clippy::print_stdout, reason = "it is what it is for")]

use std::path::PathBuf;
use std::process::Command;
use std::time::Instant;
use std::{env, error};

use pillion_changes::recorder::Call;
use pillion_changes::{Recorder, Store};
use pillion_discovery::Environment;

fn main() -> Result<(), Box<dyn error::Error>> {
    let mut arguments = env::args().skip(1);
    let folder = arguments.next().ok_or("no FOLDER")?;
    let folder = pillion_discovery::canonicalize(&PathBuf::from(folder))?;
    let program = arguments.next().ok_or("no COMMAND")?;
    let mut recorder = Recorder::new(
        Store::of(&Environment::current())?,
        std::slice::from_ref(&folder),
        Vec::new(),
    );
    let mut times = Vec::new();
    let mut began = Instant::now();
    let mut took = |what: &'static str| {
        times.push((what, began.elapsed().as_secs_f64()));
        began = Instant::now();
    };
    recorder.prepare();
    took("first");
    recorder.begin(1, "claude", "a command")?;
    took("begin");
    let call = Call {
        id: "1".to_owned(),
        tool: "Bash".to_owned(),
        path: None,
        subagent: None,
    };
    recorder.before(1, "claude", call.clone())?;
    took("before");
    Command::new(program)
        .args(arguments)
        .current_dir(&folder)
        .status()?;
    took("command");
    recorder.after(1, "1", |_| Vec::new())?;
    took("after");
    recorder.tally();
    took("tally");
    // A call that changes nothing, in a turn that has changed what it has.
    recorder.before(1, "claude", call)?;
    recorder.after(1, "1", |_| Vec::new())?;
    took("quiet");
    recorder.end(1)?;
    took("end");
    let fields = times
        .iter()
        .map(|(what, time)| format!("{what:?}:{time:.4}"));
    println!("{{{}}}", fields.collect::<Vec<_>>().join(","));
    Ok(())
}
