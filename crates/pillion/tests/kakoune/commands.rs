//! The commands beside the review: `:pillion-run`, `:pillion-terminal`, `:pillion-send`, `:pillion-doctor`. A stand-in
//! for an agent writes down how it was started.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::Command;
use std::thread::sleep;
use std::time::{Duration, Instant};

use pillion_testkit::{
    Home, KakouneSetup, KakouneVersion, Pane, SOON, TestClaude, Tmux, each_kakoune,
};

use crate::world::{PILLION, World};

/// The first line is the port, the second the folder; then one argument a line. Newlines in them are two characters.
const SCRIPT: &str = r#"#!/bin/sh
{
    echo "$GEMINI_CLI_IDE_SERVER_PORT"
    for word in "$PWD" "$@"; do printf '%s.' "$word" | sed ':a;N;$!ba;s/\n/\\n/g'; echo; done
} > "$HOME/begun"
mv "$HOME/begun" "$HOME/started"
[ "$1" = fail ] && exit 3
cat
"#;

/// Names that are commands to some program.
const HOSTILE: [&str; 5] = [
    "it's \"q\" %{x} %sh{touch PWNED}",
    "$(touch PWNED)`touch PWNED`",
    "-x",
    "two\nlines\n",
    "ends;",
];

/// Kakoune in tmux, in this folder, with Gemini's stand-in on its PATH alone.
fn world(version: KakouneVersion, folder: &str) -> World {
    let home = Home::new();
    let folder = home.other_workspace(folder);
    let programs = home.root().join("stand-ins");
    fs::create_dir(&programs).unwrap();
    let program = programs.join("gemini");
    fs::write(&program, SCRIPT).unwrap();
    fs::set_permissions(&program, fs::Permissions::from_mode(0o755)).unwrap();
    World::with(
        version,
        home,
        &[("a.txt", "one\ntwo\nthree\n")],
        |setup: KakouneSetup| setup.knowing_tmux().cwd(&folder).path(&programs),
    )
}

/// The terminal that a command opened.
fn opened(world: &World) -> Pane {
    let own = world.kakoune.pane();
    own.wait_until("a terminal", SOON, |_| own.others().len() == 1);
    own.others().remove(0)
}

fn started(world: &World) -> Vec<String> {
    let file = world.home.home().join("started");
    let begun = Instant::now();
    while !file.exists() {
        let others = world.kakoune.pane().others();
        let screens: Vec<_> = others.iter().map(Pane::screen).collect();
        assert!(
            begun.elapsed() < SOON,
            "{screens:?}\n{}",
            world.kakoune.describe()
        );
        sleep(Duration::from_millis(20));
    }
    let text = fs::read_to_string(&file).unwrap();
    fs::remove_file(file).unwrap();
    text.lines().map(str::to_owned).collect()
}

fn assert_not_pwned(world: &World) {
    let mut folders = vec![world.home.home(), world.home.workspace()];
    folders.extend(HOSTILE.map(|name| world.home.root().join(name)));
    for folder in folders {
        assert!(!folder.join("PWNED").exists(), "{folder:?}");
    }
}

#[each_kakoune]
fn an_agent_runs_in_the_folder_of_the_session_and_knows_its_port(version: KakouneVersion) {
    for folder in HOSTILE {
        let world = world(version, folder);
        let port = world.kakoune.get("%opt{pillion_port}");
        world
            .kakoune
            .input(":pillion-run gemini '%sh{touch PWNED}' --flag 'it''s \"a\" b' $HOME<ret>");
        let folder = world.home.other_workspace(folder).display().to_string();
        let words = [
            folder.replace('\n', "\\n").as_str(),
            "%sh{touch PWNED}",
            "--flag",
            "it's \"a\" b",
            "$HOME",
        ]
        .map(|word| format!("{word}."));
        let noted = started(&world);
        assert_eq!(
            (noted[0].as_str(), &noted[1..]),
            (port.as_str(), &words[..])
        );
        assert_not_pwned(&world);
        world.kakoune.assert_no_errors();
    }
}

#[each_kakoune]
fn the_program_says_which_agents_there_are(version: KakouneVersion) {
    let world = world(version, "plain");
    let mut names = world.kakoune.list("%opt{pillion_agents}");
    names.sort();
    assert_eq!(
        names,
        [
            "claude", "codex", "copilot", "gemini", "kimi", "opencode", "qwen", "vibe"
        ]
    );
    world.kakoune.input(":pillion-run ");
    world.kakoune.pane().wait_for("opencode", SOON);
    world.kakoune.input("<esc>");
}

#[each_kakoune]
fn a_kakoune_that_is_too_old_is_told(version: KakouneVersion) {
    let (home, tmux) = (Home::new(), Tmux::start());
    let module = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../editors/kakoune/pillion.kak");
    let text = fs::read_to_string(module).unwrap();
    let newer = home.file(
        "newer.kak",
        text.replace("v20[01][0-9].*|v202[0-3].*)", "*)"),
    );
    let kakrc = format!(
        "source '{}'\nset-option global pillion_autostart false",
        newer.display()
    );
    let settings = home.home().join(".config/kak");
    fs::create_dir_all(&settings).unwrap();
    fs::write(settings.join("kakrc"), kakrc).unwrap();
    let kakoune = KakouneSetup::new(version, &home)
        .without_module()
        .in_tmux(&tmux);
    kakoune.input(":pillion-enable<ret>");
    kakoune
        .pane()
        .wait_for("Kakoune 2024.05 or newer is needed", SOON);
    assert_eq!(kakoune.get("%opt{pillion_port}"), "0");
}

#[each_kakoune]
fn the_output_of_an_agent_that_fails_can_be_read(version: KakouneVersion) {
    let world = world(version, "plain");
    world.kakoune.input(":pillion-run gemini fail<ret>");
    let pane = opened(&world);
    pane.wait_for("Exited with status 3. Press Enter.", SOON);
    pane.send_keys(["Enter"]);
    pane.wait_exit(SOON);
}

#[each_kakoune]
fn without_a_companion_they_say_so(version: KakouneVersion) {
    let world = world(version, "plain");
    world.kakoune.input(":pillion-disable<ret>");
    for command in ["pillion-run gemini", "pillion-terminal", "pillion-send"] {
        world.kakoune.input(&format!(":{command}<ret>"));
        world.kakoune.pane().wait_for("not running here", SOON);
        world.kakoune.input(":nop<ret>");
        world.kakoune.pane().wait_gone("not running here", SOON);
    }
    assert!(world.kakoune.pane().others().is_empty());
    world.kakoune.input(":pillion-enable<ret>");
    world.wait_running();
    world.kakoune.input(":pillion-run gemini<ret>");
    assert_eq!(started(&world)[0], world.kakoune.get("%opt{pillion_port}"));
}

/// In a `kakrc`, beside the automatic start, or by hand at once after it.
#[each_kakoune]
fn enabled_twice_it_is_one_view(version: KakouneVersion) {
    let files = [("a.txt", "a\n")];
    let world = World::with(version, Home::new(), &files, |setup| {
        setup.kakrc("pillion-enable\npillion-enable")
    });
    let views = || {
        let mut list = Command::new(PILLION);
        list.args(["list", "--json"])
            .current_dir(world.home.workspace());
        list.env_clear().envs(world.home.env().iter());
        let output = list.output().unwrap().stdout;
        let list: serde_json::Value = serde_json::from_slice(&output).unwrap();
        list[0]["views"].as_array().map(Vec::len)
    };
    world.wait_running();
    let started = Instant::now();
    let bridges = || {
        pillion_testkit::all_of(&world.home)
            .into_iter()
            .filter(|pid| {
                let command = fs::read(format!("/proc/{pid}/cmdline")).unwrap_or_default();
                command.windows(9).any(|part| part == b"\0kakoune\0")
            })
    };
    while views() != Some(1) || bridges().count() != 1 {
        assert!(started.elapsed() < SOON, "{:?}", views());
        sleep(Duration::from_millis(50));
    }
    let port = world.kakoune.get("%opt{pillion_port}");
    let folder = world.kakoune.get("%opt{pillion_dir}");
    assert!(
        port != "0" && Path::new(&folder).is_dir(),
        "{port} {folder}"
    );
}

#[each_kakoune]
fn every_agent_in_a_terminal_knows_the_port(version: KakouneVersion) {
    for folder in HOSTILE {
        let world = world(version, folder);
        let port = world.kakoune.get("%opt{pillion_port}");
        world.kakoune.input(":pillion-terminal<ret>");
        let pane = opened(&world);
        pane.wait_until("a shell", SOON, |screen| screen.contains(['$', '#']));
        pane.type_text("echo port=$GEMINI_CLI_IDE_SERVER_PORT; gemini x >/dev/null &\r");
        pane.wait_for(&format!("port={port}"), SOON);
        let folder = world.home.other_workspace(folder).display().to_string();
        assert_eq!(
            started(&world)[1],
            format!("{}.", folder.replace('\n', "\\n"))
        );
        assert_not_pwned(&world);
    }
}

#[each_kakoune]
fn the_selected_lines_are_named_whatever_the_file_is_called(version: KakouneVersion) {
    let world = World::open(version, &[("a.txt", "one\ntwo\nthree\n")]);
    let kakoune = &world.kakoune;
    kakoune.input(":pillion-send<ret>");
    kakoune
        .pane()
        .wait_for("no connected agent supports mentions", SOON);
    let mut claude = TestClaude::find(&world.home);
    for name in HOSTILE.into_iter().chain(["a:1-2", "a\\b,c"]) {
        let path = world
            .home
            .file(name, "%sh{touch PWNED}\ntwo\n'three\nfour\n");
        kakoune.command(&format!(
            "edit -- '{}'",
            path.to_str().unwrap().replace('\'', "''")
        ));
        for (keys, first, last) in [
            ("ggh", 0, 0),
            ("ggxJ", 0, 1),
            // The cursor stands above the anchor.
            ("3gghKK", 0, 2),
        ] {
            kakoune.input(keys);
            kakoune.input(":pillion-send<ret>");
            let mention = claude.mention();
            let path = path.to_str().unwrap();
            // Claude Code reads a name with blanks in quotes, with the lines.
            let quoted = match (first, last) {
                (first, last) if first == last => format!("\"{path}#L{}\"", first + 1),
                (first, last) => format!("\"{path}#L{}-{}\"", first + 1, last + 1),
            };
            let expected = match path.contains(char::is_whitespace) {
                true => (quoted.as_str(), None),
                false => (path, Some((first, last))),
            };
            assert_eq!((mention.path.as_str(), mention.lines()), expected, "{keys}");
        }
        kakoune.pane().wait_for("Claude Code", SOON);
    }
    kakoune.input(":edit -scratch *mine*<ret>:pillion-send<ret>");
    kakoune.pane().wait_for("this buffer has no file", SOON);
    assert_not_pwned(&world);
    kakoune.assert_no_errors();
}

#[each_kakoune]
fn the_doctor_and_the_status_say_how_things_are(version: KakouneVersion) {
    for folder in HOSTILE {
        let world = world(version, folder);
        let kakoune = &world.kakoune;
        let port = kakoune.get("%opt{pillion_port}");
        kakoune.input(":pillion-doctor<ret>");
        kakoune.wait_value("%val{bufname}", "*pillion-doctor*");
        let said = kakoune.text_in_focus();
        assert!(said.contains("Kakoune") && said.contains(&port), "{said}");
        let _gemini = world.gemini();
        kakoune.input(":pillion-status<ret>");
        kakoune.pane().wait_for(&format!("port {port}"), SOON);
        // Its hooks say nothing, and it is about to write what it has not proposed.
        let claude = TestClaude::find(&world.home);
        claude.close_all();
        claude.diagnostics(Some("file:///a.txt"));
        kakoune.pane().wait_for("without showing them here", SOON);
        kakoune.input(":pillion-status<ret>");
        kakoune
            .pane()
            .wait_for("may change files without asking", SOON);
        assert_not_pwned(&world);
        kakoune.assert_no_errors();
    }
}
