//! `pillion install kakoune`, and its page.

use std::fs;
use std::process::Command;

use pillion_testkit::{Home, KakouneSetup, KakouneVersion, SOON, Tmux, each_kakoune};

use crate::world::PILLION;

/// Runs `pillion` as this person.
fn pillion(home: &Home, args: &[&str]) -> String {
    let output = Command::new(PILLION)
        .args(args)
        .env_clear()
        .envs(home.env().iter())
        .output()
        .unwrap();
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{args:?}: {errors}");
    String::from_utf8_lossy(&output.stdout).into_owned() + &errors
}

#[each_kakoune]
fn pillion_installs_it_beside_the_kakrc_and_takes_it_away(version: KakouneVersion) {
    let home = Home::new();
    let config = home.home().join(".config/kak");
    fs::create_dir_all(&config).unwrap();
    let said = pillion(&home, &["install", "kakoune"]);
    let line = "source \"%val{config}/pillion/pillion.kak\"";
    assert!(said.contains(line), "{said}");
    assert!(
        !config.join("autoload").exists(),
        "Kakoune's own scripts would not be loaded"
    );
    fs::write(config.join("kakrc"), line).unwrap();
    let tmux = Tmux::start();
    let file = home.file("a.txt", "one\n");
    let setup = KakouneSetup::new(version, &home)
        .pillion(PILLION)
        .without_module();
    let kakoune = setup.arg(file).in_tmux(&tmux);
    kakoune.wait_until("Pillion running", "%opt{pillion_port}", |port| {
        port != ["0"]
    });
    kakoune.input(":pillion-help<ret>");
    kakoune.pane().wait_for("Setting it up", SOON);
    kakoune.assert_no_errors();
    kakoune.quit();
    pillion(&home, &["uninstall", "kakoune"]);
    assert!(!config.join("pillion").exists() && config.join("kakrc").exists());
}

#[each_kakoune]
fn who_has_an_autoload_folder_needs_no_line(version: KakouneVersion) {
    let home = Home::new();
    let autoload = home.home().join(".config/kak/autoload");
    fs::create_dir_all(&autoload).unwrap();
    let own = pillion_testkit::Editors::from_env().kakoune(version);
    let own = own.parent().unwrap().join("../share/kak/rc");
    std::os::unix::fs::symlink(own.canonicalize().unwrap(), autoload.join("rc")).unwrap();
    pillion(&home, &["install", "kak"]);
    let tmux = Tmux::start();
    let file = home.file("a.txt", "one\n");
    let setup = KakouneSetup::new(version, &home)
        .pillion(PILLION)
        .without_module();
    let kakoune = setup.arg(file).in_tmux(&tmux);
    kakoune.wait_until("Pillion running", "%opt{pillion_port}", |port| {
        port != ["0"]
    });
    kakoune.input(":doc pillion<ret>");
    kakoune.pane().wait_for("Setting it up", SOON);
    kakoune.assert_no_errors();
    pillion(&home, &["uninstall", "kak"]);
    assert!(!autoload.join("pillion").exists());
}

#[test]
fn the_page_names_all_there_is() {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../../editors/kakoune");
    let read = |name| fs::read_to_string(format!("{folder}/{name}")).unwrap();
    let (module, page) = (read("pillion.kak"), read("pillion.asciidoc"));
    let mut named = 0;
    for line in module.lines() {
        let mut words = line.split(' ');
        let is_command = words.next() == Some("define-command");
        let name = words.next().unwrap_or_default();
        if is_command && !name.starts_with('-') {
            assert!(
                page.contains(&format!("*{name}*")) || page.contains(&format!(":{name}*")),
                "{name}"
            );
            named += 1;
        }
    }
    assert!(named >= 10, "{named}");
}
