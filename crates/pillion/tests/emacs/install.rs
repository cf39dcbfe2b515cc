//! `pillion install emacs`, and taking it away.

use std::fs;
use std::path::PathBuf;
use std::process::Command;

use pillion_testkit::{EmacsSetup, EmacsVersion, Home, Tmux, each_emacs};

use crate::world::PILLION;

/// Runs `pillion` as this person.
fn pillion(home: &Home, args: &[&str]) {
    let output = Command::new(PILLION)
        .args(args)
        .env_clear()
        .envs(home.env().iter())
        .env("PATH", programs(home))
        .output()
        .unwrap();
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{args:?}: {errors}");
}

/// The folder of the person's own programs.
fn programs(home: &Home) -> PathBuf {
    home.root().join("programs")
}

#[each_emacs]
fn pillion_installs_it_and_takes_it_away(version: EmacsVersion) {
    let home = Home::new();
    let settings = home.home().join(".emacs.d");
    fs::create_dir_all(&settings).unwrap();
    fs::write(
        settings.join("init.el"),
        "(setq mine 1)\n(pillion-mode 1)\n",
    )
    .unwrap();
    fs::create_dir(programs(&home)).unwrap();
    EmacsSetup::new(version, &home).write_program(&programs(&home).join("emacs"));
    pillion(&home, &["install", "emacs"]);
    let package = settings.join("elpa/pillion");
    assert!(package.join("pillion.el").is_file());
    let tmux = Tmux::start();
    let file = home.file("a.txt", "one\n");
    let emacs = EmacsSetup::new(version, &home)
        .pillion(PILLION)
        .without_package()
        .arg(file)
        .in_tmux(&tmux);
    emacs.wait_until(
        "Pillion running",
        "(and (bound-and-true-p mine) (pillion-client-running-p))",
    );
    let place: String = emacs.get("(file-truename (locate-library \"pillion\"))");
    assert!(place.starts_with(package.to_str().unwrap()), "{place}");
    assert!(place.ends_with("/pillion.elc"), "{place}");
    let described: String = emacs.get("(documentation 'pillion-run)");
    assert!(described.contains("prefix argument"), "{described}");
    emacs.assert_no_errors();
    emacs.quit();
    pillion(&home, &["uninstall", "emacs"]);
    assert!(!package.exists());
    assert_eq!(
        fs::read_to_string(settings.join("init.el")).unwrap(),
        "(setq mine 1)\n(pillion-mode 1)\n"
    );
}
