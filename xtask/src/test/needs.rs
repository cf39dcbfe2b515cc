//! The needs of tests beyond Rust: installed before them, or known to be missing.

use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::fs::File;
use std::panic::resume_unwind;
use std::path::{Path, PathBuf};
use std::thread;

use anyhow::Result;

use super::summary::IgnoredTest;
use crate::built::{JUJUTSU, KAK_LSP};
use crate::prerequisites::{Program, User, none_missing};
use crate::{addons, editors, lua, npm, prerequisites, target_dir, vibe};

/// Something that tests need beyond Rust.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Need {
    /// The npm packages, with all programs that tests run.
    Npm,
    /// Claude Code, opencode and Copilot CLI.
    Claude,
    Codex,
    Vibe,
    /// Not every machine can have them.
    Editors,
    /// The plugins that Debian has for Vim and Neovim.
    Addons,
    /// Lies beside the editors.
    KakLsp,
    /// `--all` alone builds it.
    Jujutsu,
    /// The checks of the Lua sources.
    Lua,
    Browser,
    Ssh,
    VsCode,
}

impl Need {
    const ALL: [Need; 12] = [
        Need::Npm,
        Need::Claude,
        Need::Codex,
        Need::Vibe,
        Need::Editors,
        Need::Addons,
        Need::KakLsp,
        Need::Jujutsu,
        Need::Lua,
        Need::Browser,
        Need::Ssh,
        Need::VsCode,
    ];

    /// Returns true if a test that is ignored for this reason needs it.
    fn is_for(self, reason: &str) -> bool {
        match self {
            Need::Npm => true,
            Need::Claude => npm::is_claude_needed(reason),
            Need::Codex => npm::is_codex_needed(reason),
            Need::Vibe => vibe::is_needed(reason),
            Need::Editors => editors::are_needed(reason),
            Need::Addons => addons::are_needed(reason),
            Need::KakLsp => KAK_LSP.is_needed(reason),
            Need::Jujutsu => JUJUTSU.is_needed(reason),
            Need::Lua => false,
            Need::Browser => npm::is_browser_needed(reason),
            Need::Ssh => reason.contains("ssh"),
            Need::VsCode => npm::is_vscode_needed(reason),
        }
    }

    /// The variable by which tests find its folder.
    fn variable(self) -> Option<&'static str> {
        Some(match self {
            Need::Npm => "PILLION_TEST_NPM",
            Need::Claude => "PILLION_TEST_CLAUDE",
            Need::Codex => "PILLION_TEST_CODEX",
            Need::Vibe => "PILLION_TEST_VIBE",
            Need::Editors => "PILLION_TEST_EDITORS",
            Need::Addons => "PILLION_TEST_ADDONS",
            Need::Jujutsu => "PILLION_TEST_JUJUTSU",
            Need::Browser => "PILLION_TEST_BROWSER",
            Need::VsCode => "PILLION_TEST_VSCODE",
            Need::KakLsp | Need::Lua | Need::Ssh => return None,
        })
    }
}

/// The folder of something that is there, or in words what is missing.
type Found = Result<PathBuf, String>;

/// The needs that are there, and those that are not. What was to be left out is in neither.
#[derive(Debug)]
pub struct Needs(BTreeMap<Need, Found>);

impl Needs {
    /// Nothing was to be installed.
    pub fn left_out() -> Needs {
        Needs(BTreeMap::new())
    }

    /// As if all were installed.
    #[cfg(test)]
    pub fn all_there() -> Needs {
        Needs(Need::ALL.map(|need| (need, Ok(PathBuf::new()))).into())
    }

    /// Installs what is missing. Two runs do not install into one folder at a time.
    pub fn install(all: bool) -> Needs {
        let missing = prerequisites::ensure();
        let target = target_dir();
        let _installing = lock(&target);
        thread::scope(|scope| {
            // They are compiled, while the others mostly wait for the network.
            let built = scope.spawn(|| {
                let jujutsu = all.then(|| (Need::Jujutsu, JUJUTSU.install(&target)));
                [(Need::KakLsp, KAK_LSP.install(&target))]
                    .into_iter()
                    .chain(jujutsu)
                    .collect::<Vec<_>>()
            });
            let mut found = install_others(&missing, &target);
            found.extend(built.join().unwrap_or_else(|panic| resume_unwind(panic)));
            Needs(found)
        })
    }

    /// The first thing that is missing.
    pub fn missing(&self) -> Option<&str> {
        { self.0.values() }.find_map(|found| found.as_ref().err().map(String::as_str))
    }

    /// Returns true if nothing was to be installed.
    pub fn are_left_out(&self) -> bool {
        self.0.is_empty()
    }

    /// The program that the checks of the Lua sources miss.
    pub fn missing_for_lua(&self) -> Option<&str> {
        self.missing_of(Need::Lua)
    }

    /// What the checks of our JavaScript miss: their checker is among what drives the browser.
    pub fn missing_for_javascript(&self) -> Option<&str> {
        self.missing_of(Need::Browser)
    }

    /// The program that this test misses.
    pub fn missing_for(&self, test: &IgnoredTest) -> Option<&str> {
        if !test.needs_something() {
            return None;
        }
        let needs = Need::ALL.iter().filter(|need| need.is_for(&test.reason));
        { needs }.find_map(|need| self.missing_of(*need))
    }

    /// The variables by which tests find what is there.
    pub fn variables(&self) -> impl Iterator<Item = (&'static str, &OsStr)> {
        { self.0.iter() }
            .filter_map(|(need, found)| Some((need.variable()?, found.as_ref().ok()?.as_os_str())))
    }

    fn missing_of(&self, need: Need) -> Option<&str> {
        match self.0.get(&need) {
            None => Some("left out"),
            Some(found) => found.as_ref().err().map(String::as_str),
        }
    }
}

/// Installs all but what is compiled.
fn install_others(missing: &[Program], target: &Path) -> BTreeMap<Need, Found> {
    let of = |user| none_missing(missing, user);
    let get = |what: &str, install: fn(&Path) -> Result<PathBuf>| {
        install(target).map_err(|error| format!("needs {what}: {error:#}"))
    };
    let npm = of(User::Tests).and_then(|()| get("the npm packages", npm::install));
    // They run in its Node, or are installed by its programs.
    let with_npm = |what, install| npm.clone().and_then(|_| get(what, install));
    let lua = of(User::Lua).and_then(|()| with_npm("StyLua", lua::install));
    let is_ready = || of(User::Editors);
    let browser = is_ready().and_then(|()| of(User::Browser));
    BTreeMap::from([
        (
            Need::Claude,
            with_npm("Claude Code and opencode", npm::install_claude),
        ),
        (Need::Codex, with_npm("Codex CLI", npm::install_codex)),
        (Need::Vibe, with_npm("Mistral Vibe", vibe::install)),
        (Need::Lua, lua),
        (
            Need::Editors,
            is_ready().and_then(|()| get("the editors", editors::install)),
        ),
        (
            Need::Addons,
            is_ready().and_then(|()| get("Debian's plugins", addons::install)),
        ),
        (
            Need::Browser,
            browser.and_then(|()| with_npm("what drives the browser", npm::install_browser)),
        ),
        (Need::Ssh, of(User::Ssh).map(|()| PathBuf::new())),
        (Need::VsCode, with_npm("VS Code", npm::install_vscode)),
        (Need::Npm, npm),
    ])
}

/// Waits for the other run that installs into this folder. A folder that cannot be locked is not waited for: installing says
/// why it cannot be written.
fn lock(folder: &Path) -> Option<File> {
    let file = File::create(folder.join("installing")).ok()?;
    file.lock().ok()?;
    Some(file)
}
