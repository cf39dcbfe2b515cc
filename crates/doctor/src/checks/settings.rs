//! The agent's settings, which must let it look for a companion, merged as the agent merges them.

use pillion_protocol::Dialect;
use serde_json::Value;

use super::super::facts::Facts;
use super::super::finding::{Finding, Id};
use super::shell;
use crate::setup::settings::{Content, ENABLED, OLD_NAME, Scope, SettingsFile};

/// A setting that decides, and where it stands.
pub struct Setting<'a> {
    pub file: &'a SettingsFile,
    pub is_on: bool,
}

/// The file that turns IDE mode on or off, the last one that counts.
pub fn ide_mode(facts: &Facts) -> Option<Setting<'_>> {
    let mut counting = facts.setup.settings.counting();
    counting.find_map(|file| {
        let is_on = own_ide_mode(facts, file)?;
        Some(Setting { file, is_on })
    })
}

pub fn check(facts: &Facts, findings: &mut Vec<Finding>) {
    for file in &facts.setup.settings.files {
        if let Content::Broken(reason) = &file.content {
            findings.push(broken(facts, file, reason));
        }
    }
    sandboxed(facts, findings);
    let setting = ide_mode(facts);
    let is_on = setting.as_ref().is_some_and(|setting| setting.is_on);
    // A file that cannot be read may say it, and has to be fixed first; the folder's own may count.
    if !is_on && (setting.is_some() || facts.setup.settings.has_ide_mode_nowhere()) {
        findings.push(off(facts, setting));
    }
    without_asking(facts, findings);
}

fn broken(facts: &Facts, file: &SettingsFile, reason: &str) -> Finding {
    let name = facts.agent().display_name();
    let what = format!(
        "{} is not a valid settings file: {reason}",
        file.path.display()
    );
    let why = format!("{name} does not start with such a file");
    let finding = Finding::problem(Id::SettingsBroken, what, why);
    finding.fix(shell::edit(&file.path))
}

fn off(facts: &Facts, setting: Option<Setting<'_>>) -> Finding {
    let name = facts.agent().display_name();
    let files = &facts.setup.settings.files;
    let old = files
        .iter()
        .find(|file| file.content.get(&[OLD_NAME]) == Some(&Value::Bool(true)));
    let what = match (&setting, old) {
        (Some(setting), _) => format!(
            "IDE mode is off: `ide.enabled` is false in {}",
            setting.file.path.display()
        ),
        (None, Some(file)) => format!(
            "IDE mode is off: {} sets `ideMode`, which this release calls `ide.enabled`",
            file.path.display()
        ),
        (None, None) => "IDE mode is off: no settings file sets `ide.enabled` to true".to_owned(),
    };
    let why = format!("{name} looks for a companion only in IDE mode");
    let finding = Finding::problem(Id::IdeModeOff, what, why);
    match setting {
        // `/ide enable` writes the user's own file, which these overrule.
        Some(setting) if setting.file.scope == Scope::System => {
            finding.fix(shell::edit(&setting.file.path))
        }
        _ => finding.fix("/ide enable"),
    }
}

/// Qwen Code runs its tools in a sandbox and then leaves IDE mode out, whatever else is set.
fn sandboxed(facts: &Facts, findings: &mut Vec<Finding>) {
    let files = facts.setup.settings.files.iter();
    let mut counting = files.filter(|_| facts.agent() == Dialect::QwenCode);
    let names = ["tools", "executionSandbox"];
    if let Some(file) = counting.find(|file| file.content.get(&names).is_some()) {
        let shown = file.path.display();
        let what = format!("IDE mode is off: {shown} sets `tools.executionSandbox`");
        let why = "Qwen Code turns IDE mode off when it runs its tools in that sandbox";
        let finding = Finding::problem(Id::IdeModeOff, what, why);
        findings.push(finding.fix(shell::edit(&file.path)));
    }
}

fn without_asking(facts: &Facts, findings: &mut Vec<Finding>) {
    let agent = facts.agent();
    let names: &[&str] = match agent {
        Dialect::QwenCode => &["tools", "approvalMode"],
        _ => &["general", "defaultApprovalMode"],
    };
    let set = merged(facts, names).and_then(Value::as_str);
    let own = agent == Dialect::QwenCode;
    let is_automatic = match set {
        Some(mode) => matches!(
            mode,
            "auto" | "auto_edit" | "auto-edit" | "autoEdit" | "yolo"
        ),
        None => own,
    };
    if is_automatic {
        let name = agent.display_name();
        let how = set.map_or("its own default".to_owned(), |mode| {
            format!("its mode {mode:?}")
        });
        let what = format!("{name} makes changes without asking: that is {how}");
        let why = "it then shows no diffs, not even in the editor; it still gets the context";
        let command = format!("{} --approval-mode default", agent.name());
        findings.push(Finding::note(Id::NoDiffs, what, why).fix(command));
    }
}

fn own_ide_mode(facts: &Facts, file: &SettingsFile) -> Option<bool> {
    let is_qwen = facts.agent() == Dialect::QwenCode;
    let old = || file.content.get(&[OLD_NAME]).filter(|_| is_qwen);
    file.content.get(&ENABLED).or_else(old)?.as_bool()
}

/// The last value that counts.
pub(super) fn merged<'a>(facts: &'a Facts, names: &[&str]) -> Option<&'a Value> {
    let mut counting = facts.setup.settings.counting();
    counting.find_map(|file| file.content.get(names))
}
