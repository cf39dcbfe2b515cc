//! `pillion install`, and what it has in common with `pillion uninstall`.

use std::fs::File;
use std::io::{self, BufRead, BufReader, IsTerminal, Write};

use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};
use pillion_protocol::Dialect;
use pillion_text::visible;
use serde::Serialize;

use super::control_client;
use super::output::print_json;
use crate::args;
use crate::failure::{self, Failure, Kind};
use crate::install::{self, Found, Installer, Machine, Options, Plan};
use crate::progress;

/// Install what an editor needs to work with agents
///
/// Without an editor's name, it looks which editors are on this machine, and asks for each whether to install what it
/// does not have yet.
///
/// Neovim, Vim, Emacs and Kakoune get Pillion's plugin, which is built into this program; your settings are
/// not touched. Helix gets `pillion lsp` for each of its languages, in `languages.toml`; Kate gets it for
/// each language without another server, in the settings of its LSP client. VS Code, its forks, code-server and
/// Positron get Pillion's extension, which is built in as well, through the editor's own command; with `--official`,
/// those of the agents' makers. Files that are not Pillion's stay as they are, unless you pass `--force`.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// The editor [default: those on this machine, one question each]
    #[arg(value_parser = editors())]
    editor: Option<&'static dyn Installer>,

    /// List the editors, which of them are on this machine, and what is installed in them
    #[arg(long, conflicts_with_all = ["editor", "dry_run", "force", "agent", "official"])]
    list: bool,

    /// Ask nothing: install in every editor on this machine what it does not have yet
    #[arg(long, conflicts_with_all = ["editor", "list"])]
    yes: bool,

    /// Move existing files aside, and install even if there is another copy
    #[arg(long)]
    force: bool,

    #[command(flatten)]
    shared: Shared,
}

/// The options that installing and uninstalling have in common.
#[derive(Debug, clap::Args)]
pub struct Shared {
    /// Show what would be done, but change nothing
    #[arg(long)]
    pub dry_run: bool,

    /// The extensions of the agents' makers, in place of Pillion's (VS Code and its forks)
    #[arg(long)]
    official: bool,

    /// Only the extension of this agent's maker, as with `--official`
    #[arg(long, value_name = "AGENT", value_parser = args::agent(Dialect::AGENTS))]
    agent: Option<Dialect>,

    /// Print JSON: `{editor, dryRun, success, steps: [{step, success, message}], notes, next}`, or
    /// with `--list` an array of `{name, displayName, program, installed, missing, tooOld}`
    #[arg(long)]
    json: bool,
}

pub fn run(args: Args) -> anyhow::Result<()> {
    let machine = Machine::current();
    match args.editor {
        _ if args.list => list(&machine, args.shared.json),
        Some(editor) => install(editor, &machine, &args),
        None => offer(&machine, &args),
    }
}

fn install(editor: &dyn Installer, machine: &Machine, args: &Args) -> anyhow::Result<()> {
    let options = args.shared.options(editor, args.force)?;
    let replaces = args.force || !editor.find(machine).installed.is_empty();
    if replaces && !args.shared.dry_run {
        control_client::speak_for_the_person()?;
    }
    let plan = editor.install(machine, &options)?;
    args.shared.carry_out(editor, &plan)
}

/// Offers what the editors of this machine could have, one after the other.
fn offer(machine: &Machine, args: &Args) -> anyhow::Result<()> {
    let shared = &args.shared;
    if shared.json || shared.official || shared.agent.is_some() {
        let message = "`--json`, `--official` and `--agent` are about one editor";
        return Err(Failure::new(Kind::Usage, message)
            .hint("Name it: `pillion install --list` has the names.")
            .into());
    }
    let found = install::editors().map(|editor| (editor, editor.find(machine)));
    let found: Vec<_> = found.filter(|(_, found)| found.is_here()).collect();
    let too_old: Vec<_> = { found.iter() }
        .filter_map(|(_, found)| found.too_old.as_ref())
        .collect();
    for why in &too_old {
        say("", &format!("{why}: it is left out"))?;
    }
    let offers = found.iter().filter(|(_, found)| !found.missing.is_empty());
    let offers: Vec<_> = offers.collect();
    if offers.is_empty() {
        let why = match found.is_empty() {
            true => "no editor that Pillion knows is on this machine",
            false if too_old.is_empty() => "every editor on this machine has what it needs",
            false => "no other editor on this machine needs anything",
        };
        return Ok(say(
            "",
            &format!("{why}; `pillion install --list` shows them"),
        )?);
    }
    let mut person = None;
    if !args.yes && !args.shared.dry_run {
        person = Some(Person::at_terminal().ok_or_else(|| no_editor(&offers))?);
    }
    let mut is_failed = false;
    for (editor, found) in offers {
        let (name, missing) = (editor.display_name(), found.missing.join(", "));
        let is_wanted = match &mut person {
            Some(person) => person.goes_along(&format!("{name}: install {missing}?"))?,
            None => say("", &format!("{name}: {missing}")).map(|()| true)?,
        };
        if is_wanted && let Err(error) = install(*editor, machine, args) {
            // The others are not to wait for it.
            is_failed = true;
            failure::report(&error);
        }
    }
    match is_failed {
        true => Err(failure::reported(Kind::Refused).into()),
        false => Ok(()),
    }
}

/// There is nobody to ask.
fn no_editor(offers: &[&(&'static dyn Installer, Found)]) -> Failure {
    let commands = offers
        .iter()
        .map(|(editor, _)| format!("`pillion install {}`", editor.name()));
    let commands: Vec<_> = commands.collect();
    Failure::new(Kind::Usage, "which editor? There is no terminal to ask on").hint(format!(
        "Run {}, or `pillion install --yes` for all of them.",
        commands.join(", ")
    ))
}

/// Reads the name of an editor.
pub fn editors() -> impl TypedValueParser<Value = &'static dyn Installer> {
    let values = install::editors().map(|editor| {
        PossibleValue::new(editor.name()).aliases(editor.names().iter().skip(1).copied())
    });
    PossibleValuesParser::new(values).try_map(|name| install::editor(&name).ok_or("unknown editor"))
}

impl Shared {
    /// Returns the options that were given.
    pub fn options(&self, editor: &dyn Installer, force: bool) -> anyhow::Result<Options> {
        let option = match (self.agent, self.official) {
            (Some(_), _) => "--agent",
            (None, true) => "--official",
            (None, false) => "",
        };
        if !option.is_empty() && !editor.has_official() {
            let message = format!("{}'s plugin serves every agent", editor.display_name());
            return Err(Failure::new(Kind::Usage, message)
                .hint(format!("Leave out `{option}`."))
                .into());
        }
        Ok(Options {
            official: self.official,
            agent: self.agent,
            force,
        })
    }

    /// Carries a plan out, or only shows it.
    pub fn carry_out(&self, editor: &dyn Installer, plan: &Plan) -> anyhow::Result<()> {
        let mut steps = Vec::new();
        // A closed output does not stop the work: the steps are carried out, then reported.
        let mut told = Ok(());
        let mut tell = |before: &str, text: &str| {
            if !self.json && told.is_ok() {
                told = say(before, text);
            }
        };
        plan.notes.iter().for_each(|note| tell("note: ", note));
        for step in &plan.steps {
            let outcome = (!self.dry_run).then(|| {
                progress::doing(format!("at this: {step}"));
                let done = step.carry_out();
                progress::pause();
                done
            });
            let step = PrintedStep {
                step: step.to_string(),
                success: outcome.as_ref().map(Result::is_ok),
                message: outcome.map(|done| done.unwrap_or_else(|error| format!("{error:#}"))),
            };
            if step.success != Some(false) {
                let would = if self.dry_run { "would " } else { "" };
                tell(would, step.message.as_deref().unwrap_or(&step.step));
            }
            steps.push(step);
        }
        let failed = steps.iter().filter(|step| step.success == Some(false));
        let failed: Vec<_> = failed.filter_map(|step| step.message.clone()).collect();
        if self.json {
            print_json(&Printed {
                editor: editor.name(),
                dry_run: self.dry_run,
                success: failed.is_empty(),
                steps,
                notes: &plan.notes,
                next: plan.next.filter(|_| failed.is_empty()),
            })?;
        }
        if failed.is_empty() {
            plan.next.iter().for_each(|next| tell("", next));
            return Ok(told?);
        }
        let message = format!("{}: {}", editor.display_name(), failed.join("\n"));
        let hint = "Fix the cause and run it again; what is already installed stays as it is.";
        Err(Failure::new(Kind::Refused, message).hint(hint).into())
    }
}

/// Somebody who reads standard error and types.
struct Person(Box<dyn BufRead>);

impl Person {
    /// If there is a terminal. Standard input may be a text on its way.
    fn at_terminal() -> Option<Self> {
        if !io::stderr().is_terminal() {
            return None;
        }
        if io::stdin().is_terminal() {
            return Some(Self(Box::new(io::stdin().lock())));
        }
        let terminal = cfg!(unix).then(|| File::open("/dev/tty"));
        Some(Self(Box::new(BufReader::new(terminal?.ok()?))))
    }

    /// Returns true if they say yes; Enter alone is yes, the end of the input is not.
    fn goes_along(&mut self, question: &str) -> io::Result<bool> {
        let answer = self.answer(&format!("{question} [Y/n] "))?;
        Ok(answer.is_some_and(|answer| matches!(&*answer, "" | "y" | "yes")))
    }

    fn answer(&mut self, prompt: &str) -> io::Result<Option<String>> {
        let mut error = io::stderr();
        write!(error, "{prompt}")?;
        error.flush()?;
        let mut line = String::new();
        let read = self.0.read_line(&mut line)?;
        Ok((read > 0).then(|| line.trim().to_ascii_lowercase()))
    }
}

/// Prints lines that may hold paths and output of programs.
fn say(before: &str, text: &str) -> io::Result<()> {
    let mut out = io::stdout().lock();
    text.lines()
        .try_for_each(|line| writeln!(out, "{before}{}", visible::one_line(line)))
}

/// The output of `--json`.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
struct Printed<'a> {
    editor: &'a str,
    dry_run: bool,
    success: bool,
    steps: Vec<PrintedStep>,
    notes: &'a [String],
    next: Option<&'a str>,
}

/// A step; null is what was not done.
#[derive(Debug, Serialize)]
struct PrintedStep {
    step: String,
    success: Option<bool>,
    message: Option<String>,
}

/// An editor of `--list`.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
struct Listed<'a> {
    name: &'a str,
    display_name: &'a str,
    #[serde(flatten)]
    found: Found,
}

impl Listed<'_> {
    fn program(&self) -> String {
        let program = self.found.program.as_ref();
        let shown = program.map_or("-".to_owned(), |path| path.display().to_string());
        visible::one_line(&shown)
    }

    fn state(&self) -> String {
        let mut words = self.found.installed.clone();
        words.extend(self.found.missing.iter().map(|what| format!("no {what}")));
        words.extend(self.found.too_old.clone());
        if words.is_empty() {
            words.push("-".to_owned());
        }
        visible::one_line(&words.join(", "))
    }
}

fn list(machine: &Machine, json: bool) -> anyhow::Result<()> {
    let listed = install::editors().map(|editor| Listed {
        name: editor.name(),
        display_name: editor.display_name(),
        found: editor.find(machine),
    });
    let listed: Vec<_> = listed.collect();
    if json {
        return print_json(&listed);
    }
    let mut out = io::stdout().lock();
    let lengths = listed.iter().map(|editor| editor.program().chars().count());
    let width = lengths.max().unwrap_or(0).max("PROGRAM".len());
    writeln!(out, "{:<16} {:<width$} INSTALLED", "EDITOR", "PROGRAM")?;
    for editor in listed {
        let (program, state) = (editor.program(), editor.state());
        writeln!(out, "{:<16} {program:<width$} {state}", editor.name)?;
    }
    Ok(())
}
