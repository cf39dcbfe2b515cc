//! The crates that are published on crates.io: every one that people build with, whole, and with what they read about it.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on says where")]

use std::collections::BTreeSet;
use std::path::Path;
use std::process::Command;

use serde_json::Value;

const ROOT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/..");

fn output(command: &mut Command) -> String {
    let output = command.current_dir(ROOT).output().unwrap();
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{command:?}: {said}");
    String::from_utf8(output.stdout).unwrap()
}

fn cargo(arguments: &[&str]) -> String {
    output(Command::new(env!("CARGO")).args(arguments))
}

/// The crates that are published: all but those for tests and chores.
fn published() -> Vec<Value> {
    let metadata = cargo(&[
        "metadata",
        "--format-version=1",
        "--no-deps",
        "--locked",
        "--offline",
    ]);
    let metadata: Value = serde_json::from_str(&metadata).unwrap();
    let packages = metadata["packages"].as_array().unwrap().iter();
    // An empty list of registries is `publish = false`.
    let published: Vec<_> = packages
        .filter(|it| it["publish"].is_null())
        .cloned()
        .collect();
    assert!(published.len() > 10);
    published
}

#[test]
fn every_crate_says_what_people_look_for() {
    let published = published();
    for package in &published {
        let name = package["name"].as_str().unwrap();
        for field in [
            "description",
            "license",
            "readme",
            "repository",
            "rust_version",
        ] {
            assert!(package[field].is_string(), "{name} has no {field}");
        }
        let license = package["license"].as_str().unwrap();
        assert_eq!(license, "MIT OR Apache-2.0", "{name}");
        let keywords: Vec<_> = package["keywords"].as_array().unwrap().iter().collect();
        assert!((3..=5).contains(&keywords.len()), "{name}: {keywords:?}");
        assert!(
            !package["categories"].as_array().unwrap().is_empty(),
            "{name}"
        );
        let version = package["version"].as_str().unwrap();
        assert_eq!(version, env!("CARGO_PKG_VERSION"), "{name}");
        // crates.io has no other crates of ours, and takes only numbers.
        for dependency in package["dependencies"].as_array().unwrap() {
            let on = dependency["name"].as_str().unwrap();
            let is_ours = dependency["path"].is_string();
            let is_published = published.iter().any(|it| it["name"] == on);
            let has_number = dependency["req"] != "*";
            let is_for_tests = dependency["kind"] == "dev";
            assert!(
                !is_ours || is_for_tests || is_published,
                "{name} needs {on}"
            );
            assert!(
                has_number || (is_ours && is_for_tests),
                "{name} takes any {on}"
            );
            assert!(
                !is_ours || is_published || !has_number,
                "{name} tests with {on}"
            );
        }
    }
}

#[test]
fn every_package_is_whole() {
    let tracked = output(Command::new("git").args(["ls-files", "editors"]));
    let plugins: BTreeSet<&str> = tracked.lines().collect();
    assert!(plugins.len() > 100);
    for package in published() {
        let name = package["name"].as_str().unwrap();
        let arguments = [
            "package",
            "--list",
            "--allow-dirty",
            "--offline",
            "--package",
            name,
        ];
        let listed = cargo(&arguments);
        let files: BTreeSet<String> = listed.lines().map(|it| it.replace('\\', "/")).collect();
        let has = |file: &str| files.contains(file);
        for file in ["Cargo.toml", "README.md", "LICENSE-MIT", "LICENSE-APACHE"] {
            assert!(has(file), "{name} has no {file}");
        }
        let sources = output(
            Command::new("git").args([
                "ls-files",
                Path::new(package["manifest_path"].as_str().unwrap())
                    .with_file_name("src")
                    .to_str()
                    .unwrap(),
            ]),
        );
        for source in sources.lines() {
            let (_, source) = source.split_once("/src/").unwrap();
            assert!(has(&format!("src/{source}")), "{name} has no src/{source}");
        }
        let is_the_program = name == "pillion";
        for plugin in plugins.iter().filter(|_| is_the_program) {
            assert!(has(plugin), "{name} has no {plugin}");
        }
        let foreign = |file: &&String| {
            let hidden = file.starts_with('.') && *file != ".cargo_vcs_info.json";
            hidden || file.ends_with(".snap.new") || file.starts_with("target")
        };
        let foreign: Vec<_> = files.iter().filter(foreign).collect();
        assert!(foreign.is_empty(), "{name}: {foreign:?}");
    }
}

/// The licence is packed, not a link to it.
#[test]
fn the_licences_of_every_crate_are_the_projects() {
    for package in published() {
        let manifest = Path::new(package["manifest_path"].as_str().unwrap());
        for file in ["LICENSE-MIT", "LICENSE-APACHE"] {
            let own = std::fs::read(manifest.with_file_name(file)).unwrap();
            assert_eq!(own, std::fs::read(Path::new(ROOT).join(file)).unwrap());
        }
    }
}

/// Words that stand for an address, and packages in registries: there is neither before the first release.
#[test]
fn no_page_holds_what_is_yet_to_come() {
    if !env!("CARGO_PKG_REPOSITORY").is_empty() {
        return;
    }
    let tracked = output(Command::new("git").args(["ls-files"]));
    for file in tracked.lines().filter(|file| !file.ends_with(".rs")) {
        let Ok(text) = std::fs::read_to_string(Path::new(ROOT).join(file)) else {
            continue;
        };
        for (number, line) in text.lines().enumerate() {
            for word in [
                "REPOSITORY",
                "cargo install pillion",
                "cargo binstall pillion",
                "npm install -g pillion",
                "npx pillion",
            ] {
                assert!(!line.contains(word), "{file}:{}: {word}", number + 1);
            }
        }
    }
}

/// The one home of the project's address is `repository` in `Cargo.toml`. Nothing else names one, but for what cannot
/// be an address.
#[test]
fn nothing_names_a_place_that_does_not_exist() {
    let address = env!("CARGO_PKG_REPOSITORY");
    let tracked = output(Command::new("git").args(["ls-files"]));
    for file in tracked.lines() {
        let Ok(text) = std::fs::read_to_string(Path::new(ROOT).join(file)) else {
            continue;
        };
        for (number, line) in text.lines().enumerate() {
            let named = line.split("://").skip(1).filter(|rest| {
                let end = rest.find([' ', '"', '\'', ')', '>', '`', ',', ';']);
                let place = &rest[..end.unwrap_or(rest.len())];
                let (host, path) = place.split_once('/').unwrap_or((place, ""));
                let is_a_host = host.contains('.') && !host.starts_with(['$', '{', '<']);
                let is_local = ["127.", "example.", "localhost"];
                let is_elsewhere =
                    !is_local.iter().any(|it| host.starts_with(it)) && !host.ends_with(".invalid");
                let is_ours = path.split(['/', '.']).any(|part| part == "pillion")
                    || host.contains("pillion");
                is_a_host && is_elsewhere && is_ours
            });
            let named: Vec<_> = named.collect();
            let is_the_address = address.starts_with("https://") && line.contains(address);
            assert!(
                named.is_empty() || is_the_address,
                "{file}:{}: {named:?}",
                number + 1
            );
        }
    }
}
