//! The tarball: what is in it, and that its program runs where there is nothing else.

use std::fs;
use std::io::{BufRead, BufReader};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use pillion_text::fingerprint;
use serde_json::Value;

use crate::bare::{VERSION, artifact, artifacts, target, unpacked};

fn archives() -> Vec<PathBuf> {
    let entries = fs::read_dir(artifacts())
        .unwrap()
        .map(|it| it.unwrap().path());
    let archives: Vec<_> = entries
        .filter(|it| it.to_str().unwrap().ends_with(".tar.gz"))
        .collect();
    assert!(!archives.is_empty());
    archives
}

#[test]
#[ignore = "needs the artifacts: cargo xtask test --only dist"]
fn every_archive_has_all_that_it_is_to_have() {
    for archive in archives() {
        let folder = unpacked(&archive);
        let name = archive
            .file_name()
            .unwrap()
            .to_str()
            .unwrap()
            .strip_suffix(".tar.gz")
            .unwrap();
        assert!(name.starts_with(&format!("pillion-{VERSION}-")), "{name}");
        let inner = folder.path().join(name);
        let text = |path: &str| {
            let path = inner.join(path);
            fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
        };
        let program = if name.contains("windows") {
            "pillion.exe"
        } else {
            "pillion"
        };
        let mode = fs::metadata(inner.join(program))
            .unwrap()
            .permissions()
            .mode();
        assert_eq!(mode & 0o777, 0o755);
        assert!(text("man/man1/pillion.1").contains(".TH pillion 1"));
        assert!(text("man/man1/pillion-install.1").contains(".TH pillion-install 1"));
        for file in ["pillion.bash", "pillion.fish", "_pillion", "pillion.ps1"] {
            assert!(
                text(&format!("completions/{file}")).contains("review-mode"),
                "{file}"
            );
        }
        for file in [
            "nvim/plugin/pillion.lua",
            "nvim/doc/tags",
            "vim/plugin/pillion.vim",
            "emacs/pillion-autoloads.el",
            "kakoune/pillion.kak",
        ] {
            assert!(!text(&format!("plugins/{file}")).is_empty());
        }
        for file in ["LICENSE-MIT", "LICENSE-APACHE", "README.md", "CHANGELOG.md"] {
            let own = Path::new(env!("CARGO_MANIFEST_DIR"))
                .join("../..")
                .join(file);
            assert!(text(file) == fs::read_to_string(own).unwrap(), "{file}");
        }
        let others = text("THIRD-PARTY.md");
        for named in [
            "- tokio 1.",
            "- ratatui 0.",
            "Rich Felker",
            "# Syntaxes",
            "Permission is hereby granted",
        ] {
            assert!(others.contains(named), "{named}");
        }
        // Only built with, or tested with.
        for other in ["- proptest ", "- clap_derive ", "- insta ", "- pillion"] {
            assert!(!others.contains(other), "{other}");
        }
    }
}

#[test]
#[ignore = "needs the artifacts: cargo xtask test --only dist"]
fn no_archive_names_the_machine_that_made_it() {
    let home = std::env::home_dir().unwrap();
    let root = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("../..")
        .canonicalize()
        .unwrap();
    for archive in archives() {
        let folder = unpacked(&archive);
        for word in [home.join(".cargo"), root.clone()] {
            let mut grep = Command::new("grep");
            grep.args(["-rlF"]).arg(&word).arg(folder.path());
            let found = String::from_utf8(grep.output().unwrap().stdout).unwrap();
            assert_eq!(found, "", "{}", word.display());
        }
    }
}

/// Whoever downloads the installer and the sums can check everything else.
#[test]
#[ignore = "needs the artifacts: cargo xtask test --only dist"]
fn the_sums_are_those_of_all_files() {
    let sums = fs::read_to_string(artifacts().join("SHA256SUMS")).unwrap();
    let mut checked = Command::new("sha256sum");
    checked.args(["--check", "--strict", "--quiet", "SHA256SUMS"]);
    assert!(checked.current_dir(artifacts()).status().unwrap().success());
    for entry in fs::read_dir(artifacts()).unwrap().map(|it| it.unwrap()) {
        let name = entry.file_name().into_string().unwrap();
        if entry.path().is_file() && name != "SHA256SUMS" {
            let line = format!(
                "{}  {name}\n",
                fingerprint::hash(&fs::read(entry.path()).unwrap())
            );
            assert!(sums.contains(&line), "{line}");
        }
    }
}

/// There is nothing else in its root: no library, no shell, no `/proc`, no `/dev`.
#[test]
#[ignore = "needs the artifacts: cargo xtask test --only dist"]
fn the_static_program_runs_in_an_empty_folder() {
    let name = format!("pillion-{VERSION}-{}", target());
    let folder = unpacked(&artifact(&name, ".tar.gz"));
    let root = tempfile::tempdir().unwrap();
    fs::copy(
        folder.path().join(name).join("pillion"),
        root.path().join("pillion"),
    )
    .unwrap();
    let run = |words: &[&str]| {
        let mut chroot = Command::new("/usr/sbin/chroot");
        chroot.arg(root.path()).arg("/pillion").args(words);
        chroot.env_clear().env("HOME", "/").stdin(Stdio::null());
        chroot
    };
    let printed = |words: &[&str]| {
        let output = run(words).output().unwrap();
        let said = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "{words:?}: {said}");
        String::from_utf8(output.stdout).unwrap()
    };
    assert_eq!(printed(&["--version"]), format!("pillion {VERSION}\n"));
    assert!(printed(&["man"]).contains(".TH pillion 1"));
    assert_eq!(printed(&["list", "--json"]), "[]\n");

    fs::create_dir(root.path().join("project")).unwrap();
    fs::create_dir(root.path().join("tmp")).unwrap();
    let mut serve = run(&["serve", "--workspace", "/project"])
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut ready = String::new();
    BufReader::new(serve.stdout.take().unwrap())
        .read_line(&mut ready)
        .unwrap();
    let ready: Value = serde_json::from_str(&ready).unwrap();
    assert!(
        ready["port"].as_u64().is_some_and(|port| port > 0),
        "{ready}"
    );
    let listed = printed(&["list", "--json"]);
    assert!(listed.contains("/project"), "{listed}");
    let pid = rustix::process::Pid::from_child(&serve);
    rustix::process::kill_process(pid, rustix::process::Signal::TERM).unwrap();
    assert!(serve.wait().unwrap().success());
}

/// The word of this size in an ELF file.
fn number(bytes: &[u8], at: usize, size: usize) -> usize {
    bytes[at..at + size]
        .iter()
        .rev()
        .fold(0, |number, byte| (number << 8) | usize::from(*byte))
}

/// It names no loader, and so no libraries; and it is for the processor that the archive says.
#[test]
#[ignore = "needs the artifacts: cargo xtask test --only dist"]
fn every_program_for_linux_is_static() {
    const INTERPRETER: usize = 3;
    let mut seen = 0;
    for archive in archives() {
        let name = archive
            .file_name()
            .unwrap()
            .to_str()
            .unwrap()
            .strip_suffix(".tar.gz")
            .unwrap();
        if !name.ends_with("-linux-musl") {
            continue;
        }
        let folder = unpacked(&archive);
        let program = fs::read(folder.path().join(name).join("pillion")).unwrap();
        assert_eq!(program[..5], *b"\x7fELF\x02", "{name}");
        let machine = if name.contains("aarch64") { 183 } else { 62 };
        assert_eq!(number(&program, 18, 2), machine, "{name}");
        let (start, size, count) = (
            number(&program, 32, 8),
            number(&program, 54, 2),
            number(&program, 56, 2),
        );
        assert!(count > 2, "{name}");
        for header in 0..count {
            assert_ne!(
                number(&program, start + header * size, 4),
                INTERPRETER,
                "{name}"
            );
        }
        seen += 1;
    }
    assert!(seen > 0);
}
