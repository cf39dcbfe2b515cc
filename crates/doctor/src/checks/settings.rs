//! The agent's settings, which must let it look for a companion, merged as the agent merges them.

use pillion_agent::find::{Version, is_truthy};
use pillion_protocol::Dialect;
use serde_json::Value;

use super::super::facts::Facts;
use super::super::finding::{Finding, Id};
use super::shell;
use crate::setup::owner::{Insecure, Reason};
use crate::setup::settings::{Content, ENABLED, OLD_NAME, Scope, SettingsFile};
use crate::setup::trust::Trust;

/// Before this release, Gemini CLI moved the settings of its first months to their new names.
const MOVED: Version = Version::new(0, 24, 0);

/// Since this release, Qwen Code's own default is to make changes without asking.
const AUTOMATIC: Version = Version::new(0, 21, 0);

/// Since this release, Qwen Code knows a sandbox for its tools.
const SANDBOXES: Version = Version::new(0, 24, 0);

/// A setting that decides, and where it stands.
pub struct Setting<'a> {
    pub file: &'a SettingsFile,
    pub is_on: bool,
}

/// The file that turns IDE mode on or off, the last one that counts.
pub fn ide_mode(facts: &Facts) -> Option<Setting<'_>> {
    let mut counting = facts.setup.counting();
    counting.find_map(|file| {
        let is_on = own_ide_mode(facts, file)?;
        Some(Setting { file, is_on })
    })
}

pub fn check(facts: &Facts, findings: &mut Vec<Finding>) {
    let name = facts.agent().display_name();
    for file in &facts.setup.settings.files {
        match &file.content {
            Content::Broken(reason) => findings.push(broken(facts, file, reason)),
            Content::Insecure(insecure) => findings.push(passed_over(facts, file, insecure)),
            Content::Missing | Content::Object(_) => {}
        }
    }
    if let (Trust::Unreadable, list) = (facts.setup.trust, &facts.setup.settings.trust) {
        let reason = list.broken.as_deref().unwrap_or_default();
        let what = format!(
            "{} is not a valid list of trusted folders: {reason}",
            list.path.display()
        );
        let why = format!("{name} does not start with such a file");
        let finding = Finding::problem(Id::SettingsBroken, what, why);
        findings.push(finding.fix(shell::edit(&list.path)));
    }
    sandboxed(facts, findings);
    let setting = ide_mode(facts);
    let is_on = setting.as_ref().is_some_and(|setting| setting.is_on);
    // A file that cannot be read may say it, and has to be fixed first.
    if !is_on && (setting.is_some() || !is_broken(facts)) {
        findings.push(off(facts, setting));
    }
    ignored(facts, is_on, findings);
    without_asking(facts, findings);
}

fn broken(facts: &Facts, file: &SettingsFile, reason: &str) -> Finding {
    let name = facts.agent().display_name();
    let what = format!(
        "{} is not a valid settings file: {reason}",
        file.path.display()
    );
    let blocks = is_fatal(facts, file);
    let why = if blocks {
        format!("{name} does not start with such a file")
    } else {
        format!("{name} empties the file and starts without those settings")
    };
    let finding = Finding::blocking(blocks, Id::SettingsBroken, what, why);
    finding.fix(shell::edit(&file.path))
}

/// A file of the administrator's that the agent does not take for one.
fn passed_over(facts: &Facts, file: &SettingsFile, insecure: &Insecure) -> Finding {
    let place = insecure.path.as_path();
    let (reason, command) = match insecure.reason {
        Reason::Owner => ("does not belong to root", "sudo chown root:root --"),
        Reason::Mode => ("is writable by users other than root", "sudo chmod go-w --"),
    };
    let shown = file.path.display();
    let what = format!("{shown} is ignored: {} {reason}", place.display());
    let why = format!(
        "{} reads system settings only from places that only root can write to, such as /etc",
        facts.release
    );
    let finding = Finding::warning(Id::SystemIgnored, what, why);
    if place == file.path {
        finding.fix(shell::on_files(command, &[place]))
    } else {
        // The folder may be open for a reason.
        finding
    }
}

/// Returns true if the agent does not start because of a settings file.
pub fn is_broken(facts: &Facts) -> bool {
    let mut files = facts.setup.settings.files.iter();
    files.any(|file| matches!(file.content, Content::Broken(_)) && is_fatal(facts, file))
}

/// Qwen Code starts without a folder's own broken file.
fn is_fatal(facts: &Facts, file: &SettingsFile) -> bool {
    !(facts.agent() == Dialect::QwenCode && file.scope == Scope::Project)
}

fn off(facts: &Facts, setting: Option<Setting<'_>>) -> Finding {
    let name = facts.agent().display_name();
    let files = &facts.setup.settings.files;
    let old = files
        .iter()
        .find(|file| file.content.get(&[OLD_NAME]).is_some_and(is_truthy));
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
        Some(setting) if matches!(setting.file.scope, Scope::Project | Scope::System) => {
            finding.fix(shell::edit(&setting.file.path))
        }
        _ => finding.fix("/ide enable"),
    }
}

/// Qwen Code runs its tools in a sandbox and then leaves IDE mode out, whatever else is set.
fn sandboxed(facts: &Facts, findings: &mut Vec<Finding>) {
    let knows = facts.agent() == Dialect::QwenCode && facts.release.version >= SANDBOXES;
    let files = facts.setup.settings.files.iter();
    let mut counting = files.filter(|file| knows && file.scope != Scope::Project);
    let names = ["tools", "executionSandbox"];
    if let Some(file) = counting.find(|file| file.content.get(&names).is_some()) {
        let shown = file.path.display();
        let what = format!("IDE mode is off: {shown} sets `tools.executionSandbox`");
        let why = "Qwen Code turns IDE mode off when it runs its tools in that sandbox";
        let finding = Finding::problem(Id::IdeModeOff, what, why);
        findings.push(finding.fix(shell::edit(&file.path)));
    }
}

/// The folder's own settings, where they say something else than what counts.
fn ignored(facts: &Facts, is_on: bool, findings: &mut Vec<Finding>) {
    let files = &facts.setup.settings.files;
    let Some(project) = files.iter().find(|file| file.scope == Scope::Project) else {
        return;
    };
    let differs = own_ide_mode(facts, project).is_some_and(|own| own != is_on);
    if !differs || facts.setup.trust.is_trusted() {
        return;
    }
    let name = facts.agent().display_name();
    let what = format!("{} is ignored", project.path.display());
    let why = format!("{name} does not trust this folder, so it ignores the folder's own settings");
    let fix = match facts.agent() {
        Dialect::QwenCode => "/trust",
        _ => "/permissions trust",
    };
    findings.push(Finding::warning(Id::ProjectIgnored, what, why).fix(fix));
}

fn without_asking(facts: &Facts, findings: &mut Vec<Finding>) {
    let agent = facts.agent();
    let names: &[&str] = match agent {
        Dialect::QwenCode => &["tools", "approvalMode"],
        _ => &["general", "defaultApprovalMode"],
    };
    if !facts.setup.trust.is_trusted() {
        // It then asks, whatever the setting is.
        return;
    }
    let set = merged(facts, names).and_then(Value::as_str);
    let own = agent == Dialect::QwenCode && facts.release.version >= AUTOMATIC;
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
    let moves = facts.agent() == Dialect::QwenCode || facts.release.version < MOVED;
    let old = || file.content.get(&[OLD_NAME]).filter(|_| moves);
    let value = file.content.get(&ENABLED).or_else(old)?;
    (!value.is_null()).then(|| is_truthy(value))
}

/// The last value that counts.
pub(super) fn merged<'a>(facts: &'a Facts, names: &[&str]) -> Option<&'a Value> {
    let mut counting = facts.setup.counting();
    counting.find_map(|file| file.content.get(names))
}
