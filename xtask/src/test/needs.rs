//! The needs of tests beyond Rust: installed before them, or known to be missing.

use std::ffi::OsStr;
use std::fs::File;
use std::panic::resume_unwind;
use std::path::{Path, PathBuf};
use std::thread;

use super::summary::IgnoredTest;
use crate::built::{JUJUTSU, KAK_LSP};
use crate::prerequisites::{Program, User, none_missing};
use crate::{addons, editors, lua, npm, prerequisites, target_dir, vibe};

/// The needs that are there, and in words those that are not.
#[derive(Debug)]
pub struct Needs {
    are_left_out: bool,
    /// The folder of the npm packages, with all programs that tests run.
    npm: Result<PathBuf, String>,
    /// The folder of Claude Code and opencode.
    claude: Result<PathBuf, String>,
    /// The folder of Codex CLI.
    codex: Result<PathBuf, String>,
    /// The folder of Mistral Vibe.
    vibe: Result<PathBuf, String>,
    /// The folder of the editors: not every machine can have them.
    editors: Result<PathBuf, String>,
    /// kakoune-lsp lies beside the editors.
    kak_lsp: Result<PathBuf, String>,
    /// The folder of Jujutsu, which `--all` alone builds.
    jujutsu: Result<PathBuf, String>,
    /// The folder of the plugins that Debian has for Vim and Neovim.
    addons: Result<PathBuf, String>,
    /// The checks of the Lua sources can run.
    lua: Result<(), String>,
}

impl Needs {
    /// Nothing was to be installed.
    pub fn left_out() -> Needs {
        let why = "left out".to_owned();
        Needs {
            are_left_out: true,
            npm: Err(why.clone()),
            claude: Err(why.clone()),
            codex: Err(why.clone()),
            vibe: Err(why.clone()),
            editors: Err(why.clone()),
            kak_lsp: Err(why.clone()),
            jujutsu: Err(why.clone()),
            addons: Err(why.clone()),
            lua: Err(why),
        }
    }

    /// As if all were installed.
    #[cfg(test)]
    pub fn all_there() -> Needs {
        let folder = Ok(PathBuf::new());
        Needs {
            are_left_out: false,
            npm: folder.clone(),
            claude: folder.clone(),
            codex: folder.clone(),
            vibe: folder.clone(),
            editors: folder.clone(),
            kak_lsp: folder.clone(),
            jujutsu: folder.clone(),
            addons: folder,
            lua: Ok(()),
        }
    }

    /// Installs what is missing. Two runs do not install into one folder at a time.
    pub fn install(all: bool) -> Needs {
        let missing = prerequisites::ensure();
        let target = target_dir();
        let _installing = lock(&target);
        thread::scope(|scope| {
            // They are compiled, while the others mostly wait for the network.
            let built = scope.spawn(|| {
                let jujutsu = all.then(|| JUJUTSU.install(&target));
                (KAK_LSP.install(&target), jujutsu)
            });
            let others = Needs::install_others(&missing, &target);
            let (kak_lsp, jujutsu) = built.join().unwrap_or_else(|panic| resume_unwind(panic));
            Needs {
                kak_lsp,
                jujutsu: jujutsu.unwrap_or_else(|| others.jujutsu.clone()),
                ..others
            }
        })
    }

    /// All but what is compiled.
    fn install_others(missing: &[Program], target: &Path) -> Needs {
        let npm = none_missing(missing, User::Tests).and_then(|()| {
            npm::install(target).map_err(|error| format!("needs the npm packages: {error:#}"))
        });
        let claude = npm.clone().and_then(|_| {
            npm::install_claude(target)
                .map_err(|error| format!("needs Claude Code and opencode: {error:#}"))
        });
        let codex = npm.clone().and_then(|_| {
            npm::install_codex(target).map_err(|error| format!("needs Codex CLI: {error:#}"))
        });
        let vibe = npm.clone().and_then(|_| {
            vibe::install(target).map_err(|error| format!("needs Mistral Vibe: {error:#}"))
        });
        let lua = npm.clone().map(drop).and_then(|()| {
            none_missing(missing, User::Lua)?;
            lua::install(target).map_err(|error| format!("needs StyLua: {error:#}"))
        });
        let editors = none_missing(missing, User::Editors).and_then(|()| {
            editors::install(target).map_err(|error| format!("needs the editors: {error:#}"))
        });
        let addons = none_missing(missing, User::Editors).and_then(|()| {
            addons::install(target).map_err(|error| format!("needs Debian's plugins: {error:#}"))
        });
        Needs {
            are_left_out: false,
            npm,
            claude,
            codex,
            vibe,
            editors,
            addons,
            lua,
            ..Needs::left_out()
        }
    }

    /// The first thing that is missing.
    pub fn missing(&self) -> Option<&str> {
        let folders = [
            &self.npm,
            &self.claude,
            &self.codex,
            &self.vibe,
            &self.editors,
            &self.addons,
            &self.kak_lsp,
        ];
        { folders.into_iter() }
            .find_map(|installed| installed.as_ref().err().map(String::as_str))
            .or(self.missing_for_lua())
    }

    /// Returns true if nothing was to be installed.
    pub fn are_left_out(&self) -> bool {
        self.are_left_out
    }

    /// The program that the checks of the Lua sources miss.
    pub fn missing_for_lua(&self) -> Option<&str> {
        self.lua.as_ref().err().map(String::as_str)
    }

    /// The program that this test misses.
    pub fn missing_for(&self, test: &IgnoredTest) -> Option<&str> {
        if !test.needs_something() {
            return None;
        }
        let claude = self.claude.as_ref().err();
        let editors = self.editors.as_ref().err();
        let missing = self.npm.as_ref().err();
        let missing = missing.or(claude.filter(|_| npm::is_claude_needed(&test.reason)));
        let codex = self.codex.as_ref().err();
        let missing = missing.or(codex.filter(|_| npm::is_codex_needed(&test.reason)));
        let vibe = self.vibe.as_ref().err();
        let missing = missing.or(vibe.filter(|_| vibe::is_needed(&test.reason)));
        let missing = missing.or(editors.filter(|_| editors::are_needed(&test.reason)));
        let kak_lsp = self.kak_lsp.as_ref().err();
        let missing = missing.or(kak_lsp.filter(|_| KAK_LSP.is_needed(&test.reason)));
        let jujutsu = self.jujutsu.as_ref().err();
        let missing = missing.or(jujutsu.filter(|_| JUJUTSU.is_needed(&test.reason)));
        let addons = self.addons.as_ref().err();
        let missing = missing.or(addons.filter(|_| addons::are_needed(&test.reason)));
        missing.map(String::as_str)
    }

    /// The variables by which tests find what is there.
    pub fn variables(&self) -> Vec<(&'static str, &OsStr)> {
        [
            ("PILLION_TEST_NPM", &self.npm),
            ("PILLION_TEST_CLAUDE", &self.claude),
            ("PILLION_TEST_CODEX", &self.codex),
            ("PILLION_TEST_VIBE", &self.vibe),
            ("PILLION_TEST_EDITORS", &self.editors),
            ("PILLION_TEST_ADDONS", &self.addons),
            ("PILLION_TEST_JUJUTSU", &self.jujutsu),
        ]
        .into_iter()
        .filter_map(|(name, folder)| Some((name, folder.as_ref().ok()?.as_os_str())))
        .collect()
    }
}

/// Waits for the other run that installs into this folder. A folder that cannot be locked is not waited for: installing says
/// why it cannot be written.
fn lock(folder: &Path) -> Option<File> {
    let file = File::create(folder.join("installing")).ok()?;
    file.lock().ok()?;
    Some(file)
}
