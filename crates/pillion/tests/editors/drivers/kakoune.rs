//! Kakoune, by its keys and its session. It has no terminals of its own: its person goes to another pane, and the
//! proposal opens in its one client.

use std::cell::Cell;
use std::fs;
use std::path::Path;
use std::time::{Duration, SystemTime};

use pillion_protocol::Dialect;
use pillion_testkit::{AgentsTerminal, KakouneSetup, KakouneVersion, SOON};
use serde_json::{Value, json};

use crate::driver::{Editor, Habit, PILLION, Start};

const AUTOSAVE: &str = "declare-option int saves 0
    define-command save %{ set-option -add global saves 1; try write }
    hook global NormalIdle .* save
    hook global InsertIdle .* save
    hook global ModeChange 'pop:.*' save
    hook global BufClose .* save
    hook global FocusOut .* %{ try write-all }";

const TIDY_FILES: &str =
    "hook global BufWritePre .* %{ try %{ execute-keys -draft '%s\\h+$<ret>d' } }
    set-option global eolformat crlf
    set-option global BOM utf8";

/// The person's place, registers, undo, options, buffers, clients. Not `autoreload` of the file's buffer, which is
/// another one while an agent is to write the file.
const TRACES: [&str; 13] = [
    "%val{bufname}",
    "%val{selections_desc}",
    "%val{history_id}",
    "%val{modified}",
    "%val{client_list}",
    "%val{window_range}",
    "%reg{dquote}",
    "%reg{slash}",
    "%reg{arobase}",
    "%reg{caret}",
    "%reg{pipe}",
    "%opt{eolformat}",
    "%val{buflist}",
];

pub struct Kakoune {
    kakoune: pillion_testkit::Kakoune,
    is_elsewhere: Cell<bool>,
}

impl Kakoune {
    pub fn start(version: KakouneVersion, start: &Start<'_>) -> Kakoune {
        let habit = match start.habit {
            Habit::None => "",
            Habit::Autosave => AUTOSAVE,
            Habit::TidyFiles => TIDY_FILES,
        };
        let mut setup = KakouneSetup::new(version, start.home)
            .pillion(PILLION)
            .cwd(&start.cwd)
            .kakrc(habit);
        for file in &start.files {
            setup = setup.arg(file);
        }
        Kakoune {
            kakoune: setup.in_tmux(start.tmux),
            is_elsewhere: Cell::new(false),
        }
    }

    fn type_until(&self, keys: &str, is_done: impl Fn(&str) -> bool, mode: &str) {
        self.kakoune.input(keys);
        self.kakoune
            .wait_until(keys, "%val{bufname}", |_| is_done(&self.text()));
        // Last: it is in that mode before the first key, too, and an Escape is read late, as Kakoune waits for what comes
        // after it.
        self.kakoune.wait_value("%opt{pillion_mode}", mode);
    }
}

impl Editor for Kakoune {
    fn accept_times(&self, times: usize) {
        self.kakoune.input(&":w<ret>".repeat(times));
    }

    fn reject(&self) {
        self.command("reject", "");
    }

    fn reject_because(&self, reason: &str) {
        self.command("reject", reason);
    }

    fn close(&self) {
        self.kakoune.input(":q<ret>");
    }

    fn command(&self, name: &str, word: &str) {
        let line = format!(":pillion-{name} {word}");
        self.kakoune.input(&format!("{}<ret>", line.trim_end()));
    }

    fn append(&self, line: &str) {
        let end = format!("\n{line}\n");
        self.type_until(
            &format!("geo{line}<esc>"),
            |text| text.ends_with(&end),
            "normal",
        );
    }

    fn undo(&self) {
        // A proposal takes keys once it was there for long enough.
        self.kakoune.wait_value("%opt{readonly}", "false");
        self.kakoune.input("u");
    }

    fn bring_back(&self) {
        self.kakoune.input(":pillion-bring-back<ret>");
    }

    fn begin_typing(&self, text: &str) {
        let end = format!("\n{text}\n");
        self.type_until(&format!("geo{text}"), |text| text.ends_with(&end), "insert");
    }

    fn type_on(&self, text: &str) {
        self.kakoune.input(text);
    }

    fn end_typing(&self) {
        self.type_until("<esc>", |_| true, "normal");
    }

    fn keep_unsaved(&self) {
        self.kakoune.pane().wait_for("reload", SOON);
        self.kakoune.input("n");
        self.kakoune.wait_value("%opt{pillion_rest}", "idle");
    }

    fn go_to(&self, line: u32) {
        self.kakoune.input(&format!("{line}ggh"));
        let place = format!("{line}.1,{line}.1");
        self.kakoune.wait_value("%val{selection_desc}", &place);
    }

    fn select(&self, line: u32, characters: u32) {
        let further = "L".repeat(characters as usize - 1);
        self.kakoune.input(&format!("{line}ggh{further}"));
        let place = format!("{line}.1,{line}.{characters}");
        self.kakoune.wait_value("%val{selection_desc}", &place);
    }

    fn open_terminal(&self) {
        self.is_elsewhere.set(true);
    }

    fn enter_terminal(&self) {
        self.is_elsewhere.set(true);
    }

    fn leave_terminal(&self) {
        self.is_elsewhere.set(false);
    }

    fn save_by_code(&self) {
        for command in [
            "try write",
            "try write-all",
            "try %{ execute-keys ':w<ret>' }",
        ] {
            self.kakoune.command(command);
        }
    }

    fn save_by_other(&self, path: &Path, line: &str) -> bool {
        let path = path.display();
        self.kakoune.command_of_other(&format!(
            "evaluate-commands -buffer {path} %{{ execute-keys 'geo{line}<esc>'; write }}"
        ));
        true
    }

    fn save_in_agents_window(&self, line: &str) -> Option<AgentsTerminal> {
        let (program, env) = self.kakoune.program();
        let command = [program.to_str().unwrap(), "-c", self.kakoune.session()];
        let mut window = AgentsTerminal::run(&env, &command);
        window.wait_for("client1@");
        window.type_text(&format!("geo{line}"));
        window.wait_for(line);
        window.type_text("\u{1b}");
        self.kakoune.wait_value("%opt{pillion_mode}", "normal");
        window.type_text(":w\r");
        Some(window)
    }

    fn autosaves(&self) -> u32 {
        self.kakoune.get("%opt{saves}").parse().unwrap()
    }

    fn wait_read(&self) {
        self.kakoune.pane().wait_read();
    }

    fn show_proposal(&self) {
        self.kakoune.input(":pillion-show<ret>");
    }

    fn is_running(&self) -> bool {
        self.kakoune.get("%opt{pillion_port}") != "0"
    }

    fn knows(&self, agent: &str) -> bool {
        let status = Path::new(&self.kakoune.get("%opt{pillion_dir}")).join("out/status");
        let agent = Dialect::ALL
            .into_iter()
            .find(|it| it.name() == agent)
            .unwrap();
        fs::read_to_string(status).is_ok_and(|status| status.contains(agent.display_name()))
    }

    fn has_in_status_line(&self, text: &str) -> bool {
        self.kakoune.get("%opt{pillion_decided}").contains(text)
    }

    fn is_in_proposal(&self) -> bool {
        !self.is_elsewhere.get() && self.kakoune.get("%opt{pillion_id}") != "0"
    }

    fn may_accept(&self) -> bool {
        let ready = self.kakoune.get("%opt{pillion_ready}").parse();
        let now = SystemTime::UNIX_EPOCH.elapsed().unwrap();
        let is_seen = ready.is_ok_and(|ready| Duration::from_millis(ready) < now);
        is_seen && self.kakoune.get("%opt{readonly}") == "false"
    }

    fn has_views(&self) -> bool {
        let buffers = self.kakoune.list("%val{buflist}");
        buffers.iter().any(|name| name.starts_with("*pillion-"))
    }

    fn sees(&self, text: &str) -> bool {
        self.kakoune.pane().screen().contains(text)
    }

    fn text(&self) -> String {
        self.kakoune.text_in_focus()
    }

    fn file_text(&self, path: &Path) -> String {
        self.kakoune.text(path.to_str().unwrap())
    }

    fn has_kept(&self, text: &str) -> bool {
        let buffers = self.kakoune.list("%val{buflist}");
        let mut kept = buffers.iter().filter(|name| name.contains("pillion-kept-"));
        kept.any(|name| self.kakoune.text(name) == text)
    }

    fn traces(&self) -> Value {
        TRACES
            .map(|trace| json!(self.kakoune.list(trace)))
            .into_iter()
            .collect()
    }

    fn assert_no_errors(&self) {
        self.kakoune.assert_no_errors();
    }

    fn describe(&self) -> String {
        self.kakoune.describe()
    }

    fn try_to_quit(&self, _way: usize) -> bool {
        false
    }

    fn quit(&self) {
        self.kakoune.quit();
    }

    fn kill(&self) {
        self.kakoune.kill();
    }
}
