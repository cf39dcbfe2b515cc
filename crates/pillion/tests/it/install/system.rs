//! Plugins that came with a package of the system, where every editor looks for them.

use std::fs;

use crate::sandbox::{Sandbox, ran};

/// The package of a distribution put it where the editor looks: a second copy takes `--force`.
#[test]
fn what_came_with_the_system_is_not_installed_again() {
    for (editor, place) in [
        ("nvim", "nvim/site/pack/dist/start/pillion"),
        ("vim", "vim/vimfiles/pack/dist/start/pillion"),
        ("emacs", "emacs/site-lisp/elpa/pillion-0.0.1"),
        ("kakoune", "kak/rc/pillion"),
    ] {
        let sandbox = Sandbox::new();
        let system = sandbox.home.other_workspace("system data");
        let place = system.join(place);
        fs::create_dir_all(place.parent().unwrap().join("another")).unwrap();
        let run = |words: &[&str]| {
            let mut command = sandbox.command(words);
            command.env("XDG_DATA_DIRS", format!("/nowhere:{}", system.display()));
            // Whatever editors the machine has, some may be too old.
            command.env("PATH", "/nowhere");
            ran(&mut command, b"")
        };
        run(&["install", editor, "--dry-run"]).expect(0);
        fs::create_dir(&place).unwrap();
        let message = format!("the plugin is already in {}", place.display());
        run(&["install", editor]).expect_error(1, &message, "--force");
        let listed = run(&["install", "--list"]).expect(0).stdout;
        assert!(
            listed.contains(&format!("plugin in {}", place.display())),
            "{listed}"
        );
        let forced = run(&["install", editor, "--force"]).expect(0);
        assert!(
            forced.stdout.contains("finds two copies")
                || forced.stderr.contains("finds two copies")
        );
        if editor == "kakoune" {
            // With a folder of their own, this person's Kakoune loads nothing of the system's.
            run(&["uninstall", editor]).expect(0);
            fs::create_dir_all(sandbox.home.home().join(".config/kak/autoload")).unwrap();
            run(&["install", editor]).expect(0);
        }
    }
}
