//! The list of what agents have written, in a real terminal.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::process::Command;
use std::time::Instant;

use pillion_testkit::{Env, SOON, Size};

use super::{QUESTION, Review};
use crate::sandbox::Sandbox;
#[cfg(unix)]
use crate::shared_agent_work::{command_begins, command_is_over, turn_begins, turn_ends};

#[test]
#[ignore = "needs tmux: cargo xtask test"]
fn what_an_agent_has_written_is_listed_kept_taken_back_and_opened() {
    let review = Review::usual_with(&Env::default());
    let home = &review.sandbox.home;
    let path = home.file("a.txt", "one\ntwo\n");
    home.agents_turn("change it", |folder| {
        fs::write(folder.join("a.txt"), "one\n2\n").unwrap();
        fs::write(folder.join("new.txt"), "new\n").unwrap();
        fs::write(folder.join("picture"), b"\0\xff").unwrap();
    });
    review.pane.send_keys(["S"]);
    review.pane.wait_for("\"change it\"", SOON);
    for line in [
        "1.1    unseen          +1 -1  a.txt",
        "1.2    unseen          +1 -0  new.txt (new)",
        "1.3    unseen                 picture (new)",
    ] {
        review.pane.wait_for(line, SOON);
    }
    let go_to = |line: &str| {
        review.pane.send_keys(["n"]);
        review.pane.wait_for(&format!("▌   {line}"), SOON);
    };
    go_to("1.2");
    review.decide_until("a", "1.2 new.txt: kept");
    review.pane.wait_for("1.2    kept", SOON);
    go_to("1.3");
    review.decide_until("r", "1.3    taken back");
    assert!(!home.workspace().join("picture").exists());
    review.decide_until("z", "1.3    unseen");
    assert_eq!(
        fs::read(home.workspace().join("picture")).unwrap(),
        b"\0\xff"
    );
    // What is text opens as a diff, and the review says that it is written.
    go_to("1.1");
    review.decide_until("Enter", "Claude Code has written a.txt");
    review.decide_until("Space", "space include");
    // Nothing is left of the change: that is asked about.
    review.pane.wait_gone("all hunks excluded", SOON);
    review.decide_until("a", "nothing is left");
    review.decide_until("y", "Waiting for an agent");
    // Another process writes it then.
    let is_back = |_: &str| fs::read_to_string(&path).unwrap() == "one\ntwo\n";
    review.pane.wait_until("the text before", SOON, is_back);
}

#[test]
#[ignore = "needs tmux: cargo xtask test"]
fn what_was_moved_and_changed_is_one_diff_and_what_keys_do_is_said_once() {
    let review = Review::usual_with(&Env::default());
    let home = &review.sandbox.home;
    let text = "one\ntwo\nthree\nfour\nfive\n";
    let path = home.file("a.txt", text);
    home.file("b.txt", "b\n");
    home.agents_turn("move it", |folder| {
        fs::rename(folder.join("a.txt"), folder.join("c.txt")).unwrap();
        fs::write(folder.join("c.txt"), text.replace("two", "2")).unwrap();
        fs::write(folder.join("b.txt"), "B\n").unwrap();
    });
    review.pane.send_keys(["S"]);
    review.pane.wait_for("a.txt → c.txt", SOON);
    review.pane.send_keys(["Escape"]);
    review.pane.wait_gone("a.txt → c.txt", SOON);
    review.decide_until("v", "has written b.txt");
    review
        .pane
        .wait_for("This change is already in the file", SOON);
    review.decide_until("a", "has written c.txt");
    let screen = review.pane.wait_for("This file was moved from", SOON);
    assert!(screen.contains("1 hunk · +1 −1"), "{screen}");
    assert!(!screen.contains("already in the file"), "{screen}");
    review.decide_until("R", "reason for");
    review.pane.send_keys(["n", "o"]);
    review.pane.wait_for(": no", SOON);
    review.decide_until("Enter", "Waiting for an agent");
    let is_back = |_: &str| fs::read_to_string(&path).is_ok_and(|it| it == text);
    review.pane.wait_until("the file", SOON, is_back);
    let is_gone = |_: &str| !home.workspace().join("c.txt").exists();
    review.pane.wait_until("its new place", SOON, is_gone);
}

/// Whatever it leads to: a file of the same turn, a folder, or nothing.
#[cfg(unix)]
#[test]
#[ignore = "needs tmux: cargo xtask test"]
fn a_link_that_was_made_is_shown_by_its_own_name() {
    use std::os::unix::fs::symlink;
    let review = Review::usual_with(&Env::default());
    let home = &review.sandbox.home;
    home.file("a.txt", "one\n");
    home.agents_turn("link it", |folder| {
        fs::write(folder.join("a.txt"), "1\n").unwrap();
        symlink("a.txt", folder.join("b-file")).unwrap();
        symlink(home.home(), folder.join("c-folder")).unwrap();
        symlink("nowhere", folder.join("d-broken")).unwrap();
    });
    review.pane.send_keys(["S"]);
    review.pane.wait_for("b-file (new link)", SOON);
    review.pane.send_keys(["Escape"]);
    review.decide_until("v", "Claude Code has written a.txt");
    for name in ["b-file", "c-folder", "d-broken"] {
        review.decide("a");
        let written = format!("has written {name}");
        let screen = review.pane.wait_for(&written, SOON);
        assert!(screen.contains("This is a new symbolic link"), "{screen}");
        assert!(!screen.contains("changed on disk"), "{screen}");
    }
    review.decide_until("a", "Waiting for an agent");
    for name in ["b-file", "c-folder", "d-broken"] {
        assert!(home.workspace().join(name).is_symlink(), "{name}");
    }
    assert_eq!(fs::read_dir(home.workspace()).unwrap().count(), 4);
}

/// By a checkout, or whatever the person does: the number of what is to be seen is what `v` and the list show.
#[cfg(unix)]
#[test]
#[ignore = "needs tmux: cargo xtask test"]
fn what_is_gone_from_its_file_is_not_counted_until_it_is_back() {
    let review = Review::usual_with(&Env::default());
    let home = &review.sandbox.home;
    let path = home.file("a.txt", "one\n");
    turn_begins(home);
    command_begins(home);
    fs::write(&path, "1\n").unwrap();
    fs::write(home.workspace().join("new.txt"), "new\n").unwrap();
    command_is_over(home);
    turn_ends(home);
    let counted = "that you have not seen";
    review
        .pane
        .wait_for(&format!("2 changed files {counted}"), SOON);
    fs::write(&path, "one\n").unwrap();
    fs::remove_file(home.workspace().join("new.txt")).unwrap();
    review.pane.send_keys(["v"]);
    review.pane.wait_gone(counted, SOON);
    fs::write(&path, "1\n").unwrap();
    // The list is asked for.
    review.pane.send_keys(["S"]);
    review.pane.wait_for("1.1    unseen", SOON);
    review.pane.send_keys(["Escape"]);
    review
        .pane
        .wait_for(&format!("1 changed file {counted}"), SOON);
}

#[test]
#[ignore = "needs tmux: cargo xtask test"]
fn what_is_open_is_not_opened_again_and_a_deletion_is_called_one() {
    let review = Review::usual_with(&Env::default());
    let home = &review.sandbox.home;
    home.file("a.txt", "one\ntwo\n");
    home.file("gone.txt", "one\n");
    home.agents_turn("change it", |folder| {
        fs::write(folder.join("a.txt"), "one\n2\n").unwrap();
        fs::remove_file(folder.join("gone.txt")).unwrap();
    });
    review.pane.send_keys(["v"]);
    let deleted = "Claude Code has deleted gone.txt (1 of 2)";
    let screen = review.pane.wait_for(deleted, SOON);
    assert!(!screen.contains("empties"), "{screen}");
    // With what is open already, there is nothing left of the turn.
    review.decide("v");
    review.pane.wait_for("is open already", SOON);
    let written = "Claude Code has written a.txt";
    let asked = |screen: &str| screen.contains(QUESTION) || screen.contains(written);
    review.decide("a");
    let screen = review.pane.wait_until("the next one", SOON, asked);
    if !screen.contains(written) {
        review.decide("y");
    }
    review.pane.wait_for(written, SOON);
    review.decide("a");
    review.pane.wait_for("Waiting for an agent", SOON);
}

/// By anybody: it is not what is shown any more, and is not accepted with all that was seen.
#[test]
#[ignore = "needs tmux: cargo xtask test"]
fn what_is_changed_again_while_it_is_shown_is_said_and_not_accepted_unseen() {
    let review = Review::usual_with(&Env::default());
    let home = &review.sandbox.home;
    let path = home.file("a.txt", "one\ntwo\n");
    home.agents_turn("change it", |folder| {
        fs::write(folder.join("a.txt"), "one\n2\n").unwrap();
    });
    review.pane.send_keys(["v"]);
    review.pane.wait_for("Claude Code has written a.txt", SOON);
    let seen = "1 diff has been on the screen as a whole";
    review.decide_until("A", seen);
    fs::write(&path, "one\n2\nthree\n").unwrap();
    let changed = "changed on disk since this diff opened · r closes it, S opens it anew";
    review.pane.wait_for(changed, SOON);
    review.decide_until("y", "no pending diff has been on the screen as a whole");
    fs::write(&path, "one\n2\n").unwrap();
    review.pane.wait_gone(changed, SOON);
}

/// By a command, which is another program to this review: the person works on none of these files.
#[test]
#[ignore = "needs tmux: cargo xtask test"]
fn what_is_taken_back_and_brought_back_is_not_shared_as_saved() {
    let sandbox = Sandbox::new();
    for name in ["a.txt", "b.txt"] {
        sandbox.home.file(name, "one\n");
    }
    sandbox.home.agents_turn("change both", |folder| {
        for name in ["a.txt", "b.txt"] {
            fs::write(folder.join(name), "two\n").unwrap();
        }
    });
    let review = Review::start_in(sandbox, Size::new(110, 30), "", &Env::default());
    review.pane.wait_for(super::WELCOME, SOON);
    review.sandbox.run(["revert", "1.1"]).expect(0);
    review.sandbox.run(["revert", "1.2"]).expect(0);
    review.sandbox.run(["undo"]).expect(0);
    // What comes later is reported later.
    review.sandbox.home.file("mine.txt", "mine\n");
    let screen = review.pane.wait_for("shares mine.txt", SOON);
    assert!(!screen.contains("mine.txt +"), "{screen}");
}

/// Nor what a checkout has written.
#[test]
#[ignore = "needs tmux: cargo xtask test"]
fn what_git_has_written_is_not_shared_as_saved() {
    let sandbox = Sandbox::new();
    sandbox.home.file("a.txt", "one\n");
    let git = |words: &str| {
        let mut git = Command::new("git");
        git.args(["-c", "user.name=a", "-c", "user.email=a@b"]);
        git.args(words.split(' '))
            .current_dir(sandbox.home.workspace());
        assert!(git.status().unwrap().success(), "{words}");
    };
    git("init -q");
    git("add a.txt");
    git("commit -qm one");
    sandbox.home.file("a.txt", "mine\n");
    let review = Review::start_in(sandbox, Size::new(110, 30), "", &Env::default());
    review.pane.wait_for(super::WELCOME, SOON);
    let mut checkout = Command::new("git");
    checkout.args(["checkout", "-q", "a.txt"]);
    checkout.current_dir(review.sandbox.home.workspace());
    assert!(checkout.status().unwrap().success());
    review.sandbox.home.file("mine.txt", "mine\n");
    let screen = review.pane.wait_for("shares mine.txt", SOON);
    assert!(!screen.contains("mine.txt +"), "{screen}");
}

/// One turn of several, then all.
#[test]
#[ignore = "needs tmux: cargo xtask test"]
fn what_is_forgotten_leaves_an_open_list() {
    let review = Review::usual_with(&Env::default());
    let home = &review.sandbox.home;
    let write = |names: &'static [&str]| {
        home.agents_turn("change it", |folder| {
            for name in names {
                fs::write(folder.join(name), "new\n").unwrap();
            }
        });
    };
    write(&["a", "b", "c"]);
    write(&["d"]);
    write(&["e", "f"]);
    review.pane.send_keys(["S"]);
    for line in ["1.1    unseen", "2.1    unseen", "3.2    unseen"] {
        review.pane.wait_for(line, SOON);
    }
    review.sandbox.run(["keep", "1.1"]).expect(0);
    review.pane.wait_for("1.1    kept", SOON);
    review.sandbox.run(["forget", "1"]).expect(0);
    review.pane.wait_gone("1.2    unseen", SOON);
    review.pane.wait_for("2.1    unseen", SOON);
    review.sandbox.run(["forget", "--all"]).expect(0);
    review
        .pane
        .wait_for("no turn of an agent is known here", SOON);
}

#[test]
#[ignore = "needs tmux: cargo xtask test"]
fn a_wide_terminal_has_the_list_beside_the_diff() {
    let review = Review::start(Size::new(160, 30), "", &Env::default());
    review.pane.wait_for(super::WELCOME, SOON);
    let home = &review.sandbox.home;
    for name in ["a.txt", "b.txt"] {
        home.file(name, "one\ntwo\n");
    }
    home.agents_turn("change both", |folder| {
        for name in ["a.txt", "b.txt"] {
            fs::write(folder.join(name), "one\n2\n").unwrap();
        }
    });
    // Whoever writes with another process of this program is not heard of until somebody asks.
    review.pane.send_keys(["S"]);
    review.pane.wait_for("Claude Code change both", SOON);
    review.pane.wait_for("● b.txt", SOON);
    // A turn opens as a set, with what nobody has seen.
    review.pane.send_keys(["g"]);
    review.pane.wait_for("▌1 Claude Code", SOON);
    review.decide("Enter");
    review
        .pane
        .wait_for("Claude Code has written a.txt (1 of 2)", SOON);
    review.pane.wait_for("▶● a.txt", SOON);
    review.pane.wait_for(" 2   M b.txt", SOON);
    // Once this one counts as seen.
    review.pane.wait_for("−1  seen", SOON);
    review.pane.send_keys(["n"]);
    review.pane.wait_for("▶● b.txt", SOON);
    review.decide("a");
    review.pane.wait_for("✓ b.txt", SOON);
    review.pane.wait_for("▶● a.txt", SOON);
    // With less room, the list gives way, and comes back.
    review.pane.resize(Size::new(100, 30));
    review.pane.wait_gone("● a.txt", SOON);
    review.pane.wait_for("Claude Code has written a.txt", SOON);
    review.pane.resize(Size::new(160, 30));
    review.pane.wait_for("▶● a.txt", SOON);
    review.pane.send_keys(["t"]);
    review.pane.wait_gone("● a.txt", SOON);
    review.pane.send_keys(["t"]);
    review.pane.wait_for("▶● a.txt", SOON);
    review.decide("a");
    review.pane.wait_for("✓ a.txt", SOON);
}

#[test]
#[ignore = "in --all: needs tmux: cargo xtask test --all"]
fn twenty_thousand_changes_keep_no_key_waiting() {
    let review = Review::usual_with(&Env::default());
    review.sandbox.home.agents_turn("a checkout", |folder| {
        for at in 0..20_000 {
            let folder = folder.join(format!("d{}", at % 7));
            fs::create_dir_all(&folder).unwrap();
            fs::write(folder.join(format!("f{at}.txt")), format!("{at}\n")).unwrap();
        }
    });
    let press = |key: &str, shown: &str| {
        let pressed = Instant::now();
        review.pane.send_keys([key]);
        review.pane.wait_for(shown, SOON);
        eprintln!("{key}: {:.1?}", pressed.elapsed());
    };
    press("S", "reading what agents have written");
    review.pane.wait_for("\"a checkout\"", SOON);
    press("G", "2001/2001, 18000 more: pillion changes");
    press("g", "▌ turn 1");
    press("n", "▌   1.1 ");
    press("g", "▌ turn 1");
    review.decide("a");
    review.pane.wait_for("2000 or more files are unseen", SOON);
    review.decide("y");
    // It is being kept: the keys do something meanwhile.
    press("n", "▌   1.1 ");
    press("G", "2001/2001, 18000 more: pillion changes");
    let began = Instant::now();
    review.pane.wait_for("20000 changes: kept", SOON);
    eprintln!("kept after {:.1?} more", began.elapsed());
    press("g", "▌ turn 1");
    review.pane.wait_for("1.1    kept", SOON);
}

/// Codex CLI is never connected: its hooks tell of it.
#[cfg(unix)]
#[test]
#[ignore = "needs tmux: cargo xtask test"]
fn an_agent_with_command_hooks_is_named_while_its_turn_goes_on() {
    let review = Review::usual_with(&Env::default());
    let screen = review.pane.wait_for("no agent connected", SOON);
    assert!(!screen.contains("Codex CLI at work"), "{screen}");
    for _ in 0..2 {
        turn_begins(&review.sandbox.home);
        let screen = review.pane.wait_for("Codex CLI at work", SOON);
        assert!(!screen.contains("no agent connected"), "{screen}");
        review.pane.wait_gone(super::WELCOME, SOON);
        turn_ends(&review.sandbox.home);
        review.pane.wait_for(super::WELCOME, SOON);
        review.pane.wait_for("no agent connected", SOON);
    }
}

/// They are no text, and what they mean is to be known before it is decided.
#[test]
#[ignore = "needs tmux: cargo xtask test"]
fn a_file_that_is_made_executable_says_so_in_a_row() {
    let review = Review::usual_with(&Env::default());
    let home = &review.sandbox.home;
    home.file("run.sh", "echo\n");
    home.agents_turn("let it run", |folder| {
        let mode = fs::Permissions::from_mode(0o755);
        fs::set_permissions(folder.join("run.sh"), mode).unwrap();
    });
    review.pane.send_keys(["v"]);
    let screen = review
        .pane
        .wait_for("The file is made executable: mode", SOON);
    assert!(screen.contains("755."), "{screen}");
    assert!(screen.contains("mode only"), "{screen}");
}
