//! The help of `pillion` itself: its commands by what people want, without those that only editors start.

use std::fmt::Write as _;

use clap::Command;
use clap::builder::StyledStr;

/// The commands that people type, in the order in which help lists them.
const GROUPS: [(&str, &[&str]); 6] = [
    (
        "Review and decide",
        &[
            "review",
            "web",
            "diffs",
            "accept",
            "reject",
            "notes",
            "send-notes",
            "review-mode",
        ],
    ),
    (
        "After the write",
        &[
            "turns", "changes", "log", "look", "show", "keep", "revert", "stage", "undo", "forget",
        ],
    ),
    (
        "Agents",
        &["run", "env", "hook", "doctor", "context", "mention"],
    ),
    ("Editors", &["install", "uninstall", "list", "detect"]),
    ("Scripts", &["serve", "diff", "focus"]),
    ("Set-up", &["completions", "man", "help"]),
];

/// The help text of `help`, which clap adds when it parses.
const HELP: &str = "Print this help, or that of a command";

/// The whole command line, with its commands in groups.
pub fn grouped(cli: Command) -> Command {
    let template = template(&cli);
    cli.help_template(template)
}

fn template(cli: &Command) -> StyledStr {
    let header = *cli.get_styles().get_header();
    let literal = *cli.get_styles().get_literal();
    let names = GROUPS.iter().flat_map(|(_, names)| *names);
    let width = names.map(|name| name.len()).max().unwrap_or_default();
    let mut text = "{about-with-newline}\n{usage-heading} {usage}\n".to_owned();
    let mut write = |args: std::fmt::Arguments<'_>| {
        // Writing to a string does not fail.
        let _ = text.write_fmt(args);
    };
    for (title, names) in GROUPS {
        write(format_args!("\n{header}{title}:{header:#}\n"));
        for name in names {
            let about = cli.find_subcommand(name).and_then(Command::get_about);
            let about = about.map_or_else(|| HELP.to_owned(), StyledStr::to_string);
            write(format_args!("  {literal}{name}{literal:#}"));
            write(format_args!("{:1$}  {about}\n", "", width - name.len()));
        }
    }
    write(format_args!(
        "\n{header}Options:{header:#}\n{{options}}{{after-help}}\n"
    ));
    text.into()
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use clap::CommandFactory as _;

    use super::*;
    use crate::cli::Cli;

    #[test]
    fn every_command_that_people_type_is_in_one_group() {
        let cli = Cli::command();
        let typed = cli.get_subcommands().filter(|it| !it.is_hide_set());
        let typed: BTreeSet<_> = typed.map(Command::get_name).chain(["help"]).collect();
        let listed: Vec<_> = GROUPS
            .iter()
            .flat_map(|(_, names)| *names)
            .copied()
            .collect();
        assert_eq!(listed.len(), typed.len(), "none is listed twice");
        assert_eq!(BTreeSet::from_iter(listed), typed);
    }

    #[test]
    fn a_command_takes_one_line_of_a_usual_terminal() {
        let help = grouped(Cli::command()).render_help().to_string();
        let (commands, _) = help.split_once("Options:").unwrap();
        let (_, commands) = commands.split_once("Usage:").unwrap();
        for line in commands.lines() {
            assert!(line.chars().count() <= 80, "{line}");
        }
    }
}
