//! The editors that tests run: Debian's, of several releases beside each other, unpacked below the
//! target folder. Apt is asked for them in a folder of its own, so that it needs no rights and
//! leaves the machine's packages alone.

mod apt;
mod emacs;
mod unpack;

use std::fs;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::thread;

use anyhow::{Context, Result, ensure};

use self::apt::Apt;

/// One editor of one Debian release.
#[derive(Debug, Clone, Copy)]
struct Editor {
    /// What people call it, and what tests that need it say in `#[ignore = "needs …"]`.
    name: &'static str,
    /// The Debian release.
    suite: &'static str,
    package: &'static str,
    /// Its program, in the folder of the suite.
    program: &'static str,
    /// The option that it answers with its version.
    version_option: &'static str,
    /// How the first line of that answer starts.
    version: &'static str,
}

const EDITORS: [Editor; 12] = [
    neovim("bookworm", "NVIM v0.7.2"),
    neovim("trixie", "NVIM v0.10."),
    vim("bookworm", "VIM - Vi IMproved 9.0 "),
    vim("trixie", "VIM - Vi IMproved 9.1 "),
    Editor {
        name: "Helix",
        suite: "trixie",
        package: "hx",
        // What `usr/bin/hx` leads to. Its runtime folder lies beside it.
        program: "usr/lib/hx/hx",
        version_option: "--version",
        version: "helix 25.01",
    },
    Editor {
        name: "Kate",
        suite: "trixie",
        package: "kate",
        program: "usr/bin/kate",
        version_option: "--version",
        version: "kate 25.04.",
    },
    kakoune("bookworm", "Kakoune unknown"),
    kakoune("trixie", "Kakoune "),
    emacs("bookworm", "GNU Emacs 28.2"),
    emacs("trixie", "GNU Emacs 30.1"),
    emacsclient("bookworm", "emacsclient 28.2"),
    emacsclient("trixie", "emacsclient 30.1"),
];

const fn neovim(suite: &'static str, version: &'static str) -> Editor {
    Editor {
        name: "Neovim",
        suite,
        package: "neovim",
        program: "usr/bin/nvim",
        version_option: "--version",
        version,
    }
}

/// Debian's plain one: a huge build without a GUI or Python, with channels, jobs and terminals.
const fn vim(suite: &'static str, version: &'static str) -> Editor {
    Editor {
        name: "Vim",
        suite,
        package: "vim",
        program: "usr/bin/vim.basic",
        version_option: "--version",
        version,
    }
}

/// Its scripts lie beside it, where it looks for them. Debian builds it without its number: 2022.10.31 of bookworm,
/// 2024.05.18 of trixie.
const fn kakoune(suite: &'static str, version: &'static str) -> Editor {
    Editor {
        name: "Kakoune",
        suite,
        package: "kakoune",
        program: "usr/bin/kak",
        version_option: "-version",
        version,
    }
}

/// Without a window system. It finds its own files by what `crates/testkit` puts into its environment.
const fn emacs(suite: &'static str, version: &'static str) -> Editor {
    Editor {
        name: "Emacs",
        suite,
        package: "emacs-nox",
        program: "usr/bin/emacs-nox",
        version_option: "--version",
        version,
    }
}

const fn emacsclient(suite: &'static str, version: &'static str) -> Editor {
    Editor {
        name: "Emacs",
        suite,
        package: "emacs-bin-common",
        program: "usr/bin/emacsclient.emacs",
        version_option: "--version",
        version,
    }
}

/// What people add to one of them.
#[derive(Debug, Clone, Copy)]
struct Addition {
    suite: &'static str,
    package: &'static str,
    /// Its folder, in the suite's for Emacs's packages, with its version.
    folder: &'static str,
}

/// Bookworm has no eat.
const ADDITIONS: [Addition; 9] = [
    emacs_lisp("bookworm", "elpa-evil", "evil-1.14.2"),
    emacs_lisp("bookworm", "elpa-flycheck", "flycheck-32snapshot"),
    emacs_lisp("bookworm", "elpa-vterm", "vterm-0.0.2"),
    emacs_lisp("trixie", "elpa-eat", "eat-0.9.4"),
    emacs_lisp("trixie", "elpa-evil", "evil-1.14.2"),
    emacs_lisp("trixie", "elpa-flycheck", "flycheck-35.0"),
    emacs_lisp("trixie", "elpa-lsp-mode", "lsp-mode-9.0.0"),
    emacs_lisp("trixie", "elpa-package-lint", "package-lint-0.26"),
    emacs_lisp("trixie", "elpa-vterm", "vterm-0.0.2"),
];

/// Where Debian puts Emacs's packages.
const EMACS_LISP: &str = "usr/share/emacs/site-lisp/elpa-src";

/// A package of Emacs.
const fn emacs_lisp(suite: &'static str, package: &'static str, folder: &'static str) -> Addition {
    Addition {
        suite,
        package,
        folder,
    }
}

/// What Debian installs with an editor, and tests are better off without: Emacs 30 compiles the libraries that it
/// finds the source of, some before it has read a setting, and a test's home keeps none of that.
const UNWANTED: [(&str, &str); 1] = [("trixie", "emacs-el")];

/// Emacs 28 does not start without its sources. What it would compile at each start is compiled once, beside it.
const COMPILED: [(&str, &str); 1] = [("bookworm", "term/xterm.el.gz")];

/// In the folder of a suite: what is installed there. Written last.
const STAMP: &str = "installed";

/// Whether a test that is ignored for this reason needs an editor.
pub fn are_needed(reason: &str) -> bool {
    EDITORS.iter().any(|editor| reason.contains(editor.name))
}

/// Installs them into `editors/SUITE/` in `target_dir`, unless they are there already. The folder
/// `editors`: what `PILLION_TEST_EDITORS` is set to for tests.
///
/// # Errors
/// If an editor cannot be had, or is another version than the tests are written for.
pub fn install(target_dir: &Path) -> Result<PathBuf> {
    let folder = std::path::absolute(target_dir.join("editors"))?;
    let mut suites: Vec<&str> = EDITORS.iter().map(|editor| editor.suite).collect();
    suites.sort_unstable();
    suites.dedup();
    thread::scope(|scope| {
        let installing: Vec<_> = suites
            .iter()
            .map(|suite| {
                let folder = folder.join(suite);
                let install = scope.spawn(move || install_suite(suite, &folder));
                (suite, install)
            })
            .collect();
        for (suite, install) in installing {
            match install.join() {
                Ok(done) => {
                    done.with_context(|| format!("cannot install those of Debian {suite}"))?
                }
                Err(panic) => std::panic::resume_unwind(panic),
            }
        }
        Ok(folder)
    })
}

fn install_suite(suite: &str, folder: &Path) -> Result<()> {
    let editors: Vec<Editor> = EDITORS
        .into_iter()
        .filter(|editor| editor.suite == suite)
        .collect();
    let additions: Vec<Addition> = ADDITIONS
        .into_iter()
        .filter(|addition| addition.suite == suite)
        .collect();
    let stamp = folder.join(STAMP);
    // With the folder: programs have the paths of their libraries, and a copy elsewhere would
    // still look here.
    let wanted = format!(
        "{} {editors:?} {additions:?} {UNWANTED:?} {COMPILED:?}\n",
        folder.display()
    );
    if fs::read(&stamp).is_ok_and(|installed| installed == wanted.as_bytes()) {
        return Ok(());
    }
    // All of it: what an interrupted installation left would be taken for installed.
    if folder.exists() {
        fs::remove_dir_all(folder)
            .with_context(|| format!("cannot remove {}", folder.display()))?;
    }
    let apt = Apt::new(suite, &folder.join("apt"))?;
    let packages = editors.iter().map(|editor| editor.package);
    let packages: Vec<&str> = packages
        .chain(additions.iter().map(|addition| addition.package))
        .collect();
    for package in apt.download(&packages)? {
        let file = package.file_name().unwrap_or_default().to_string_lossy();
        let name = file.split('_').next().unwrap_or_default();
        if !UNWANTED.contains(&(suite, name)) {
            unpack::unpack(&package, folder)?;
        }
    }
    apt.remove()?;
    unpack::move_library_paths(folder)?;
    for editor in editors {
        let program = folder.join(editor.program);
        unpack::use_libraries_of(folder, &program)?;
        check_version(editor, folder, &program)?;
    }
    for (_, library) in COMPILED.iter().filter(|(of, _)| *of == suite) {
        // It needs the system's linker, and a GCC of its release.
        if let Err(error) = emacs::compile(folder, library) {
            let _ = writeln!(
                io::stderr(),
                "note: {library} was not compiled, so that each start of Emacs 28 takes three seconds longer: {error:#}"
            );
        }
    }
    for addition in additions {
        ensure!(
            folder.join(EMACS_LISP).join(addition.folder).is_dir(),
            "the tests expect {}, but {} of Debian {suite} has another version now: change it in \
             xtask/src/editors.rs",
            addition.folder,
            addition.package,
        );
    }
    fs::write(&stamp, wanted).with_context(|| format!("cannot write {}", stamp.display()))
}

/// Debian moves a release by point releases alone, so another version means another suite.
fn check_version(editor: Editor, folder: &Path, program: &Path) -> Result<()> {
    let mut command = Command::new(program);
    // One with windows needs somewhere to put them.
    command.env("QT_QPA_PLATFORM", "offscreen");
    command.env(
        "QT_PLUGIN_PATH",
        unpack::libraries(folder)?.join("qt6/plugins"),
    );
    let output = run(command.arg(editor.version_option).env("LANG", "C.UTF-8"))?;
    let answer = String::from_utf8_lossy(&output).into_owned();
    let first = answer.lines().next().unwrap_or_default();
    ensure!(
        first.starts_with(editor.version),
        "the tests expect {:?}, but {} answers {first:?}: if Debian {} has another version now, \
         change it in xtask/src/editors.rs",
        editor.version,
        program.display(),
        editor.suite,
    );
    Ok(())
}

/// Runs it to its end. What it printed.
fn run(command: &mut Command) -> Result<Vec<u8>> {
    let name = command.get_program().display().to_string();
    let output = command
        .output()
        .with_context(|| format!("{name} did not start"))?;
    ensure!(
        output.status.success(),
        "{command:?} failed ({}): {}",
        output.status,
        String::from_utf8_lossy(&output.stderr).trim()
    );
    Ok(output.stdout)
}
