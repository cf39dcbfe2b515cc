//! A person with a bare Debian, Neovim, Claude Code and one file of a release gets a proposal into Neovim, by the lines of
//! the README's first screen and nothing else. The times are printed.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use pillion_testkit::{
    Claude, ClaudeNpm, ClaudeRelease, Env, Model, Pane, SOON, Size, Tmux, Turn, pause,
    set_up_claude_in,
};

use crate::bare::{Debian, artifact};

const README: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../README.md");

/// The file that the README opens.
const FILE: &str = "src/main.rs";
const BEFORE: &str = "fn main() {\n    println!(\"one\");\n}\n";
const AFTER: &str = "fn main() {\n    println!(\"two\");\n}\n";

const TERMINAL: Size = Size::new(110, 40);

/// The prompt of a shell when a command has ended well.
const DONE: &str = "[0] $";

/// The commands of the README's first screen, with what is said beside them.
fn first_screen() -> Vec<String> {
    let readme = fs::read_to_string(README).unwrap();
    let (screen, _) = readme.split_once("## What works with what").unwrap();
    let (_, screen) = screen.split_once("## Install").unwrap();
    let blocks = screen.split("```sh\n").skip(1);
    let lines = blocks.flat_map(|block| block.split("```").next().unwrap().lines());
    lines.map(str::to_owned).collect()
}

/// The one of them that has this in it.
#[track_caller]
fn line_with(part: &str) -> String {
    let screen = first_screen();
    let mut found = screen.iter().filter(|line| line.contains(part));
    let line = found
        .next()
        .unwrap_or_else(|| panic!("no {part}: {screen:#?}"));
    assert!(found.next().is_none(), "{part}: {screen:#?}");
    line.clone()
}

fn last_line(screen: &str) -> &str {
    screen.trim_end().lines().last().unwrap_or_default()
}

/// Types a line in a shell that waits for one.
fn type_line(terminal: &Pane, line: &str) {
    let waits = |screen: &str| last_line(screen) == DONE;
    terminal.wait_until("a shell that waits", SOON, waits);
    terminal.type_text(line);
    terminal.wait_until(line, SOON, |screen| !waits(screen));
    terminal.send_keys(["Enter"]);
}

/// Runs a line there. A question meanwhile is answered with yes where it is about Neovim.
fn run(terminal: &Pane, line: &str) {
    type_line(terminal, line);
    loop {
        let what = format!("the end of {line}, or a question");
        let screen = terminal.wait_until(&what, SOON, |screen| {
            let last = last_line(screen);
            last == DONE || last.ends_with("[Y/n]") || failed(last)
        });
        let question = last_line(&screen);
        assert!(!failed(question), "{screen}");
        if question == DONE {
            return;
        }
        let answer = if question.contains("Neovim") {
            "y"
        } else {
            "n"
        };
        terminal.type_text(answer);
        terminal.send_keys(["Enter"]);
        terminal.wait_until("the next line", SOON, |screen| {
            last_line(screen) != question
        });
    }
}

fn failed(prompt: &str) -> bool {
    prompt.starts_with('[') && prompt.ends_with("] $") && prompt != DONE
}

/// The walk of who has these files, and installs by the line of the README with this in it.
fn walk(files: &[PathBuf], install: &str) {
    let debian = Debian::new();
    for file in files {
        let name = file.file_name().unwrap().to_str().unwrap();
        debian.put(&format!("root/downloads/{name}"), fs::read(file).unwrap());
    }
    debian.put(&format!("root/project/{FILE}"), BEFORE);
    let project = Path::new("/root/project");
    set_up_claude_in(&debian.path("root"), project);
    let release = ClaudeRelease::Native;
    let agent = ClaudeNpm::from_env().bin(release).join("claude");
    let running = debian.start(&[(&agent, "usr/local/bin/claude")]);

    let (tmux, model) = (Tmux::start(), Model::start());
    let env = Env::default()
        .with(
            "PATH",
            "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin",
        )
        .with("HOME", "/root")
        .with("LANG", "C.UTF-8");
    let env = ClaudeRelease::asking(env, &model);
    let login = |name: &str, folder: &str| {
        let command = running.login(folder);
        tmux.spawn(name, TERMINAL, &env, Path::new("/"), &command)
    };
    let editor = login("editor", "~/downloads");
    let started = Instant::now();
    run(&editor, &line_with(install));
    run(&editor, &line_with("pillion install"));
    let installed = started.elapsed();

    run(&editor, "cd ~/project");
    let other = login("agent", "~/project");
    let started = Instant::now();
    type_line(&editor, &line_with("nvim "));
    editor.wait_for("println", SOON);
    let opened = started.elapsed();
    wait_for_companion(&debian);
    type_line(&other, &line_with("pillion run claude"));
    let claude = Claude::attach(release, other);
    let ready = started.elapsed();
    // That it knows where the person is.
    claude.wait_for("main.rs");
    let file = project.join(FILE);
    model.script([
        Turn::read_file(&file),
        Turn::write_file(&file, AFTER),
        Turn::say("Two it is."),
    ]);
    let asked = Instant::now();
    claude.prompt("count on");
    editor.wait_until("the proposal", SOON, |screen| {
        screen.contains("\"one\"") && screen.contains("\"two\"")
    });
    let (shown, from_prompt) = (started.elapsed(), asked.elapsed());
    assert_eq!(read(&debian), BEFORE);
    accept(&editor, &debian);
    claude.wait_for("Two it is.");
    tell(
        install,
        &[
            ("artifact to installed", installed),
            ("editor started to file on the screen", opened),
            ("editor started to Claude Code ready", ready),
            ("editor started to proposal on the screen", shown),
            ("prompt to proposal on the screen", from_prompt),
        ],
    );
}

/// Nobody is in the other terminal sooner than this: a program is, and its agent would start without the editor.
fn wait_for_companion(debian: &Debian) {
    let (folder, started) = (debian.path("root/.claude/ide"), Instant::now());
    while fs::read_dir(&folder).map_or(0, Iterator::count) == 0 {
        assert!(started.elapsed() < SOON, "no companion started");
        pause(started);
    }
}

/// Accepts it as the README says. A hunk that has not been on the screen for long enough is asked about again.
fn accept(editor: &Pane, debian: &Debian) {
    let started = Instant::now();
    while read(debian) != AFTER {
        assert!(started.elapsed() < SOON, "{}", editor.screen());
        editor.send_keys(["Escape"]);
        editor.type_text(":w\n");
        let tried = Instant::now();
        while read(debian) != AFTER && tried.elapsed() < Duration::from_secs(3) {
            pause(tried);
        }
    }
}

fn read(debian: &Debian) -> String {
    debian.get(&format!("root/project/{FILE}"))
}

#[allow(clippy::print_stdout, reason = "the times are what the walk is for")]
fn tell(what: &str, times: &[(&str, Duration)]) {
    for (name, time) in times {
        println!("{what}: {name}: {:.1} s", time.as_secs_f64());
    }
}

fn platform() -> &'static str {
    if cfg!(target_arch = "x86_64") {
        "x64"
    } else {
        "arm64"
    }
}

#[test]
#[ignore = "needs the artifacts and Claude Code: cargo xtask test --only dist"]
fn the_archive_leads_to_a_proposal() {
    let name = format!("pillion-{}-{}", crate::bare::VERSION, crate::bare::target());
    walk(&[artifact(&name, ".tar.gz")], ".tar.gz");
}

#[test]
#[ignore = "needs the artifacts and Claude Code: cargo xtask test --only dist"]
fn the_debian_package_leads_to_a_proposal() {
    let architecture = if platform() == "x64" {
        "amd64"
    } else {
        "arm64"
    };
    walk(
        &[artifact("pillion_", &format!("_{architecture}.deb"))],
        ".deb",
    );
}

#[test]
#[ignore = "needs the artifacts and Claude Code: cargo xtask test --only dist"]
fn the_npm_packages_lead_to_a_proposal() {
    let launcher = artifact(&format!("pillion-{}", crate::bare::VERSION), ".tgz");
    let program = artifact(&format!("pillion-linux-{}", platform()), ".tgz");
    walk(&[launcher, program], ".tgz");
}
