//! Kate's settings in a fresh home. They are tried in Kate where it runs.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use serde_json::Value;

use super::tree;
use crate::sandbox::{Ran, Sandbox, ran};

impl Sandbox {
    fn settings(&self) -> PathBuf {
        self.home
            .home()
            .join(".config/kate/lspclient/settings.json")
    }

    /// With these settings, and no program on PATH.
    fn with_settings(text: &str) -> Self {
        let sandbox = Self::new();
        let path = sandbox.settings();
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
        sandbox
    }

    fn kate(&self, args: &[&str]) -> Ran {
        let mut command = self.command(args);
        command
            .env("PATH", self.home.root().join("bin"))
            .env_remove("XDG_CONFIG_HOME")
            .env_remove("CARGO_HOME");
        ran(&mut command, b"")
    }

    fn servers(&self) -> Value {
        let text = fs::read_to_string(self.settings()).unwrap();
        let mut settings: Value = serde_json::from_str(&text).unwrap();
        settings["servers"].take()
    }
}

fn program(path: &Path) {
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(path, "#!/bin/sh\n").unwrap();
    fs::set_permissions(path, fs::Permissions::from_mode(0o755)).unwrap();
}

#[test]
fn kate_s_settings_come_and_go_and_nothing_of_the_user_s_is_lost() {
    let mine = "{\n\t\"servers\": {\n\t\t\"python\": { \"command\": [\"mine\"] }\n\t}\n}";
    let sandbox = Sandbox::with_settings(mine);
    let before = tree(&sandbox.home);
    let dry = sandbox.kate(&["install", "kate", "--dry-run"]).expect(0);
    assert!(dry.stdout.contains("would add "), "{}", dry.stdout);
    assert_eq!(tree(&sandbox.home), before);

    let done = sandbox.kate(&["install", "kate"]).expect(0);
    for part in [
        "note: kept the language servers of python:",
        "with `kate`, which is not on PATH",
        "Restart Kate",
    ] {
        assert!(done.stdout.contains(part), "{}", done.stdout);
    }
    let servers = sandbox.servers();
    assert_eq!(servers["python"]["command"][0], "mine");
    assert_eq!(servers["rust"]["use"], "~pillion");
    let again = sandbox.kate(&["install", "kate"]).expect(0);
    assert!(again.stdout.contains("already"), "{}", again.stdout);
    let list = sandbox.kate(&["install", "--list", "--json"]).expect(0);
    let list: Value = serde_json::from_str(&list.stdout).unwrap();
    let mut list = list.as_array().unwrap().iter();
    let kate = list.find(|editor| editor["name"] == "kate").unwrap();
    assert_eq!(kate["installed"][0], "settings");

    sandbox.kate(&["uninstall", "kate"]).expect(0);
    assert_eq!(tree(&sandbox.home), before);
    let nothing = sandbox.kate(&["uninstall", "kate"]).expect(0);
    assert!(nothing.stdout.contains("nothing in "), "{}", nothing.stdout);
}

#[test]
fn a_language_whose_server_is_there_keeps_it() {
    let sandbox = Sandbox::new();
    program(&sandbox.home.root().join("bin/clangd"));
    program(&sandbox.home.home().join(".cargo/bin/rust-analyzer"));
    let done = sandbox.kate(&["install", "kate"]).expect(0);
    assert!(
        done.stdout
            .contains("kept the language servers of c, cpp, rust:"),
        "{}",
        done.stdout
    );
    let servers = sandbox.servers();
    for kept in ["c", "cpp", "rust"] {
        assert!(servers.get(kept).is_none(), "{kept}");
    }
    assert_eq!(servers["zig"]["use"], "~pillion");

    // Installed later, it is preferred the next time.
    program(&sandbox.home.root().join("bin/zls"));
    sandbox.kate(&["install", "kate"]).expect(0);
    assert!(sandbox.servers().get("zig").is_none());
    sandbox.kate(&["uninstall", "kate"]).expect(0);
    assert!(!sandbox.settings().exists());
}

#[test]
fn what_cannot_be_done_to_kate_s_settings_is_refused_with_what_to_do() {
    let by_hand = "{\"servers\": {\"~pillion\": {\"command\": [\"pillion\", \"lsp\"]}}}";
    for (text, parts) in [
        (
            "{\"servers\": ",
            [
                "settings.json: it is not valid JSON",
                "hint: Correct that place",
            ],
        ),
        (
            "{\"servers\": 1}",
            ["`servers` is not an object", "hint: Correct that first"],
        ),
        (by_hand, ["did not write", "hint: Leave it as it is"]),
    ] {
        let sandbox = Sandbox::with_settings(text);
        let before = tree(&sandbox.home);
        let refused = sandbox.kate(&["install", "kate"]);
        assert_ne!(refused.code, Some(0));
        for part in parts {
            assert!(refused.stderr.contains(part), "{}", refused.stderr);
        }
        assert_eq!(tree(&sandbox.home), before);
    }
    let sandbox = Sandbox::with_settings("{}");
    let rc = "[lspclient]\nServerConfiguration=file:///mine.json\n";
    fs::write(sandbox.home.home().join(".config/katerc"), rc).unwrap();
    let refused = sandbox.kate(&["install", "kate"]);
    assert!(
        refused.stderr.contains("file:///mine.json"),
        "{}",
        refused.stderr
    );
    assert_eq!(fs::read_to_string(sandbox.settings()).unwrap(), "{}");
}
