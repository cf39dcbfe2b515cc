//! The examination for people: the way, leg by leg, then what was found, then what to do first.

use std::io::{self, Write};

use pillion_agent::find::Refusal;
use pillion_protocol::Dialect;
use pillion_protocol::dialect::{Base, Protocol};
use pillion_text::visible;

use super::Examination;
use super::asides::asides;
use super::checks::ide_mode;
use super::facts::Facts;
use super::facts::codex::Answer;
use super::facts::dial::Outcome;
use super::facts::neighbours::CAN_SEE;
use super::finding::{Finding, Level, Step};

/// The style of the report.
#[derive(Debug, Clone, Copy)]
pub struct Style {
    /// True if the terminal shows more than ASCII.
    pub is_unicode: bool,
    /// True if it shows colours.
    pub is_coloured: bool,
}

/// The end of a leg of the way.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Mark {
    Good,
    Warning,
    Bad,
    NotReached,
}

/// Prints one agent's examination.
pub fn write(out: &mut impl Write, examination: &Examination, style: Style) -> io::Result<()> {
    let facts = &examination.facts;
    let title = format!("{} in {}", facts.release, facts.folder.display());
    writeln!(out, "{}", style.bold(&visible::one_line(&title)))?;
    writeln!(out)?;
    for (step, name) in legs(facts) {
        let mark = mark(examination, step);
        let line = format!("{name:<11} {}", describe(examination, step, mark));
        writeln!(out, "  {} {}", style.mark(mark), visible::one_line(&line))?;
    }
    for aside in asides(facts) {
        writeln!(out, "  - {}", visible::one_line(&aside))?;
    }
    let first = examination.problems().next();
    for finding in &examination.findings {
        writeln!(out)?;
        write_finding(out, finding, style)?;
        // The verdict below says how to fix the first problem, and a command may be long.
        let is_first = first.is_some_and(|first| std::ptr::eq(first, finding));
        if let Some(fix) = finding.fix.as_ref().filter(|_| !is_first) {
            writeln!(out, "      Fix: {}", visible::one_line(fix))?;
        }
    }
    writeln!(out)?;
    write_verdict(out, examination, style)
}

/// The legs of the agent's way, with their names. One that opens no session has only some of them.
fn legs(facts: &Facts) -> Vec<(Step, &'static str)> {
    if facts.agent().opens_session() {
        return Step::ALL.map(|step| (step, step.name())).into();
    }
    let named = |step: Step| (step, step.name());
    let mut legs = vec![
        named(Step::Agent),
        (Step::Settings, "hooks"),
        named(Step::Companion),
    ];
    if facts.agent().asks_for_context() {
        legs.push((Step::Session, "context"));
    }
    legs
}

fn write_finding(out: &mut impl Write, finding: &Finding, style: Style) -> io::Result<()> {
    let sign = match finding.level {
        Level::Problem => style.mark(Mark::Bad),
        Level::Warning => style.mark(Mark::Warning),
        Level::Note => "-".to_owned(),
    };
    let what = visible::one_line(&sentence(&finding.what));
    let id = style.bold(finding.id.as_str());
    writeln!(out, "  {sign} {id}: {what}")?;
    writeln!(
        out,
        "      Why: {}",
        visible::one_line(&sentence(&finding.why))
    )?;
    Ok(())
}

fn write_verdict(out: &mut impl Write, examination: &Examination, style: Style) -> io::Result<()> {
    let facts = &examination.facts;
    let name = facts.agent().display_name();
    let Some(first) = examination.problems().next() else {
        let companion = match facts.companion() {
            Some(unnamed) if unnamed.ide.is_none() => {
                format!("the unnamed companion on port {}", unnamed.port)
            }
            Some(companion) => companion.display_name().to_owned(),
            None => "its companion".to_owned(),
        };
        if !facts.agent().opens_session() {
            let text =
                format!("Pillion's hooks would show you the changes of {name} in {companion}.");
            let text = visible::one_line(&text);
            return writeln!(out, "{} {text}", style.mark(Mark::Good));
        }
        let except = match facts.agent() {
            Dialect::ClaudeCode => ", but never with `-p`",
            _ => "",
        };
        let text = format!("{name} would connect to {companion}{except}.");
        let text = visible::one_line(&text);
        return writeln!(out, "{} {text}", style.mark(Mark::Good));
    };
    let verdict = match facts.agent().opens_session() {
        true if facts.connected.iter().any(|it| it == facts.agent().name()) => {
            format!("{name} is connected, but another one would not connect from here")
        }
        true => format!("{name} would not connect from here"),
        false => format!("The changes of {name} would not be shown"),
    };
    let text = format!("{verdict}. First: {}", sentence(&first.what));
    let text = style.bold(&visible::one_line(&text));
    writeln!(out, "{} {text}", style.mark(Mark::Bad))?;
    if let Some(fix) = &first.fix {
        let how = if fix.starts_with('/') {
            "Type in the agent"
        } else {
            "Run"
        };
        writeln!(out, "  {how}: {}", style.bold(&visible::one_line(fix)))?;
    }
    Ok(())
}

fn mark(examination: &Examination, step: Step) -> Mark {
    let facts = &examination.facts;
    let own = examination
        .findings
        .iter()
        .filter(|finding| finding.id.step() == step);
    match own.map(|finding| finding.level).max() {
        Some(Level::Problem) => Mark::Bad,
        _ if step == Step::Connection && facts.dialled.is_empty() => Mark::NotReached,
        _ if step == Step::Session && !has_session(facts) && !is_asked(facts) => Mark::NotReached,
        _ if step == Step::Connection && !facts.is_connected() => Mark::Bad,
        _ if step == Step::Companion && !is_found(facts) => Mark::NotReached,
        Some(Level::Warning) => Mark::Warning,
        Some(Level::Note) | None => Mark::Good,
    }
}

/// Returns true if there is a companion to take, whether it answers or not.
fn is_found(facts: &Facts) -> bool {
    !facts.search.dials.is_empty() || facts.companion().is_some()
}

/// Returns true if it was asked in its name what an editor shows.
fn is_asked(facts: &Facts) -> bool {
    facts.companion().is_some() && facts.asked.is_some()
}

fn has_session(facts: &Facts) -> bool {
    matches!(facts.outcome(), Some(Outcome::Connected))
}

/// A leg of the way, in a few words.
fn describe(examination: &Examination, step: Step, mark: Mark) -> String {
    let facts = &examination.facts;
    match step {
        Step::Agent => facts.program.path.as_ref().map_or_else(
            || "not installed".to_owned(),
            |path| format!("{}, {}", facts.release, path.display()),
        ),
        Step::Settings if facts.agent().protocol() == Protocol::Claude => {
            claude_settings(facts).to_owned()
        }
        Step::Settings if facts.agent().protocol() == Protocol::Copilot => {
            "by itself, in a folder that the editor has open; not with `-p`".to_owned()
        }
        Step::Settings if facts.agent().protocol() == Protocol::Hooks => hooks(facts),
        Step::Settings => match ide_mode(facts) {
            Some(setting) => {
                let state = if setting.is_on { "on" } else { "off" };
                format!("{state}, by {}", setting.file.path.display())
            }
            None if facts.setup.settings.has_ide_mode_nowhere() => "off, by default".to_owned(),
            None => "unknown".to_owned(),
        },
        Step::Folders => folders(facts),
        Step::Companion => chosen(facts),
        Step::Connection => match facts.dialled.last() {
            Some(dialled) => {
                format!("{} {}", dialled.dial, dialled.outcome)
            }
            None => "not reached".to_owned(),
        },
        Step::Session if !facts.agent().opens_session() => context(facts),
        Step::Session => match facts.outcome() {
            Some(Outcome::Connected) => match facts.connected.as_slice() {
                [] => "no agent is connected now".to_owned(),
                agents => format!("connected now: {}", agents.join(", ")),
            },
            Some(Outcome::Admitted) => {
                "not opened, so as not to disturb an agent that has one with this companion"
                    .to_owned()
            }
            _ => match mark {
                Mark::NotReached => "not reached".to_owned(),
                _ => "broken".to_owned(),
            },
        },
    }
}

/// The ways in which Claude Code, or opencode, connects.
fn claude_settings(facts: &Facts) -> &'static str {
    match (&facts.search.refusal, facts.agent()) {
        (Some(Refusal::TurnedOff(_)), _) => "turned off",
        (_, Dialect::OpenCode) => "by itself",
        _ => "by `--ide`, a variable or `/config`",
    }
}

fn folders(facts: &Facts) -> String {
    let home = match facts.agent().protocol() {
        Protocol::Claude => Base::ClaudeHome,
        Protocol::Copilot => Base::CopilotHome,
        Protocol::Companion | Protocol::Hooks => {
            let others = match CAN_SEE {
                true => "",
                false => "; those of other programs are not visible on this system",
            };
            let tmpdir = facts.environment().tmpdir();
            return format!("temporary files in {}{others}", tmpdir.display());
        }
    };
    let home = facts.environment().base(home);
    format!("lock files in {}", home.join("ide").display())
}

fn hooks(facts: &Facts) -> String {
    let hooks = &facts.setup.hooks;
    match hooks.ours.is_empty() {
        true => "not installed".to_owned(),
        false => format!("in {}", hooks.path.display()),
    }
}

fn context(facts: &Facts) -> String {
    let asked = facts.asked.as_ref().filter(|_| is_asked(facts));
    match asked {
        Some(asked) if asked.answer == Answer::Context => {
            format!("after `/ide`, from {}", asked.socket.display())
        }
        Some(asked) => format!("none from {}", asked.socket.display()),
        None => "not reached".to_owned(),
    }
}

fn chosen(facts: &Facts) -> String {
    let port = match facts.agent().opens_session() {
        true => facts.search.dials.first().map(|dial| dial.port),
        false => facts.companion().map(|companion| companion.port),
    };
    match (port, port.and_then(|port| facts.at(port))) {
        (_, Some(companion)) => {
            let roots = companion.shown_roots();
            let (name, port) = (companion.display_name(), companion.port);
            format!("{name} on port {port}, for {}", roots.join(", "))
        }
        (Some(port), None) => format!("on port {port}"),
        (None, _) if !facts.agent().opens_session() => "none for this folder".to_owned(),
        (None, _) => "none that the agent accepts".to_owned(),
    }
}

fn sentence(text: &str) -> String {
    let mut chars = text.chars();
    // A path or a variable's name stays as it is.
    let first_word = text.split([' ', ',']).next().unwrap_or_default();
    let is_word = first_word.bytes().all(|byte| byte.is_ascii_lowercase());
    match chars.next() {
        Some(first) if is_word => format!("{}{}.", first.to_ascii_uppercase(), chars.as_str()),
        _ => format!("{text}."),
    }
}

impl Style {
    fn mark(self, mark: Mark) -> String {
        let (unicode, ascii, colour) = match mark {
            Mark::Good => ("✓", "ok", "32"),
            Mark::Warning => ("!", "! ", "33"),
            Mark::Bad => ("✗", "X ", "31"),
            Mark::NotReached => ("-", "- ", "2"),
        };
        let sign = if self.is_unicode { unicode } else { ascii };
        self.paint(sign, colour)
    }

    fn bold(self, text: &str) -> String {
        self.paint(text, "1")
    }

    fn paint(self, text: &str, code: &str) -> String {
        if self.is_coloured {
            format!("\u{1b}[{code}m{text}\u{1b}[0m")
        } else {
            text.to_owned()
        }
    }
}
