//! The editors that tests run: those of Debian's stable release and of its unstable one beside each other, and the
//! oldest Emacs that is supported, which only Ubuntu still has; unpacked below the target folder. Apt is asked for them in a folder of its own, so that it needs no rights and
//! leaves the machine's packages alone.

pub mod apt;
pub mod unpack;

use std::fs;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::thread;

use anyhow::{Context, Result, ensure};

use self::apt::{Apt, Package};

/// The Debian archive that this machine's packages come from.
pub fn archive() -> String {
    apt::archive()
}

/// Debian's releases: what people have who keep to the stable one, and the newest of everything. The latter moves, so
/// that a version there may be newer than the one that tests were last seen to pass with.
pub const STABLE: &str = "trixie";
const UNSTABLE: &str = "sid";

/// Ubuntu's release with Emacs 29, until 2029. Debian's stable one has the keys that its lists are signed with.
const UBUNTU: &str = "noble";
const UBUNTU_KEYRING: [&str; 2] = [
    "ubuntu-archive-keyring",
    "usr/share/keyrings/ubuntu-archive-keyring.gpg",
];

/// One program of an editor, of one release.
#[derive(Debug, Clone, Copy)]
struct Editor {
    /// Its name for people, and for tests that need it in `#[ignore = "needs …"]`.
    name: &'static str,
    /// The release of Debian's or Ubuntu's.
    suite: &'static str,
    package: &'static str,
    /// Its program, in the folder of the suite.
    program: &'static str,
    /// The option that it answers with its version.
    version_option: &'static str,
    /// The version that tests are written for, or a newer one.
    version: [u32; 2],
}

const EDITORS: [Editor; 16] = [
    neovim(STABLE, [0, 10]),
    neovim(UNSTABLE, [0, 12]),
    vim(STABLE, [9, 1]),
    vim(UNSTABLE, [9, 2]),
    helix(STABLE, [25, 1]),
    helix(UNSTABLE, [25, 7]),
    kate(STABLE, [25, 4]),
    kate(UNSTABLE, [26, 8]),
    kakoune(STABLE, [2024, 5]),
    kakoune(UNSTABLE, [2026, 5]),
    emacs(UBUNTU, [29, 3]),
    emacs(STABLE, [30, 1]),
    emacs(UNSTABLE, [30, 2]),
    emacsclient(UBUNTU, [29, 3]),
    emacsclient(STABLE, [30, 1]),
    emacsclient(UNSTABLE, [30, 2]),
];

const fn neovim(suite: &'static str, version: [u32; 2]) -> Editor {
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
const fn vim(suite: &'static str, version: [u32; 2]) -> Editor {
    Editor {
        name: "Vim",
        suite,
        package: "vim",
        program: "usr/bin/vim.basic",
        version_option: "--version",
        version,
    }
}

/// Its program is what `usr/bin/hx` leads to. Its runtime folder lies beside it.
const fn helix(suite: &'static str, version: [u32; 2]) -> Editor {
    Editor {
        name: "Helix",
        suite,
        package: "hx",
        program: "usr/lib/hx/hx",
        version_option: "--version",
        version,
    }
}

const fn kate(suite: &'static str, version: [u32; 2]) -> Editor {
    Editor {
        name: "Kate",
        suite,
        package: "kate",
        program: "usr/bin/kate",
        version_option: "--version",
        version,
    }
}

/// Its scripts lie beside it, where it looks for them. Debian builds some without their number.
const fn kakoune(suite: &'static str, version: [u32; 2]) -> Editor {
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
const fn emacs(suite: &'static str, version: [u32; 2]) -> Editor {
    Editor {
        name: "Emacs",
        suite,
        package: "emacs-nox",
        program: "usr/bin/emacs-nox",
        version_option: "--version",
        version,
    }
}

const fn emacsclient(suite: &'static str, version: [u32; 2]) -> Editor {
    Editor {
        name: "Emacs",
        suite,
        package: "emacs-bin-common",
        program: "usr/bin/emacsclient.emacs",
        version_option: "--version",
        version,
    }
}

/// Packages of Emacs: what people add to it. Both of Debian's releases have them.
const ADDITIONS: [&str; 6] = [
    "eat",
    "evil",
    "flycheck",
    "lsp-mode",
    "package-lint",
    "vterm",
];

/// The packages that Debian installs with an editor, and tests are better off without: Emacs 30 compiles the libraries that it
/// finds the source of, some before it has read a setting, and a test's home keeps none of that.
const UNWANTED: [&str; 1] = ["emacs-el"];

/// In the folder of a suite: what is installed there. Written last.
const STAMP: &str = "installed";

/// Returns true if a test that is ignored for this reason needs an editor.
pub fn are_needed(reason: &str) -> bool {
    EDITORS.iter().any(|editor| reason.contains(editor.name))
}

/// Installs them into `editors/SUITE/` in `target_dir`, unless they are there already. The folder
/// `editors`: what `PILLION_TEST_EDITORS` is set to for tests.
///
/// # Errors
/// If an editor cannot be had, or is another version than the tests are written for.
pub fn install(target_dir: &Path) -> Result<PathBuf> {
    let folder = target_dir.join("editors");
    fs::create_dir_all(&folder).with_context(|| format!("cannot make {}", folder.display()))?;
    // Through links: work trees may share one.
    let folder = fs::canonicalize(folder)?;
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
                Ok(done) => done.with_context(|| format!("cannot install those of {suite}"))?,
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
    let additions = match suite {
        UBUNTU => &[][..],
        _ => &ADDITIONS,
    };
    let stamp = folder.join(STAMP);
    // With the folder: programs have the paths of their libraries, and a copy elsewhere would
    // still look here.
    let wanted = format!(
        "{} {editors:?} {additions:?} {UNWANTED:?}\n",
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
    let apt = match suite {
        UBUNTU => Apt::ubuntu(suite, &ubuntu_keyring(folder)?, &folder.join("apt"))?,
        _ => Apt::debian(suite, &folder.join("apt"))?,
    };
    let packages = editors.iter().map(|editor| editor.package.to_owned());
    let additions = additions.iter().map(|it| format!("elpa-{it}"));
    let packages: Vec<String> = packages.chain(additions).collect();
    let packages = apt.download(&packages)?;
    for package in &packages {
        if !UNWANTED.contains(&package.name.as_str()) {
            unpack::unpack(&package.file, folder)?;
        }
    }
    apt.remove()?;
    unpack::move_library_paths(folder)?;
    for editor in editors {
        let program = folder.join(editor.program);
        unpack::use_libraries_of(folder, &program)?;
        check_start(editor, folder, &program)?;
        check_version(editor, &packages)?;
    }
    fs::write(&stamp, wanted).with_context(|| format!("cannot write {}", stamp.display()))
}

/// The keys of Ubuntu's archive, unpacked into `folder`.
fn ubuntu_keyring(folder: &Path) -> Result<PathBuf> {
    let [package, keyring] = UBUNTU_KEYRING;
    let apt = Apt::debian(STABLE, &folder.join("apt-debian"))?;
    for it in apt.download(&[package.to_owned()])? {
        unpack::unpack(&it.file, folder)?;
    }
    apt.remove()?;
    Ok(folder.join(keyring))
}

/// Fails if it does not run where it lies now.
fn check_start(editor: Editor, folder: &Path, program: &Path) -> Result<()> {
    let mut command = Command::new(program);
    // One with windows needs somewhere to put them.
    command.env("QT_QPA_PLATFORM", "offscreen");
    command.env(
        "QT_PLUGIN_PATH",
        unpack::libraries(folder)?.join("qt6/plugins"),
    );
    run(command.arg(editor.version_option).env("LANG", "C.UTF-8")).map(drop)
}

/// By its package: some programs do not know their own.
fn check_version(editor: Editor, packages: &[Package]) -> Result<()> {
    let package = packages.iter().find(|it| it.name == editor.package);
    let package = package.with_context(|| format!("there is no package {}", editor.package))?;
    let version = numbers(&package.version);
    ensure!(
        version.is_some_and(|version| version >= editor.version),
        "the tests expect {} {:?} or a newer one, but {} has {}: change it in xtask/src/editors.rs",
        editor.name,
        editor.version,
        editor.suite,
        package.version,
    );
    if editor.suite == UNSTABLE && version != Some(editor.version) {
        let _ = writeln!(
            io::stderr(),
            "note: Debian {} has {} {} now; the tests were written for {:?}",
            editor.suite,
            editor.name,
            package.version,
            editor.version,
        );
    }
    Ok(())
}

/// The first two numbers of a version of Debian's, such as `2:9.2.0858-1`.
fn numbers(version: &str) -> Option<[u32; 2]> {
    let version = version
        .split_once(':')
        .map_or(version, |(_epoch, version)| version);
    let mut numbers = version.split(|it: char| !it.is_ascii_digit());
    Some([numbers.next()?.parse().ok()?, numbers.next()?.parse().ok()?])
}

/// Runs it to its end. Returns what it printed.
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_are_their_first_two_numbers() {
        for (version, expected) in [
            ("0.12.4-1", Some([0, 12])),
            ("2:9.2.0858-1", Some([9, 2])),
            ("4:26.08.2-1", Some([26, 8])),
            ("1:30.2+1-11", Some([30, 2])),
            ("25.07.1+20260723+ds-3", Some([25, 7])),
            ("31-1", Some([31, 1])),
            ("trixie", None),
            ("", None),
        ] {
            assert_eq!(numbers(version), expected, "{version}");
        }
        assert!(numbers("0.13.0~rc1-1") > Some([0, 12]));
        assert!(numbers("1.0-1") > Some([0, 12]));
    }
}
