//! The npm packages, from a registry of the test's own: it serves what npm asks for, and has nothing else.

use std::fs;
use std::io::{BufRead, BufReader, Write};
use std::net::TcpListener;
use std::process::Command;
use std::thread;

use serde_json::{Value, json};

use crate::bare::{Debian, VERSION, artifacts, unpacked};

/// The packages that are in the registry: each name, with the bytes.
fn packages() -> Vec<(String, Value, Vec<u8>)> {
    let entries = fs::read_dir(artifacts())
        .unwrap()
        .map(|it| it.unwrap().path());
    let tarballs = entries.filter(|it| it.extension().is_some_and(|it| it == "tgz"));
    let packages: Vec<_> = tarballs
        .map(|path| {
            let folder = unpacked(&path);
            let manifest = fs::read(folder.path().join("package/package.json")).unwrap();
            let manifest: Value = serde_json::from_slice(&manifest).unwrap();
            let name = manifest["name"].as_str().unwrap().to_owned();
            (name, manifest, fs::read(path).unwrap())
        })
        .collect();
    assert!(packages.len() >= 2);
    packages
}

/// A registry without those packages that `hides` names. Its address. It ends with the test.
fn registry(hides: fn(&str) -> bool) -> String {
    let packages = packages();
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = format!("http://{}", listener.local_addr().unwrap());
    let own = address.clone();
    thread::spawn(move || {
        for connection in listener.incoming() {
            let mut connection = connection.unwrap();
            let mut lines = BufReader::new(connection.try_clone().unwrap()).lines();
            let asked = lines.next().and_then(Result::ok).unwrap_or_default();
            let _ = lines
                .take_while(|line| line.as_ref().is_ok_and(|line| !line.is_empty()))
                .count();
            let path = asked
                .split(' ')
                .nth(1)
                .unwrap_or_default()
                .trim_start_matches('/');
            let found = packages
                .iter()
                .find(|(name, ..)| path.trim_end_matches(".tgz") == name && !hides(name));
            let answer = match found {
                None => b"HTTP/1.0 404 Not Found\r\nContent-Length: 2\r\n\r\n{}".to_vec(),
                Some((name, manifest, bytes)) => {
                    let body = if path.ends_with(".tgz") {
                        bytes.clone()
                    } else {
                        let mut version = manifest.clone();
                        version["dist"] = json!({"tarball": format!("{own}/{name}.tgz")});
                        let all = json!({
                            "name": name, "dist-tags": {"latest": VERSION}, "versions": {VERSION: version},
                        });
                        serde_json::to_vec(&all).unwrap()
                    };
                    let head = format!("HTTP/1.0 200 OK\r\nContent-Length: {}\r\n\r\n", body.len());
                    [head.into_bytes(), body].concat()
                }
            };
            let _ = connection.write_all(&answer);
        }
    });
    address
}

#[test]
#[ignore = "needs the artifacts: cargo xtask test --only dist"]
fn npx_runs_it_and_a_global_installation_ends_as_the_program_ends() {
    let registry = registry(|_| false);
    let debian = Debian::new();
    let npm = format!("export npm_config_registry={registry} npm_config_update_notifier=false");
    let ran = debian.run(&format!("{npm}; npx --yes pillion --version"));
    assert_eq!(ran, format!("pillion {VERSION}\n"));

    debian.run(&format!(
        "{npm}; npm install -g --no-audit --no-fund --ignore-scripts pillion"
    ));
    assert_eq!(
        debian.run("pillion --version"),
        format!("pillion {VERSION}\n")
    );
    let code = |script: &str| debian.run(&format!("{script} >/dev/null 2>&1 || echo $?"));
    assert_eq!(code("pillion --no-such-flag"), "2\n");
    assert_eq!(code("pillion accept 1.1"), "3\n");
    // Input and output are the program's own, and a signal reaches it.
    assert!(debian.run("pillion man | cat").contains(".TH pillion 1"));
    let served = debian.run(
        "pillion serve > ready & launcher=$!
         for round in $(seq 100); do [ -s ready ] && break; sleep 0.1; done
         pillion list --json | grep -c project; kill $launcher; wait $launcher && echo ended
         for round in $(seq 100); do pgrep -x pillion >/dev/null || break; sleep 0.1; done
         pgrep -x pillion || echo none",
    );
    assert_eq!(
        served.lines().skip(1).collect::<Vec<_>>(),
        ["ended", "none"],
        "{served}"
    );

    debian.run(&format!("{npm}; npm uninstall -g pillion"));
    assert_eq!(code("pillion --version"), "127\n");
}

/// npm takes an optional package that it does not get for one that is not needed.
#[test]
#[ignore = "needs the artifacts: cargo xtask test --only dist"]
fn a_platform_without_a_package_is_named() {
    let registry = registry(|name| name != "pillion");
    let debian = Debian::new();
    debian.run(&format!(
        "npm install -g --registry {registry} --no-audit --no-fund pillion"
    ));
    let said = debian.run("pillion --version 2>&1 || echo $?");
    let name = format!(
        "pillion-linux-{}",
        if cfg!(target_arch = "x86_64") {
            "x64"
        } else {
            "arm64"
        }
    );
    assert!(
        said.contains(&format!("error: npm has not installed the package {name}")),
        "{said}"
    );
    assert!(said.contains("hint: ") && said.ends_with("\n1\n"), "{said}");
}

#[test]
#[ignore = "needs the artifacts: cargo xtask test --only dist"]
fn nothing_is_downloaded_or_run_on_installation() {
    for (name, manifest, _) in packages() {
        assert_eq!(manifest["version"], VERSION, "{name}");
        assert_eq!(manifest["license"], "MIT OR Apache-2.0", "{name}");
        assert!(
            manifest["scripts"].is_null() && manifest["dependencies"].is_null(),
            "{name}"
        );
        if name != "pillion" {
            assert_eq!(manifest["os"].as_array().unwrap().len(), 1, "{name}");
            assert_eq!(manifest["cpu"].as_array().unwrap().len(), 1, "{name}");
            continue;
        }
        let optional = manifest["optionalDependencies"].as_object().unwrap();
        assert!(
            optional.values().all(|version| version == VERSION),
            "{optional:?}"
        );
        let others = packages().len() - 1;
        assert_eq!(optional.len(), others, "{optional:?}");
    }
    let launcher = concat!(
        env!("CARGO_MANIFEST_DIR"),
        "/../../packaging/npm/pillion.js"
    );
    assert!(
        Command::new("node")
            .args(["--check", launcher])
            .status()
            .unwrap()
            .success()
    );
}
