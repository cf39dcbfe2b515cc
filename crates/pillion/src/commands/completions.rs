//! `pillion completions`.

use std::fmt::Write as _;
use std::io;

use clap::builder::{PossibleValue, PossibleValuesParser};
use clap::{Arg, Command};
use clap_complete::Shell;
use pillion_protocol::Dialect;

/// Print completions for a shell
///
/// Save them where the shell looks for them:
///
///   bash        pillion completions bash > ~/.local/share/bash-completion/completions/pillion
///   fish        pillion completions fish > ~/.config/fish/completions/pillion.fish
///   zsh         pillion completions zsh > DIR/_pillion, where DIR is in $fpath
///   PowerShell  pillion completions powershell >> $PROFILE
#[derive(Debug, clap::Args)]
#[command(verbatim_doc_comment)]
pub struct Args {
    /// The shell
    shell: Shell,
}

/// Prints the script that completes `cli`, the whole command line.
pub fn run(args: Args, cli: Command) -> anyhow::Result<()> {
    // Into memory first: the generator panics when standard output is closed.
    let mut script = Vec::new();
    let mut command = offering(cli);
    clap_complete::generate(args.shell, &mut command, "pillion", &mut script);
    if args.shell == Shell::Fish {
        script.extend(fish_values(&command).into_bytes());
    }
    io::Write::write_all(&mut io::stdout(), &script)?;
    Ok(())
}

/// The commands with the values that shells are to offer also where any other is taken.
fn offering(cli: Command) -> Command {
    // Leaked, because the parser keeps static names only; the program ends in a moment.
    let names: Vec<&'static str> = cli
        .get_subcommands()
        .map(|it| &*it.get_name().to_owned().leak())
        .collect();
    let agents = Dialect::ALL.map(Dialect::name);
    let offer = |command: Command, values: PossibleValuesParser| {
        command.mut_arg("command", |argument| argument.value_parser(values))
    };
    cli.mut_subcommand("man", |man| offer(man, names.into()))
        .mut_subcommand("run", |run| offer(run, agents.into()))
}

/// The part that the generator for fish leaves out: the values of arguments without a flag.
fn fish_values(cli: &Command) -> String {
    let mut lines = String::new();
    for command in cli.get_subcommands() {
        let values: Vec<_> = command
            .get_positionals()
            .flat_map(Arg::get_possible_values)
            .filter(|value| !value.is_hide_set())
            .collect();
        let values: Vec<_> = values.iter().map(PossibleValue::get_name).collect();
        if values.is_empty() {
            continue;
        }
        let name = command.get_name();
        // `man man`: the command itself is not a sign that its value was typed.
        let typed: Vec<_> = values.iter().copied().filter(|it| *it != name).collect();
        let (typed, values) = (typed.join(" "), values.join(" "));
        // Writing to a String cannot fail.
        let _ = writeln!(
            lines,
            "complete -c pillion -n \"__fish_pillion_using_subcommand {name}; \
             and not __fish_seen_subcommand_from {typed}\" -f -a \"{values}\""
        );
    }
    lines
}
