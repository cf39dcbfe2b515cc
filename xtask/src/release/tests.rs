//! A release, in a clone of this repository.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on says where")]

use std::path::Path;

use serde_json::Value;

use super::*;

const CHANGE: &str = "- A change of the test.\n";

const ADDRESS: &str = "https://forge.invalid/people/pillion";

/// A clone that has an address.
fn repository() -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    let root = folder.path();
    let from = crate::root().display().to_string();
    git(root, &["clone", "--quiet", &from, "."]).unwrap();
    for (name, value) in [
        ("user.name", "A Person"),
        ("user.email", "a@person.invalid"),
    ] {
        git(root, &["config", name, value]).unwrap();
    }
    folder
}

/// Gives it an address, and a change to tell of.
fn prepare(root: &Path) {
    let changelog = read(root, CHANGELOG).unwrap();
    let (head, rest) = changelog.split_once("## [Unreleased]").unwrap();
    let (_, rest) = rest.split_once('\n').unwrap();
    let changelog = format!("{head}## [Unreleased]\n\n### Added\n\n{CHANGE}\n{rest}");
    write(root, CHANGELOG, &changelog).unwrap();
    let manifest = read(root, places::MANIFEST).unwrap();
    let old = format!("repository = {:?}", places::address(&manifest).unwrap());
    let manifest = manifest.replace(&old, &format!("repository = {ADDRESS:?}"));
    write(root, places::MANIFEST, &manifest).unwrap();
    git(root, &["commit", "--quiet", "--all", "--message", "a: b"]).unwrap();
}

#[test]
fn a_release_sets_the_version_in_every_place() {
    let folder = repository();
    let root = folder.path();
    prepare(root);
    let old = places::current(&read(root, places::MANIFEST).unwrap())
        .unwrap()
        .to_owned();
    release(root, "98.76.54", "2099-12-31").unwrap();

    assert_eq!(git(root, &["status", "--porcelain"]).unwrap(), "");
    assert_eq!(
        git(root, &["log", "-1", "--format=%s"]).unwrap(),
        "release: 98.76.54"
    );
    assert_eq!(git(root, &["describe"]).unwrap(), "v98.76.54");
    // What other tests compare with the version of the program: the plugins say no other.
    let said = git(root, &["grep", "-hF", "98.76.54", "--", "editors"]).unwrap();
    assert_eq!(said.lines().count(), 6, "{said}");
    let left = Command::new("git")
        .args(["grep", "-nwF", &old, "--", "editors", "Cargo.toml"])
        .current_dir(root)
        .output();
    assert_eq!(String::from_utf8(left.unwrap().stdout).unwrap(), "");
    let header = read(root, "editors/emacs/pillion.el").unwrap();
    let both = format!(";; Version: 98.76.54\n;; URL: {ADDRESS}\n");
    assert!(header.contains(&both) && header.matches(";; URL: ").count() == 1);

    let mut cargo = Command::new(env!("CARGO"));
    cargo.args([
        "metadata",
        "--no-deps",
        "--format-version=1",
        "--locked",
        "--offline",
    ]);
    let metadata = output(cargo.current_dir(root)).unwrap();
    let metadata: Value = serde_json::from_slice(&metadata).unwrap();
    for package in metadata["packages"].as_array().unwrap() {
        assert_eq!(package["version"], "98.76.54", "{}", package["name"]);
        for dependency in package["dependencies"].as_array().unwrap() {
            let is_ours = dependency["path"].is_string();
            assert!(!is_ours || ["^98.76.54", "*"].contains(&dependency["req"].as_str().unwrap()));
        }
    }
    let changelog = read(root, CHANGELOG).unwrap();
    assert!(
        changelog
            .contains("\n## [Unreleased]\n\n## [98.76.54] - 2099-12-31\n\n### Added\n\n- A change")
    );
    assert_eq!(changelog.matches("[Unreleased]").count(), 1);
    let notes = changelog::notes(&changelog, "98.76.54").unwrap();
    assert!(
        notes.starts_with(&format!("### Added\n\n{CHANGE}")),
        "{notes}"
    );

    // Nothing has changed since, and it is there already.
    let again = release(root, "98.76.54", "2099-12-31").unwrap_err();
    assert_eq!(again.to_string(), "v98.76.54 is there already");
    let next = release(root, "98.76.55", "2099-12-31").unwrap_err();
    assert_eq!(next.to_string(), "the section [Unreleased] has no changes");
    assert_eq!(git(root, &["status", "--porcelain"]).unwrap(), "");
}

#[test]
fn what_is_not_ready_is_not_released() {
    let folder = repository();
    let root = folder.path();
    let refused = |version: &str| {
        release(root, version, "2099-12-31")
            .unwrap_err()
            .to_string()
    };
    let manifest = read(root, places::MANIFEST).unwrap();
    if places::address(&manifest).unwrap().is_empty() {
        assert!(
            refused("98.0.0")
                .starts_with("the project has no address: set `repository` in Cargo.toml")
        );
        prepare(root);
    }
    for version in ["0.0.1", "1.2", "1.2.3-rc.1", "new", "", "--force"] {
        assert!(
            refused(version).contains("is not a version after"),
            "{version}"
        );
    }
    let tags = git(root, &["tag"]).unwrap();
    write(root, "left", "").unwrap();
    assert!(refused("98.0.0").starts_with("commit or stash first: ?? left"));
    assert_eq!(git(root, &["tag"]).unwrap(), tags);
    assert_eq!(git(root, &["diff", "--name-only"]).unwrap(), "");
}

#[test]
fn the_changelog_has_a_section_for_each_version() {
    let before =
        "# C\n\n## [Unreleased]\n\n### Added\n\n- New.\n\n## [0.9.0] - 2020-01-01\n\n- Old.\n";
    let after = changelog::released(before, "1.0.0", "2021-02-03").unwrap();
    assert_eq!(
        after,
        "# C\n\n## [Unreleased]\n\n## [1.0.0] - 2021-02-03\n\n### Added\n\n- New.\n\n## [0.9.0] - 2020-01-01\n\n- Old.\n"
    );
    assert_eq!(
        changelog::notes(&after, "1.0.0").unwrap(),
        "### Added\n\n- New.\n"
    );
    assert_eq!(changelog::notes(&after, "0.9.0").unwrap(), "- Old.\n");
    assert!(changelog::notes(&after, "0.8.0").is_err());
    assert!(changelog::released(&after, "1.1.0", "2021-02-03").is_err());
    assert!(changelog::released("# C\n", "1.1.0", "2021-02-03").is_err());
    // Until the first release, sections are days.
    let days = "# C\n\n## [Unreleased] - b\n\n- B.\n\n## [Unreleased] - a\n\n- A.\n";
    let after = changelog::released(days, "1.0.0", "d").unwrap();
    assert_eq!(
        changelog::notes(&after, "1.0.0").unwrap(),
        "- B.\n\n## Before 1.0.0 - a\n\n- A.\n"
    );
}
