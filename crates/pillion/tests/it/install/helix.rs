//! Helix's settings in a fresh home. Helix itself is a file that holds the settings of one, as the real
//! one does.

use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::PathBuf;

use serde_json::Value;

use super::tree;
use crate::sandbox::{Ran, Sandbox, ran};

/// The settings that stand in the program of Helix.
fn settings() -> String {
    let mut text =
        "\n[[language]]\nname = \"rust\"\nlanguage-servers = [\"rust-analyzer\"]\n".to_owned();
    for number in 0..60 {
        text += &format!("\n[[language]]\nname = \"l{number}\"\n");
    }
    text
}

impl Sandbox {
    /// With a Helix on PATH.
    fn with_helix() -> Self {
        let sandbox = Self::new();
        let program = sandbox.bin().join("hx");
        fs::write(&program, settings()).unwrap();
        fs::set_permissions(&program, fs::Permissions::from_mode(0o755)).unwrap();
        sandbox
    }

    fn bin(&self) -> PathBuf {
        let folder = self.home.root().join("bin");
        fs::create_dir_all(&folder).unwrap();
        folder
    }

    fn languages(&self) -> PathBuf {
        self.home.home().join(".config/helix/languages.toml")
    }

    /// The command with Helix on PATH.
    fn helix(&self, args: &[&str]) -> Ran {
        let mut command = self.command(args);
        command
            .env("PATH", self.bin())
            .env_remove("XDG_CONFIG_HOME");
        ran(&mut command, b"")
    }

    fn write_languages(&self, text: &str) {
        let path = self.languages();
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }
}

#[test]
fn helix_s_settings_come_and_go_and_nothing_of_the_user_s_is_lost() {
    let sandbox = Sandbox::with_helix();
    let mine = "# mine\n[[language]]\nname = \"rust\" # the best\nauto-format = true\n";
    sandbox.write_languages(mine);
    let before = tree(&sandbox.home);
    let dry = sandbox.helix(&["install", "helix", "--dry-run"]).expect(0);
    assert!(dry.stdout.contains("would add "), "{}", dry.stdout);
    assert_eq!(tree(&sandbox.home), before);

    let done = sandbox.helix(&["install", "hx"]).expect(0);
    assert!(done.stdout.contains("61 languages"), "{}", done.stdout);
    assert!(done.stdout.contains("Restart Helix"), "{}", done.stdout);
    let text = fs::read_to_string(sandbox.languages()).unwrap();
    assert!(text.contains("name = \"rust\" # the best\nauto-format = true"));
    assert!(text.contains("language-servers = [\"rust-analyzer\", \"pillion\"]"));
    assert_eq!(text.matches("[[language]]").count(), 61);
    let again = sandbox.helix(&["install", "helix"]).expect(0);
    assert!(again.stdout.contains("already"), "{}", again.stdout);
    assert_eq!(fs::read_to_string(sandbox.languages()).unwrap(), text);
    let list = sandbox.helix(&["install", "--list", "--json"]).expect(0);
    let list: Value = serde_json::from_str(&list.stdout).unwrap();
    let mut list = list.as_array().unwrap().iter();
    let helix = list.find(|editor| editor["name"] == "helix").unwrap();
    assert_eq!(helix["installed"][0], "settings");

    sandbox.helix(&["uninstall", "helix"]).expect(0);
    assert_eq!(tree(&sandbox.home), before);
    let nothing = sandbox.helix(&["uninstall", "helix"]).expect(0);
    assert!(nothing.stdout.contains("nothing in "), "{}", nothing.stdout);
    assert_eq!(tree(&sandbox.home), before);
}

#[test]
fn a_file_of_our_own_goes_again_and_helix_need_not_be_there_for_that() {
    let sandbox = Sandbox::with_helix();
    sandbox.helix(&["install", "helix"]).expect(0);
    let rights = sandbox.languages().metadata().unwrap().permissions();
    assert_eq!(rights.mode() & 0o777, 0o644);
    fs::remove_file(sandbox.bin().join("hx")).unwrap();
    sandbox.helix(&["uninstall", "helix"]).expect(0);
    assert!(!sandbox.languages().exists());
}

#[test]
fn a_link_stays_a_link_and_rights_stay() {
    let sandbox = Sandbox::with_helix();
    let collection = sandbox.home.root().join("collection.toml");
    fs::write(&collection, "# mine\n").unwrap();
    fs::set_permissions(&collection, fs::Permissions::from_mode(0o600)).unwrap();
    fs::create_dir_all(sandbox.languages().parent().unwrap()).unwrap();
    symlink(&collection, sandbox.languages()).unwrap();
    sandbox.helix(&["install", "helix"]).expect(0);
    assert!(sandbox.languages().is_symlink());
    let text = fs::read_to_string(&collection).unwrap();
    assert!(
        text.starts_with("# mine\n") && text.contains("pillion"),
        "{text}"
    );
    let rights = collection.metadata().unwrap().permissions();
    assert_eq!(rights.mode() & 0o777, 0o600);
    sandbox.helix(&["uninstall", "helix"]).expect(0);
    assert_eq!(fs::read_to_string(&collection).unwrap(), "# mine\n");
}

/// A program that manages such files may make the link first.
#[test]
fn a_link_that_leads_nowhere_yet_stays_one() {
    let sandbox = Sandbox::with_helix();
    let collection = sandbox.home.root().join("dotfiles/languages.toml");
    fs::create_dir_all(sandbox.languages().parent().unwrap()).unwrap();
    symlink(&collection, sandbox.languages()).unwrap();
    sandbox.helix(&["install", "helix"]).expect(0);
    assert!(sandbox.languages().is_symlink());
    assert!(fs::read_to_string(&collection).unwrap().contains("pillion"));
    sandbox.helix(&["uninstall", "helix"]).expect(0);
    assert!(sandbox.languages().is_symlink() && !collection.exists());
}

#[test]
fn settings_that_are_read_only_or_somebody_else_s_stay_as_they_are() {
    let sandbox = Sandbox::with_helix();
    sandbox.write_languages("# mine\n");
    let path = sandbox.languages();
    fs::set_permissions(&path, fs::Permissions::from_mode(0o444)).unwrap();
    let refused = sandbox.helix(&["install", "helix"]);
    refused.expect_error(1, "languages.toml: it is read-only", "docs/editors.md");
    fs::set_permissions(&path, fs::Permissions::from_mode(0o644)).unwrap();
    if rustix::process::geteuid().is_root() {
        std::os::unix::fs::chown(&path, Some(4242), None).unwrap();
        let refused = sandbox.helix(&["install", "helix"]);
        refused.expect_error(1, "it belongs to another user", "docs/editors.md");
    }
    assert_eq!(fs::read_to_string(&path).unwrap(), "# mine\n");
}

#[test]
fn what_cannot_be_done_to_helix_s_settings_is_refused_with_what_to_do() {
    let sandbox = Sandbox::with_helix();
    sandbox.write_languages("[[language]\n");
    let before = tree(&sandbox.home);
    let ran = sandbox.helix(&["install", "helix"]);
    assert_ne!(ran.code, Some(0));
    for part in ["languages.toml", "line 1", "hint: Correct that place"] {
        assert!(ran.stderr.contains(part), "{}", ran.stderr);
    }
    assert_eq!(tree(&sandbox.home), before);

    fs::write(sandbox.bin().join("hx"), "#!/bin/sh\n").unwrap();
    let ran = sandbox.helix(&["install", "helix"]);
    let said = "cannot find Helix's languages";
    assert!(ran.stderr.contains(said), "{}", ran.stderr);
    fs::remove_file(sandbox.bin().join("hx")).unwrap();
    let ran = sandbox.helix(&["install", "helix"]);
    let said = "Helix is not on PATH";
    assert!(ran.stderr.contains(said), "{}", ran.stderr);
    assert_eq!(tree(&sandbox.home), before);
}
