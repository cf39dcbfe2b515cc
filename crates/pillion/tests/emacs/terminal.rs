//! Agents in terminals of Emacs: `pillion-run`, `pillion-send`. Stand-ins write down how they were started and every
//! byte that is typed.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::time::Instant;

use pillion_testkit::{
    Emacs, EmacsVersion, Home, SOON, TestClaude, each_emacs, each_newer_emacs, make_repository,
};

use crate::world::World;

/// The first line is the folder, the second the ports of both kinds; then one argument a line.
const SCRIPT: &str = r#"#!/bin/sh
record="$HOME/$(basename "$0")"
stty raw -echo
printf '%s\n' "$PWD" "$GEMINI_CLI_IDE_SERVER_PORT $CLAUDE_CODE_SSE_PORT" "$@" > "$record.begun"
mv "$record.begun" "$record.started"
cat > "$record.typed"
"#;

struct Terminal {
    world: World,
}

impl Terminal {
    fn new(version: EmacsVersion) -> Terminal {
        let home = Home::new();
        let folder = home.root().join("stand-ins");
        fs::create_dir(&folder).unwrap();
        for name in ["claude", "gemini", "opencode", "qwen"] {
            let path = folder.join(name);
            fs::write(&path, SCRIPT).unwrap();
            fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).unwrap();
        }
        let init = format!(
            "(push {folder:?} exec-path) (setenv \"PATH\" (concat \"{}:\" (getenv \"PATH\")))
             (setq pillion-agents '((\"gemini\" \"gemini\" \"--flag\" \"a b\")))",
            folder.display()
        );
        Terminal {
            world: World::with(version, home, |setup| setup.init(&init)),
        }
    }

    #[track_caller]
    fn wait_file(&self, name: &str, wanted: impl Fn(&str) -> bool) -> String {
        let begun = Instant::now();
        loop {
            let text = fs::read(self.world.home.home().join(name)).unwrap_or_default();
            let text = String::from_utf8_lossy(&text).into_owned();
            if wanted(&text) {
                return text;
            }
            assert!(
                begun.elapsed() < SOON,
                "{name} is {text:?}\n{}",
                self.world.emacs.describe()
            );
            std::thread::sleep(std::time::Duration::from_millis(20));
        }
    }

    /// Waits until this was typed last, as a paste.
    #[track_caller]
    fn pasted(&self, agent: &str, text: &str) {
        let end = format!("\u{1b}[200~{text}\u{1b}[201~");
        self.wait_file(&format!("{agent}.typed"), |typed| typed.ends_with(&end));
        self.in_terminal();
    }

    fn in_terminal(&self) {
        self.world
            .emacs
            .wait_until("the agent's terminal", "(eq major-mode 'term-mode)");
    }

    /// Runs an agent; what it notes.
    #[track_caller]
    fn run(&self, agent: &str) -> Vec<String> {
        self.world
            .emacs
            .input(&format!("<M-x>pillion-run<RET>{agent}<RET>"));
        let agent = agent.split(' ').next().unwrap_or(agent);
        let noted = self.wait_file(&format!("{agent}.started"), |text| !text.is_empty());
        self.in_terminal();
        noted.lines().map(str::to_owned).collect()
    }

    /// Goes back to the file.
    fn leave(&self) {
        self.world
            .emacs
            .input_until("<C-c>o", "(equal (buffer-name) \"a.txt\")");
    }
}

/// In Emacs' own project of the file, as soon as that is open.
#[each_newer_emacs]
fn an_agent_starts_in_the_project_of_the_file_that_was_just_opened(version: EmacsVersion) {
    for (set_up, expected) in [
        ("", "other"),
        // As for a submodule.
        ("(setq pillion-test-project \"~/other/\")", "other"),
        // As with `project-vc-extra-root-markers'.
        ("(setq pillion-test-project \"~/other/sub/\")", "other/sub"),
    ] {
        let terminal = Terminal::new(version);
        let home = terminal.world.home.home();
        make_repository(&home.join("other"));
        fs::create_dir_all(home.join("other/sub")).unwrap();
        fs::write(home.join("other/sub/b.txt"), "b\n").unwrap();
        if set_up.contains("other/\"") {
            make_repository(&home.join("other/sub"));
        }
        let emacs = &terminal.world.emacs;
        let project = "(defun pillion-test-project (folder) \
             (and (bound-and-true-p pillion-test-project) \
                  (file-in-directory-p folder pillion-test-project) \
                  (cons 'pillion-test pillion-test-project))) \
             (cl-defmethod project-root ((project (head pillion-test))) (cdr project)) \
             (push #'pillion-test-project project-find-functions)";
        emacs.eval(&format!(
            "(progn (require 'project) {project} {set_up} \
             (find-file \"~/other/sub/b.txt\") (pillion-run \"gemini\"))"
        ));
        let noted = terminal.wait_file("gemini.started", |text| !text.is_empty());
        let folder = home.join(expected).display().to_string();
        assert_eq!(noted.lines().next(), Some(&*folder), "{set_up}");
        emacs.assert_no_errors();
    }
}

#[each_newer_emacs]
fn an_agent_runs_beside_the_file_and_its_window_comes_and_goes(version: EmacsVersion) {
    let terminal = Terminal::new(version);
    let emacs = &terminal.world.emacs;
    let port: u32 = emacs.get("(pillion-client-get :port)");
    let noted = terminal.run("gemini");
    let folder = terminal.world.home.workspace().display().to_string();
    assert_eq!(
        noted,
        [folder.as_str(), &format!("{port} {port}"), "--flag", "a b"]
    );
    terminal.leave();
    emacs.input("<M-x>pillion-run<RET>gemini<RET>");
    emacs.wait_until("its window gone", "(= (length (window-list)) 1)");
    emacs.input("<M-x>pillion-run<RET>gemini<RET>");
    terminal.in_terminal();
    assert_eq!(emacs.get::<u32>("(length (window-list))"), 2);
    terminal.leave();
    let noted = terminal.run("opencode");
    assert_eq!(noted[1], format!("{port} "), "opencode would dial the port");
    emacs.assert_no_errors();
}

/// Started there, shown there, and the one that gets what is sent from there.
#[each_newer_emacs]
fn each_project_has_a_session_of_its_own(version: EmacsVersion) {
    let terminal = Terminal::new(version);
    let emacs = &terminal.world.emacs;
    let other = terminal.world.home.home().join("other");
    make_repository(&other);
    fs::write(other.join("b.txt"), "b\n").unwrap();
    let first = terminal.run("gemini")[0].clone();
    terminal.leave();
    emacs.eval("(progn (find-file \"~/other/b.txt\") (pillion-run \"gemini\"))");
    let other = other.display().to_string();
    terminal.wait_file("gemini.started", |text| text.starts_with(&other));
    terminal.in_terminal();
    emacs.input_until("<C-c>o", "(equal (buffer-name) \"b.txt\")");
    for (file, folder) in [
        (format!("{first}/a.txt"), first),
        ("~/other/b.txt".to_owned(), other),
    ] {
        let gets = "(directory-file-name (buffer-local-value 'default-directory (pillion-terminal-target \"gemini\")))";
        let target: String = emacs.get(&format!("(progn (find-file {file:?}) {gets})"));
        assert_eq!(target, folder);
    }
    emacs.assert_no_errors();
}

#[each_newer_emacs]
fn arguments_go_behind_the_name_and_a_text_into_the_prompt(version: EmacsVersion) {
    let terminal = Terminal::new(version);
    let emacs = &terminal.world.emacs;
    let noted = terminal.run("gemini --resume \"a session\"");
    assert_eq!(noted[2..], ["--flag", "a b", "--resume", "a session"]);
    terminal.leave();
    emacs.input("<M-x>pillion-run<RET>gemini --resume<RET>");
    emacs.wait_said("gemini runs here already: C-u 2 M-x pillion-run starts another one");
    emacs.input("<M-x>pillion-run<RET>nobody --resume<RET>");
    emacs.wait_said("unknown agent nobody: see ");
    emacs.input("<M-x>pillion-ask<RET>What is this?<RET>");
    terminal.pasted("gemini", "What is this?");
    emacs.assert_no_errors();
}

#[each_emacs]
fn the_program_says_which_agents_there_are(version: EmacsVersion) {
    let terminal = Terminal::new(version);
    let emacs = &terminal.world.emacs;
    let names = |emacs: &Emacs| {
        emacs.get::<String>("(string-join (sort (pillion-terminal-names) #'string<) \" \")")
    };
    assert_eq!(
        names(emacs),
        "claude codex copilot gemini kimi opencode qwen vibe"
    );
    emacs.eval("(setq pillion-agents '((\"mine\" \"sh\") (\"qwen\" \"no-such-qwen\")))");
    assert_eq!(
        names(emacs),
        "claude codex copilot gemini kimi mine opencode qwen vibe"
    );
    emacs.input("<M-x>pillion-run<RET>qwen<RET>");
    emacs.wait_said("no-such-qwen is not installed: npm install -g @qwen-code/qwen-code");
    emacs.eval("(pillion-client-stop)");
    emacs.wait_until("none", "(eq pillion-client-phase 'stopped)");
    assert_eq!(
        names(emacs),
        "claude codex copilot gemini kimi mine opencode qwen vibe",
        "they stay"
    );
}

#[each_newer_emacs]
fn what_is_sent_is_pasted_and_presses_no_enter(version: EmacsVersion) {
    let terminal = Terminal::new(version);
    let emacs = &terminal.world.emacs;
    emacs.command("pillion-send");
    emacs.wait_said("is not running in a terminal here");
    terminal.run("gemini");
    terminal.leave();
    emacs.command("pillion-send");
    terminal.pasted("gemini", "@a.txt ");
    terminal.leave();
    emacs.input_until("<M-lt><C-n><C-SPC><C-n><C-f>", "mark-active");
    emacs.command("pillion-send");
    terminal.pasted("gemini", "@a.txt lines 2-3 \n```\ntwo\nt\n```\n");
    terminal.leave();
    let path = terminal.world.home.file("s p/b;c.txt", "x\n");
    emacs.input(&format!(
        "<M-x>pillion-send-file<RET>{}<RET>",
        path.file_name().map_or("", |_| "s\u{11} p/b;c.txt")
    ));
    terminal.pasted("gemini", "@s\\ p/b\\;c.txt ");
    terminal.leave();
    // Nothing in a text may end the paste.
    emacs.eval("(goto-char 1) (insert \"\\e[201~\\r```x\")");
    emacs.input_until("<C-a><C-SPC><C-e>", "mark-active");
    emacs.command("pillion-send");
    terminal.pasted("gemini", "a.txt line 1 \n````\n␛[201~␍```xone\n````\n");
    assert!(!terminal.wait_file("gemini.typed", |_| true).contains('\r'));
}

#[each_newer_emacs]
fn an_agent_that_knows_mentions_gets_one(version: EmacsVersion) {
    let terminal = Terminal::new(version);
    let emacs = &terminal.world.emacs;
    let mut claude = TestClaude::find(&terminal.world.home);
    emacs.wait_until(
        "an agent that knows mentions",
        "(pillion-client-get :mentions)",
    );
    emacs.input_until("<M-lt><C-n><C-SPC><C-n><C-n>", "mark-active");
    emacs.command("pillion-send");
    let mention = claude.mention();
    assert_eq!(
        (mention.path.as_str(), mention.lines()),
        (terminal.world.path.to_str().unwrap(), Some((1, 2)))
    );
    emacs.wait_said("mentioned in the prompt of Claude Code");
}

#[each_newer_emacs]
fn the_doctor_reports_the_state(version: EmacsVersion) {
    let world = World::new(version);
    world.emacs.command("pillion-doctor");
    world.emacs.wait_until("the report", "(and (equal (buffer-name) \"*pillion doctor*\") (string-search \"IDE mode\" (buffer-string)))");
    let report: String = world.emacs.get("(buffer-string)");
    for part in [
        concat!("Pillion for Emacs ", env!("CARGO_PKG_VERSION")),
        "Companion: version",
        "Workspace roots: /",
    ] {
        assert!(report.contains(part), "{part}: {report}");
    }
}

#[each_newer_emacs]
fn a_shell_of_emacs_leads_agents_to_it(version: EmacsVersion) {
    let world = World::new(version);
    let port: u32 = world.emacs.get("(pillion-client-get :port)");
    world.emacs.command("shell");
    world.emacs.wait_until(
        "a shell",
        "(and (eq major-mode 'shell-mode) (string-match-p \"[$#] \" (buffer-string)))",
    );
    world
        .emacs
        .input("echo port=$GEMINI_CLI_IDE_SERVER_PORT<RET>");
    world.emacs.wait_until(
        "the port",
        &format!("(string-search \"port={port}\" (buffer-string))"),
    );
    world.emacs.command("pillion-stop");
    world.emacs.wait_until(
        "no variables",
        "(not (getenv \"GEMINI_CLI_IDE_SERVER_PORT\"))",
    );
    assert!(
        pillion_testkit::discovery_files(&world.home, pillion_protocol::Dialect::GeminiCli)
            .is_empty()
    );
}

// Its hooks say nothing, and it is about to write what it has not proposed.
#[each_newer_emacs]
fn how_claude_code_asks_is_said(version: EmacsVersion) {
    let terminal = Terminal::new(version);
    let emacs = &terminal.world.emacs;
    let claude = TestClaude::find(&terminal.world.home);
    claude.close_all();
    emacs.wait_until(
        "a note",
        "(string-search \"may change files without asking\" (pillion-doctor-status))",
    );
    claude.diagnostics(Some("file:///a.txt"));
    emacs.wait_said("without showing them here first");
}
