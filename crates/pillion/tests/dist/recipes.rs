//! The recipes of other package managers, as they are filled in: complete, and read by what reads such files.

use std::fs;
use std::path::PathBuf;
use std::process::Command;

use pillion_text::fingerprint;

use crate::bare::{VERSION, artifact, artifacts, target};

fn recipe(name: &str) -> (PathBuf, String) {
    let path = artifacts().join("recipes").join(name);
    let text = fs::read_to_string(&path).unwrap();
    (path, text)
}

#[test]
#[ignore = "needs the artifacts: cargo xtask test --only dist"]
fn they_have_version_and_checksums() {
    let archive = artifact(&format!("pillion-{VERSION}-{}", target()), ".tar.gz");
    let sum = fingerprint::hash(&fs::read(archive).unwrap());
    for name in ["pillion.rb", "PKGBUILD", "mise.toml"] {
        let (_, text) = recipe(name);
        assert!(
            text.contains(&sum) && text.contains(VERSION),
            "{name}: {text}"
        );
        let left: Vec<_> = text
            .split('@')
            .filter(|it| *it == "VERSION" || *it == "REPOSITORY")
            .collect();
        assert!(left.is_empty(), "{name}: {left:?}");
    }
    let (_, installer) = (
        0,
        fs::read_to_string(artifacts().join("install.sh")).unwrap(),
    );
    assert!(installer.contains(&format!("VERSION='{VERSION}'")));
}

#[test]
#[ignore = "needs the artifacts: cargo xtask test --only dist"]
fn their_syntax_is_right() {
    let installer = artifacts().join("install.sh");
    let launcher = concat!(
        env!("CARGO_MANIFEST_DIR"),
        "/../../packaging/npm/pillion.js"
    );
    for (program, options, file) in [
        ("ruby", &["-c"][..], recipe("pillion.rb").0),
        ("bash", &["-n"], recipe("PKGBUILD").0),
        (
            "shellcheck",
            &["--shell=bash", "--exclude=SC2034,SC2154,SC2164"],
            recipe("PKGBUILD").0,
        ),
        ("shellcheck", &[], installer.clone()),
        ("dash", &["-n"], installer),
        ("node", &["--check"], launcher.into()),
    ] {
        let output = Command::new(program)
            .args(options)
            .arg(&file)
            .output()
            .unwrap();
        let said = String::from_utf8_lossy(&output.stdout);
        let errors = String::from_utf8_lossy(&output.stderr);
        assert!(
            output.status.success(),
            "{program} {}: {said}{errors}",
            file.display()
        );
    }
    let (_, mise) = recipe("mise.toml");
    let mise: toml_edit::DocumentMut = mise.parse().unwrap();
    assert_eq!(
        mise["tools"]["http:pillion"]["version"].as_str(),
        Some(VERSION)
    );
}
