//! `pillion`: parse, log, dispatch, exit code.

mod args;
mod choice;
mod cli;
mod commands;
mod failure;
mod install;
mod logging;
mod paths;
mod progress;
mod settings_file;
mod silent_disk;
mod wiring;
mod workspace;

use std::process::ExitCode;

use pillion_system::memory;

use crate::cli::Cli;

fn main() -> ExitCode {
    memory::keep_freed();
    let cli = Cli::typed();
    let result = match logging::start(cli.log.as_deref()) {
        // Its agent would go on as if there were no hook.
        Err(error) if cli.is_hook() => {
            failure::report(&error);
            cli.run()
        }
        started => started.and_then(|()| cli.run()),
    };
    let code = match result {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => failure::report(&error),
    };
    logging::finish();
    code
}
