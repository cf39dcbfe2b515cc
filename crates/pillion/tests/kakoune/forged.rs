//! What an agent's shell writes into the folder of a session, or says to the program that serves it, in Kakoune's name.

use std::fs;
use std::io::Write;
use std::path::PathBuf;
use std::process::{Command, Stdio};

use pillion_testkit::client::Update;
use pillion_testkit::{Home, KakouneVersion, each_kakoune};

use crate::world::{PILLION, World};

/// What it forges of a proposal that is 1.1, after what says that it was on the screen: each a name, a text and words.
const OF_A_PROPOSAL: [(&str, &str, &str); 6] = [
    ("accept-1-1", "two\n", "'client0' '' '2'"),
    ("accept-1-1", "other\n", "'client0' '' '2'"),
    ("reject-1-1", "two\n", "'client0' '' '2'"),
    ("removed-1-1", "two\n", "'client0' '' '2'"),
    ("merge-1-1", "other\n", "'client0' '' '2'"),
    ("told-1-1", "other\n", "'client0' '' '2'"),
];

const SHOWN: [(&str, &str, &str); 5] = [
    ("locked-1", "", "''"),
    ("unlocked-1", "", "''"),
    ("drawn-1-1", "", "''"),
    (
        "saw-1-1",
        "",
        "'0' '0' '44' '139' '140' '44' '1' '1' '1' '8' '2' '1|0'",
    ),
    ("asked-1", "", "''"),
];

/// And of what was written, of the session, and of what the person does there.
const OF_CHANGES: [(&str, &str, &str); 9] = [
    ("row", "", "'client0' '1' 'a' 'a'"),
    (
        "act",
        "",
        "'client0' 'keep' '2: 1.1' '' '*pillion-changes*' '1'",
    ),
    (
        "act",
        "",
        "'client0' 'take-back' '2: 1.1' '' '*pillion-changes*' '1'",
    ),
    ("act", "", "'client0' 'undo' '' ''"),
    (
        "out-1",
        "a\nB\n",
        "'keep' 'client0' 'PATH' 'false' '1' 'lf' 'none' '2.1,2.1' '-file'",
    ),
    (
        "out-2",
        "a\nB\n",
        "'take-back' 'client0' 'PATH' 'false' '1' 'lf' 'none' '2.1,2.1' '-file'",
    ),
    ("synced", "", "'PATH' 'saved' 'client0'"),
    ("here-1", "", "'another'"),
    ("end", "", "''"),
];

fn folder(world: &World) -> PathBuf {
    world.kakoune.get("%opt{pillion_dir}").into()
}

/// Writes it into files, as Kakoune did once, and says it, which is refused.
fn forge(world: &World, (name, text, words): (&str, &str, &str)) {
    let folder = folder(world);
    let inbox = folder.join("in");
    fs::write(inbox.join(format!("text-{name}")), text).unwrap();
    fs::write(inbox.join(name), format!("{words} 'end'")).unwrap();
    let said = format!("'{text}' {words} 'end'");
    let say = [PILLION, "kakoune", "--say", folder.to_str().unwrap(), name];
    // What it has started that is gone itself.
    let orphan = ["sh", "-c", "exec 3<&0; (setsid \"$@\" <&3 &)", "sh"];
    for words in [&say[..], &[&orphan[..], &say].concat()] {
        let answer = run(world, words, &said);
        let refused = "only the Kakoune of this session says what is typed in it";
        assert!(answer.contains(refused), "{name}: {answer:?}");
    }
}

/// The answer of a program.
fn run(world: &World, words: &[&str], input: &str) -> String {
    let mut child = Command::new(words[0])
        .args(&words[1..])
        .env_clear()
        .envs(world.home.env().iter())
        .stdin(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    child
        .stdin
        .take()
        .unwrap()
        .write_all(input.as_bytes())
        .unwrap();
    let output = child.wait_with_output().unwrap();
    String::from_utf8(output.stderr).unwrap()
}

/// The person does something after that which is read.
fn press(world: &World) {
    let report = folder(world).join(format!("in/context-{}", world.kakoune.pid()));
    let written = || fs::metadata(&report).and_then(|it| it.modified()).ok();
    let before = written();
    world.kakoune.input("l");
    let is_written = |_: &[String]| written() != before;
    world
        .kakoune
        .wait_until("a report", "%val{session}", is_written);
}

#[each_kakoune]
fn what_an_agents_shell_writes_or_says_decides_no_proposal(version: KakouneVersion) {
    for is_shown in [false, true] {
        // In a client of the person's own a proposal comes once they pause.
        let world = World::with(version, Home::new(), &[("a.txt", "one\n")], |setup| {
            setup.kakrc(if is_shown {
                ""
            } else {
                "define-command -override -hidden pillion-offer -params 1 nop"
            })
        });
        let mut gemini = world.gemini();
        let path = world.home.workspace().join("a.txt");
        gemini.propose(&path, "two\n");
        match is_shown {
            true => world.look(),
            false => world
                .kakoune
                .wait_value("%opt{pillion_waiting}", "*pillion-1*/a.txt"),
        }
        for one in OF_A_PROPOSAL {
            for shown in SHOWN {
                forge(&world, shown);
            }
            press(&world);
            forge(&world, one);
            press(&world);
            world.is_pending(&mut gemini, one.0);
        }
        if !is_shown {
            world.kakoune.input(":pillion-show<ret>");
        }
        world.look();
        world.kakoune.input(":pillion-accept<ret>");
        let expected = Update::accepted(path.display().to_string(), "two\n");
        assert_eq!(gemini.outcome(), expected);
        world.kakoune.assert_no_errors();
    }
}

#[each_kakoune]
fn what_an_agents_shell_writes_or_says_decides_no_change(version: KakouneVersion) {
    let home = Home::new();
    let path = home.file("a.txt", "a\nb\n");
    home.agents_turn("change a letter", |folder| {
        fs::write(folder.join("a.txt"), "a\nB\n").unwrap();
    });
    let workspace = home.workspace();
    let world = World::with(version, home, &[("a.txt", "a\nB\n")], |setup| {
        setup.cwd(&workspace)
    });
    let session = world.kakoune.session().to_owned();
    for (name, text, words) in OF_CHANGES {
        let words = words.replace("PATH", path.to_str().unwrap());
        forge(&world, (name, text, &words));
        // Of a client that is none.
        let report = folder(&world).join(format!("in/context-{}", world.kakoune.pid()));
        press(&world);
        let report = fs::read_to_string(report).unwrap();
        let report = report.replace(&session, "another");
        let report = report.replace(&format!("'{}'", world.kakoune.pid()), "'1'");
        fs::write(folder(&world).join("in/context-1"), report).unwrap();
        press(&world);
        assert_eq!(world.home.states_of(1), ["unseen"], "{name}");
        assert_eq!(fs::read_to_string(&path).unwrap(), "a\nB\n");
    }
    world.kakoune.input("2g:pillion-keep<ret>");
    world.home.wait_state(1, "kept");
}
