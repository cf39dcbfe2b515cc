//! Kate: `pillion lsp` for every language whose own server is not there, in the settings of its LSP client. Kate
//! runs one server for a language.

mod languages;
mod settings;

use std::path::PathBuf;

use self::languages::Language;
use super::edit::{self, Edit, Refusal};
use super::machine::{Machine, Platform};
use super::plan::Plan;
use super::{Found, Installer, Options};
use crate::failure::{Failure, Kind};

const PROGRAMS: [&str; 1] = ["kate"];

const NEXT: &str = "Restart Kate, and allow it to start `pillion` when it asks. Run this again after you have \
                    installed a language server.";

/// Kate.
#[derive(Debug)]
pub struct Kate;

impl Installer for Kate {
    fn name(&self) -> &'static str {
        "kate"
    }

    fn display_name(&self) -> &'static str {
        "Kate"
    }

    fn find(&self, machine: &Machine) -> Found {
        let text = path(machine).and_then(|path| edit::read(&path));
        let is_installed = text.is_ok_and(|text| settings::is_installed(&text.unwrap_or_default()));
        Found::of_settings(machine.program(&PROGRAMS), is_installed)
    }

    fn install(&self, machine: &Machine, _: &Options) -> anyhow::Result<Plan> {
        let path = path(machine)?;
        edit::check_owner(machine, &path)?;
        check_choice(machine)?;
        let before = edit::read(&path)?;
        let (missing, served) = languages::by_server(machine);
        let added = settings::install(before.as_deref(), &missing);
        let added = added.map_err(|why| why.at(&path))?;
        let plan = Plan::of_edit(Edit {
            path,
            before,
            after: Some(added.text),
            added: Some("`pillion lsp` for every language without a server of its own".to_owned()),
        });
        Ok(plan.between(notes(machine, &served, &added.users), NEXT))
    }

    fn uninstall(&self, machine: &Machine, _: &Options) -> anyhow::Result<Plan> {
        let without = |text: &str| settings::is_installed(text).then(|| settings::uninstall(text));
        Plan::of_removal(machine, path(machine)?, self.name(), without)
    }
}

/// What the user may wonder about afterwards.
fn notes(machine: &Machine, served: &[&Language], users: &[String]) -> Vec<String> {
    let mut notes = Vec::new();
    for (program, note) in [
        (
            "kate",
            "Pillion opens proposals with `kate`, which is not on PATH: add it, or review with `pillion` in a \
             terminal",
        ),
        (
            "pillion",
            "Kate looks for `pillion` on PATH, where it is missing: add it",
        ),
    ] {
        if machine.program(&[program]).is_none() {
            notes.push(note.to_owned());
        }
    }
    let own = served.iter().map(|language| language.name);
    let kept: Vec<&str> = own.chain(users.iter().map(String::as_str)).collect();
    if !kept.is_empty() {
        notes.push(format!(
            "kept the language servers of {}: Kate runs one per language, so agents do not see these files, and \
             their proposals are accepted with `pillion accept` in a terminal",
            kept.join(", ")
        ));
    }
    notes
}

/// Kate's own place for it, as Qt computes it.
fn path(machine: &Machine) -> anyhow::Result<PathBuf> {
    let config = match machine.platform {
        Platform::Windows => machine.folder("LOCALAPPDATA")?,
        Platform::Mac => machine.join(machine.absolute_home()?, "Library/Preferences"),
        Platform::Linux => machine.config()?,
    };
    Ok(machine.join(config, "kate/lspclient/settings.json"))
}

/// Refuses if the user has chosen another file, because Kate would not read this one.
fn check_choice(machine: &Machine) -> anyhow::Result<()> {
    let settings = path(machine)?;
    let rc = settings
        .ancestors()
        .nth(3)
        .map(|it| machine.join(it, "katerc"));
    let rc = rc.and_then(|rc| edit::read(&rc).ok().flatten());
    let Some(other) = rc.as_deref().and_then(settings::other_file) else {
        return Ok(());
    };
    let message = format!(
        "Kate reads its servers from {other} instead of {}",
        settings.display()
    );
    let hint = "Clear that field in Settings, LSP Client, or add the lines of docs/editors.md to that file.";
    Err(Failure::new(Kind::Refused, message).hint(hint).into())
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;

    #[test]
    fn the_settings_lie_where_kate_looks() {
        for (platform, variables, expected) in [
            (
                Platform::Linux,
                ("HOME", "/h"),
                "/h/.config/kate/lspclient/settings.json",
            ),
            (
                Platform::Linux,
                ("XDG_CONFIG_HOME", "/x"),
                "/x/kate/lspclient/settings.json",
            ),
            (
                Platform::Mac,
                ("HOME", "/h"),
                "/h/Library/Preferences/kate/lspclient/settings.json",
            ),
            (
                Platform::Windows,
                ("LOCALAPPDATA", r"D:\Local"),
                r"D:\Local\kate\lspclient\settings.json",
            ),
        ] {
            let machine = Machine::of(platform, &[variables]);
            assert_eq!(path(&machine).unwrap().to_str().unwrap(), expected);
        }
        assert!(path(&Machine::of(Platform::Linux, &[])).is_err());
    }
}
