//! Claude Code's permission mode, rules and hooks, and their effect on diffs: they answer before a person is asked.

use pillion_agent::find::Version;
use pillion_hooks::settings::Hook;
use pillion_protocol::Dialect;
use pillion_protocol::claude::AUTO_BY_DEFAULT;
use serde_json::Value;

use super::super::facts::Facts;
use super::super::finding::{Finding, Id};
use super::settings::merged;
use super::{hooks, shell};
use crate::setup::settings::{Content, Scope, SettingsFile};

/// The first release that makes changes without asking if no setting says otherwise.
const AUTOMATIC: Version = Version::from_numbers(AUTO_BY_DEFAULT);

/// The permission modes in which it makes changes without asking.
const WITHOUT_ASKING: [&str; 3] = ["auto", "acceptEdits", "bypassPermissions"];

/// The mode in which it refuses what it would have to ask about.
const REFUSES: &str = "dontAsk";

/// The tools that change files.
const TOOLS: [&str; 2] = ["Edit", "Write"];

/// The events of hooks that can answer for the person.
const ANSWERING: [&str; 2] = ["PreToolUse", "PermissionRequest"];

/// One rule about changes, and where it stands.
#[derive(Clone, Copy)]
struct Rule<'a> {
    text: &'a str,
    reach: Reach<'a>,
    file: &'a SettingsFile,
}

/// The changes that a rule is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Reach<'a> {
    /// All that this tool does: its name, alone or with `(*)`.
    Tool(&'a str),
    /// All changes.
    Everything,
    /// Those of the files that a pattern matches, whatever the tool.
    Some,
    /// None: patterns count in rules for `Edit` only.
    Nothing,
}

pub fn check(facts: &Facts, findings: &mut Vec<Finding>) {
    findings.extend(without_asking(facts));
    findings.extend(denied(facts));
    findings.extend(by_hook(facts));
    findings.extend(without_effect(facts));
}

/// The permission mode, or the rule, that shows no diff, if it is that.
fn without_asking(facts: &Facts) -> Option<Finding> {
    let set = merged(facts, &["permissions", "defaultMode"]).and_then(Value::as_str);
    let is_default = set.is_none() && facts.release.version >= AUTOMATIC;
    let mode = set.unwrap_or(if is_default { "auto" } else { "default" });
    let asked = rules(facts, "ask");
    let mut unasked = TOOLS.to_vec();
    unasked.retain(|tool| !asked.iter().any(|rule| rule.reach.covers(tool)));
    let mut allowed = rules(facts, "allow");
    // A rule that asks wins over one that allows.
    allowed.retain(|rule| unasked.iter().any(|tool| rule.reach.touches(tool)));
    let all = allowed.iter().find(|rule| rule.reach != Reach::Some);
    let how = match all.or(allowed.first()) {
        _ if unasked.is_empty() => return None,
        _ if WITHOUT_ASKING.contains(&mode) && is_default => {
            format!("its permission mode is {mode:?}, its own default")
        }
        _ if WITHOUT_ASKING.contains(&mode) => format!("its permission mode is {mode:?}"),
        Some(rule) => format!("{rule} allows {}", rule.reach),
        None => return None,
    };
    let what = format!("Claude Code makes changes without asking: {how}");
    let why = "it then shows no diffs, not even in the editor; `\"permissions\": {\"ask\": [\"Edit\", \"Write\"]}` in its settings brings them back in every mode, and so does `pillion run claude`";
    let mut files = facts.setup.settings.files.iter();
    let user = files.find(|file| file.scope == Scope::User)?;
    let finding = Finding::note(Id::NoDiffs, what, why);
    Some(finding.fix(shell::edit(&user.path)))
}

/// A rule or mode that refuses changes, so that no diff of them is shown.
fn denied(facts: &Facts) -> Option<Finding> {
    let mut denying = rules(facts, "deny");
    denying.retain(|rule| rule.reach != Reach::Nothing);
    let mode = merged(facts, &["permissions", "defaultMode"]).and_then(Value::as_str);
    let asks_first = !rules(facts, "ask").is_empty();
    let (what, file) = match denying.iter().find(|rule| rule.reach != Reach::Some) {
        Some(rule) => (format!("{rule} refuses {}", rule.reach), Some(rule.file)),
        None if mode == Some(REFUSES) && !asks_first => {
            let what = "Claude Code refuses every change that no rule allows: its permission mode is \"dontAsk\"";
            (what.to_owned(), None)
        }
        None => {
            let rule = denying.first()?;
            (format!("{rule} refuses {}", rule.reach), Some(rule.file))
        }
    };
    let why = "it refuses such a change itself, before there is a diff, and tells only its model; rules that deny win over all others";
    let finding = Finding::note(Id::ChangesDenied, what, why);
    Some(match file {
        Some(file) => finding.fix(shell::edit(&file.path)),
        None => finding,
    })
}

/// A hook that may decide in the person's place. Its answer is not known before it is run.
fn by_hook(facts: &Facts) -> Option<Finding> {
    let is_set = |name: &str| merged(facts, &[name]).and_then(Value::as_bool) == Some(true);
    // Beside one of ours, it is another matter.
    let has_ours = facts
        .setup
        .hooks
        .as_ref()
        .is_some_and(|hooks| !hooks.ours.is_empty());
    if is_set("disableAllHooks") || has_ours {
        return None;
    }
    let mut files = facts.setup.settings.files.iter().rev();
    let (file, event) = files.find_map(|file| {
        let Content::Object(values) = &file.content else {
            return None;
        };
        let mut hooks = pillion_hooks::settings::hooks(values).into_iter();
        let hook = hooks.find(is_about_changes)?;
        Some((file, hook.event))
    })?;
    let what = format!(
        "a {event} hook in {} may decide about changes before you see them",
        file.path.display()
    );
    let why = "if it answers `allow`, the change is made and no diff is shown; with `ask` the diff is shown in every mode, and with `deny` the change is refused; the doctor does not run it";
    let finding = Finding::note(Id::HookDecides, what, why);
    Some(finding.fix(shell::edit(&file.path)))
}

/// Returns true if another's hook is run for a tool that changes files.
fn is_about_changes(hook: &Hook) -> bool {
    let is_ours = hook.ours(Dialect::ClaudeCode.name()).is_some();
    let is_answering = ANSWERING.contains(&hook.event.as_str());
    !is_ours && is_answering && hooks::is_about(hook.matcher.as_deref(), &TOOLS)
}

/// A rule that its author relies on, and that does nothing.
fn without_effect(facts: &Facts) -> Option<Finding> {
    let kinds = ["deny", "ask", "allow"].into_iter();
    let mut found = kinds.flat_map(|kind| rules(facts, kind));
    let rule = found.find(|rule| rule.reach == Reach::Nothing)?;
    let what = format!("{rule} has no effect");
    let why = "Claude Code takes patterns for files only from rules for `Edit`, which then count for `Write`, too";
    let finding = Finding::note(Id::RuleWithoutEffect, what, why);
    Some(finding.fix(shell::edit(&rule.file.path)))
}

/// The rules of this kind about changes, those of the last settings file first.
fn rules<'a>(facts: &'a Facts, kind: &str) -> Vec<Rule<'a>> {
    let files = facts.setup.settings.files.iter().rev();
    let lists = files.filter_map(|file| {
        let list = file.content.get(&["permissions", kind])?.as_array()?;
        Some((file, list))
    });
    let texts = lists.flat_map(|(file, list)| list.iter().map(move |rule| (file, rule)));
    let rule = |(file, rule): (&'a SettingsFile, &'a Value)| {
        let text = rule.as_str()?;
        let reach = Reach::of(text)?;
        Some(Rule { text, reach, file })
    };
    texts.filter_map(rule).collect()
}

impl<'a> Reach<'a> {
    /// That of a rule; none if it is not about changes.
    fn of(rule: &'a str) -> Option<Self> {
        let (tool, pattern) = match rule.split_once('(') {
            Some((tool, rest)) => (tool, rest.strip_suffix(')')?),
            None => (rule, "*"),
        };
        if !TOOLS.contains(&tool) {
            return None;
        }
        Some(match pattern {
            "*" | "" => Self::Tool(tool),
            _ if tool != "Edit" => Self::Nothing,
            "**" | "./**" => Self::Everything,
            _ => Self::Some,
        })
    }

    /// Returns true if it is about all that this tool does.
    fn covers(self, tool: &'a str) -> bool {
        self == Self::Everything || self == Self::Tool(tool)
    }

    /// Returns true if it is about anything that this tool does.
    fn touches(self, tool: &'a str) -> bool {
        self == Self::Some || self.covers(tool)
    }
}

/// The object of a sentence, after its verb.
impl std::fmt::Display for Reach<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Tool(tool) => write!(f, "every change by its tool `{tool}`"),
            Self::Everything => f.write_str("every change"),
            Self::Some => f.write_str("changes of the files that it matches"),
            Self::Nothing => f.write_str("nothing"),
        }
    }
}

impl std::fmt::Display for Rule<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(
            f,
            "the rule `{}` in {}",
            self.text,
            self.file.path.display()
        )
    }
}
