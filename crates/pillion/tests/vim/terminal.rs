//! Agents in terminals of Vim: `:Pillion run`, `:PillionSend`, `:PillionAdd`. Stand-ins write down how they were
//! started and every byte that is typed.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::time::Instant;

use pillion_testkit::{Home, SOON, TestClaude, Vim, VimVersion, each_vim, make_repository};

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
    fn new(version: VimVersion) -> Terminal {
        let home = Home::new();
        let folder = home.root().join("stand-ins");
        fs::create_dir(&folder).unwrap();
        for name in ["claude", "gemini", "opencode", "qwen"] {
            let path = folder.join(name);
            fs::write(&path, SCRIPT).unwrap();
            fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).unwrap();
        }
        let files = [("a.txt", "one\ntwo\nthree\n")];
        let world = World::with(version, home, &files, |setup| {
            setup.vimrc(&format!("let $PATH = '{}:' .. $PATH", folder.display()))
        });
        Terminal { world }
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
                self.world.vim.describe()
            );
            std::thread::sleep(std::time::Duration::from_millis(20));
        }
    }

    /// Waits until this was typed last, as a paste.
    #[track_caller]
    fn pasted(&self, agent: &str, text: &str) {
        let end = format!("\u{1b}[200~{text}\u{1b}[201~");
        self.wait_file(&format!("{agent}.typed"), |typed| typed.ends_with(&end));
        self.world
            .vim
            .wait_until("typing in the agent's terminal", "mode() == 't'");
    }

    /// Runs an agent; what it notes.
    #[track_caller]
    fn run(&self, words: &str) -> Vec<String> {
        self.world.vim.input(&format!(":Pillion run {words}<CR>"));
        let agent = words.split(' ').next().unwrap();
        let noted = self.wait_file(&format!("{agent}.started"), |text| !text.is_empty());
        self.world.vim.wait_until("its terminal", "mode() == 't'");
        noted.lines().map(str::to_owned).collect()
    }
}

#[each_vim]
fn an_agent_runs_beside_the_file_and_its_window_comes_and_goes(version: VimVersion) {
    let terminal = Terminal::new(version);
    let vim = &terminal.world.vim;
    let port: u32 = vim.get("pillion#Status().port");
    let noted = terminal.run("gemini --flag a\\ b");
    let folder = terminal.world.home.workspace().display().to_string();
    assert_eq!(
        noted,
        [folder.as_str(), &format!("{port} {port}"), "--flag", "a b"]
    );
    let layout = "winnr('$')";
    vim.input("<C-w>:Pillion run gemini<CR>");
    vim.wait_until("its window gone", "winnr('$') == 1");
    vim.input(":Pillion run gemini<CR>");
    vim.wait_until("it again", "winnr('$') == 2 && mode() == 't'");
    vim.input("<C-w>:Pillion focus<CR>");
    vim.wait_until("the file", "bufname() == 'a.txt'");
    assert_eq!(vim.get::<u32>(layout), 2);
    let noted = terminal.run("opencode");
    assert_eq!(noted[1], format!("{port} "), "opencode would dial the port");
    vim.input("<C-w>:Pillion run nobody<CR>");
    vim.wait_said("unknown agent nobody");
    vim.assert_no_errors();
}

#[each_vim]
fn an_agent_starts_where_the_person_is_at_that_moment(version: VimVersion) {
    for (set_up, expected) in [
        ("tcd ../other", "other"),
        ("lcd src", "workspace/src"),
        ("edit ../other/b.txt", "other"),
        ("cd / | edit ~/notes/c.txt", "notes"),
    ] {
        let terminal = Terminal::new(version);
        let home = &terminal.world.home;
        fs::create_dir(home.workspace().join("src")).unwrap();
        let other = home.other_workspace("other");
        make_repository(&other);
        fs::write(other.join("b.txt"), "b\n").unwrap();
        let notes = home.home().join("notes");
        fs::create_dir_all(notes.join(".hg")).unwrap();
        let folder = match expected {
            "other" => other,
            "notes" => notes,
            _ => home.workspace().join("src"),
        };
        let vim = &terminal.world.vim;
        vim.input(&format!(":{set_up} | Pillion run gemini<CR>"));
        let noted = terminal.wait_file("gemini.started", |text| !text.is_empty());
        let started = noted.lines().next().unwrap();
        assert_eq!(started, folder.to_str().unwrap(), "{set_up}");
        vim.assert_no_errors();
    }
}

#[each_vim]
fn the_program_says_which_agents_there_are(version: VimVersion) {
    let terminal = Terminal::new(version);
    let vim = &terminal.world.vim;
    let names = |vim: &Vim| vim.get::<Vec<String>>("getcompletion('Pillion run ', 'cmdline')");
    assert_eq!(
        names(vim),
        [
            "claude", "codex", "copilot", "gemini", "kimi", "opencode", "qwen", "vibe"
        ]
    );
    vim.command("let g:pillion_agents = {'mine': ['sh'], 'qwen': ['no-such-qwen']}");
    assert_eq!(
        names(vim),
        [
            "claude", "codex", "copilot", "gemini", "kimi", "mine", "opencode", "qwen", "vibe"
        ]
    );
    vim.input(":Pillion run qwen<CR>");
    vim.wait_said("no-such-qwen is not installed. Hint: npm install -g @qwen-code/qwen-code");
    vim.input("<CR>:Pillion stop<CR>");
    vim.wait_until("none", "!pillion#Status().running");
    assert_eq!(
        names(vim),
        [
            "claude", "codex", "copilot", "gemini", "kimi", "mine", "opencode", "qwen", "vibe"
        ],
        "they stay"
    );
}

#[each_vim]
fn a_vim_that_is_too_old_is_told(version: VimVersion) {
    let terminal = Terminal::new(version);
    let plugin = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../editors/vim/plugin/pillion.vim");
    let text = fs::read_to_string(plugin).unwrap();
    let newer = terminal.world.home.file(
        "newer.vim",
        text.replace("v:version < 901", "v:version < 9901"),
    );
    let vim = &terminal.world.vim;
    vim.command("unlet g:loaded_pillion");
    vim.input(&format!(":source {}<CR>", newer.display()));
    vim.wait_said("Pillion needs Vim 9.1 or newer");
    assert_eq!(vim.get::<u8>("exists('g:loaded_pillion')"), 0);
}

#[each_vim]
fn what_is_sent_is_pasted_and_presses_no_enter(version: VimVersion) {
    let terminal = Terminal::new(version);
    let vim = &terminal.world.vim;
    vim.input(":PillionSend<CR>");
    vim.wait_said("no agent is running in a terminal here");
    terminal.run("gemini");
    vim.input("<C-w>p:PillionSend<CR>");
    terminal.pasted("gemini", "@a.txt ");
    vim.input("<C-w>pjvj:PillionSend<CR>");
    terminal.pasted("gemini", "@a.txt lines 2-3 \n```\ntwo\nt\n```\n");
    vim.input("<C-w>p:1,2PillionSend<CR>");
    terminal.pasted("gemini", "@a.txt lines 1-2 \n```\none\ntwo\n```\n");
    terminal.world.home.file("s p/b;c.txt", "x\n");
    vim.input("<C-w>p:PillionSend gemini s\\ p/b;c.txt:3-7 a.txt<CR>");
    terminal.pasted("gemini", "@s\\ p/b\\;c.txt lines 3-7 @a.txt ");
    vim.input("<C-w>p:PillionAdd a.txt 2<CR>");
    terminal.pasted("gemini", "@a.txt line 2 ");
    // Nothing in a text may end the paste.
    vim.command("call setbufline('a.txt', 1, \"\\<Esc>[201~\\r```x\")");
    vim.input("<C-w>p:1PillionSend<CR>");
    terminal.pasted("gemini", "a.txt line 1 \n````\n␛[201~␍```x\n````\n");
    assert!(!terminal.wait_file("gemini.typed", |_| true).contains('\r'));
    vim.input("<C-w>p:PillionSend nothing.txt<CR>");
    vim.wait_said("there is no file nothing.txt");
}

#[each_vim]
fn an_agent_that_knows_mentions_gets_one(version: VimVersion) {
    let terminal = Terminal::new(version);
    let vim = &terminal.world.vim;
    let mut claude = TestClaude::find(&terminal.world.home);
    vim.wait_until(
        "an agent that knows mentions",
        "!empty(pillion#Status().mentions)",
    );
    vim.input(":2,3PillionSend<CR>");
    let path = terminal.world.home.workspace().join("a.txt");
    let mention = claude.mention();
    assert_eq!(
        (mention.path.as_str(), mention.lines()),
        (path.to_str().unwrap(), Some((1, 2)))
    );
    vim.wait_said("mentioned in the prompt of Claude Code");
}

/// Its hooks say nothing, and it is about to write what it has not proposed.
#[each_vim]
fn how_claude_code_asks_is_said(version: VimVersion) {
    let terminal = Terminal::new(version);
    let vim = &terminal.world.vim;
    let claude = TestClaude::find(&terminal.world.home);
    claude.close_all();
    vim.wait_until(
        "a note",
        "join(pillion#Status().notes) =~ 'may change files without asking'",
    );
    vim.input(":Pillion status<CR>");
    vim.wait_said("`pillion run claude`");
    claude.diagnostics(Some("file:///a.txt"));
    vim.wait_said("without showing them here first");
}
