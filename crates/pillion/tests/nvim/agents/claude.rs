//! The real Claude Code and a person in Neovim: what its model is sent, and what is on the disk after
//! each decision. The older release runs with the older Neovim.

use std::fs;
use std::path::PathBuf;

use pillion_testkit::{
    Claude, ClaudeRelease, ClaudeStart, Home, Model, ModelRequest, Nvim, NvimVersion, SOON, Size,
    Tmux, Turn, each_claude_in_neovim, set_up_claude,
};
use serde_json::{Value, json};

use super::{FILE, SIZE};
use crate::world::{PILLION, look, setup};

/// Claude Code shows companions LF, and writes CRLF again.
const BEFORE: &str = "one\r\ntwo\r\nthree\r\n";

/// It writes this with CRLF alone: most lines end so.
const MIXED: &str = "one\r\ntwo\nthree\r\n";

/// The options with which one shows diffs that was started by `pillion run`: the newer one does in every mode.
fn mode(release: ClaudeRelease) -> &'static [&'static str] {
    match release {
        ClaudeRelease::Native => &[],
        ClaudeRelease::Node => &["--permission-mode", "default"],
    }
}

/// A terminal that `:Pillion run claude` opens. The person types there, and selects in the file beside it.
#[each_claude_in_neovim(all)]
fn in_a_terminal_inside_it_tells_its_model_what_the_person_works_on(
    release: ClaudeRelease,
    version: NvimVersion,
) {
    let scene = Scene::inside(release, version, BEFORE);
    let path = scene.path().display().to_string();
    scene.claude.wait_for("⧉ In poem.txt");
    let told = scene.ask("what is open");
    assert_sent(
        &told,
        &format!("The user opened the file {path} in the IDE"),
    );

    // Going to the terminal ends Visual mode.
    scene.nvim.input("<C-\\><C-n><C-w>p2GVj<C-w>p");
    scene
        .nvim
        .wait_until("the terminal in focus", "vim.b.pillion_agent ~= nil");
    scene.nvim.input("i");
    scene.wait_typing();
    scene.claude.wait_for("⧉ 2 lines selected");
    let told = scene.ask("what is selected");
    // The older release gives the numbers as they came, which start at 0.
    let lines = match release {
        ClaudeRelease::Native => "2 to 3",
        ClaudeRelease::Node => "1 to 2",
    };
    let selected = format!("The user selected the lines {lines} from {path}:\ntwo\r\nthree");
    assert_sent(&told, &selected);

    // The last line is not among those that are mentioned.
    scene.nvim.input("<C-\\><C-n><C-w>pggVj:PillionSend<CR>");
    scene.wait_typing();
    scene.claude.wait_for("@poem.txt#L1-2");
    let told = scene.ask_after(" what is mentioned", "what is mentioned");
    assert_sent(&told, "1\tone\n2\ttwo");
    scene.nvim.assert_no_errors();
}

/// The findings of a linter in an accepted text are in the next prompt.
#[each_claude_in_neovim]
fn in_a_terminal_inside_an_edited_change_is_written_and_its_problems_are_told(
    release: ClaudeRelease,
    version: NvimVersion,
) {
    let scene = Scene::inside(release, version, MIXED);
    scene.propose_change("TWO");
    // The person stays where they type, and sees the view beside it.
    assert_eq!(scene.nvim.mode(), "t");
    scene.nvim.pane().wait_for(":PillionAccept", SOON);
    scene.nvim.input("<C-\\><C-n>:PillionDiffs<CR>");
    scene.wait_view();
    scene
        .nvim
        .pane()
        .wait_for("the agent writes all of it with CRLF", SOON);
    scene.nvim.input("Gccdrei<Esc>:w<CR>");
    scene.claude.wait_for("that is done");
    scene.wait_no_view();
    assert_eq!(scene.text(), "one\r\nTWO\r\ndrei\r\n");
    // It was read with a carriage return in each line but one.
    scene.wait_shown(&["one", "TWO", "drei"]);
    scene.nvim.lua::<()>(
        "vim.diagnostic.set(vim.api.nvim_create_namespace('linter'), vim.fn.bufnr('poem.txt'), {
               { lnum = 1, col = 0, end_lnum = 1, end_col = 3, severity = 1, source = 'linter', message = 'no such number' } })",
        json!([]),
    );
    let told = scene.ask("what is wrong");
    assert_sent(&told, "The user modified your proposed changes");
    assert_sent(&told, "<new-diagnostics>");
    assert_sent(&told, "[Line 2:1] no such number");
    scene.nvim.assert_no_errors();
}

/// Started by `pillion run` in another pane of the same tmux.
#[each_claude_in_neovim(all)]
fn in_another_pane_what_is_decided_on_either_side_is_done(
    release: ClaudeRelease,
    version: NvimVersion,
) {
    let scene = Scene::beside(release, version);
    scene.accept_new();

    scene.propose_change("rejected");
    scene.wait_view();
    scene.nvim.input(":q<CR>");
    scene.wait_refused();

    scene.propose_change("allowed");
    scene.claude.allow();
    scene.wait_no_view();
    scene.claude.wait_for("that is done");
    assert_eq!(scene.text(), BEFORE.replace("two", "allowed"));
    scene.wait_shown(&["one", "allowed", "three"]);

    fs::write(scene.path(), BEFORE).unwrap();
    scene.propose_change("denied");
    scene.claude.deny();
    scene.wait_refused();
    scene.nvim.assert_no_errors();
}

/// The view of one that is gone goes away, and what a Neovim that is gone showed is rejected.
#[each_claude_in_neovim]
fn either_side_can_be_killed_while_a_change_is_shown(release: ClaudeRelease, version: NvimVersion) {
    let mut scene = Scene::found(release, version, "first");
    scene.propose_change("lost");
    let next = Scene::start_beside(release, &scene.tmux, &scene.home, &scene.model, "next");
    std::mem::replace(&mut scene.claude, next).kill();
    // Who is in it leaves it.
    scene
        .nvim
        .pane()
        .wait_for("no longer waits for poem.txt here", SOON);
    scene.nvim.input(":q<CR>");
    scene.wait_no_view();
    assert_eq!(scene.text(), BEFORE);
    scene.nvim.assert_no_errors();

    scene.wait_connected();
    scene.model.clear();
    scene.propose_change("shown");
    scene.nvim.kill();
    scene.claude.wait_answered();
    assert_eq!(scene.text(), BEFORE);
    scene.model.clear();
    scene.ask("are you there");
}

mod changes;
mod hooks;
mod turns;
mod ways;

/// Neovim with [`FILE`] open, and Claude Code, which is connected to it.
struct Scene {
    claude: Claude,
    nvim: Nvim,
    model: Model,
    // After those that run in it.
    tmux: Tmux,
    // Last: the others have files in it.
    home: Home,
}

impl Scene {
    /// In a terminal of Neovim, opened by the plugin.
    fn inside(release: ClaudeRelease, version: NvimVersion, text: &str) -> Scene {
        Scene::start(release, version, text, |nvim, _, _, _| {
            nvim.command(&format!("Pillion run claude {}", mode(release).join(" ")));
            Claude::attach(release, nvim.pane())
        })
    }

    /// In another pane, started by `pillion run`.
    fn beside(release: ClaudeRelease, version: NvimVersion) -> Scene {
        Scene::start(release, version, BEFORE, |_, tmux, home, model| {
            let command = [PILLION, "run", "--require", "claude"];
            let command: Vec<_> = command
                .into_iter()
                .chain(mode(release).iter().copied())
                .collect();
            let env = release.env(home.env(), model);
            let size = Size::new(110, 45);
            let pane = tmux.spawn("agent", size, &env, &home.workspace(), &command);
            Claude::attach(release, pane)
        })
    }

    /// In another pane, where it looks for a companion by itself.
    fn found(release: ClaudeRelease, version: NvimVersion, name: &str) -> Scene {
        Scene::start(release, version, BEFORE, |_, tmux, home, model| {
            Scene::start_beside(release, tmux, home, model, name)
        })
    }

    fn start_beside(
        release: ClaudeRelease,
        tmux: &Tmux,
        home: &Home,
        model: &Model,
        name: &str,
    ) -> Claude {
        let how = ClaudeStart {
            name,
            arguments: &["--ide"],
            ..ClaudeStart::default()
        };
        Claude::start_with(release, tmux, home, model, &home.workspace(), &how)
    }

    fn start(
        release: ClaudeRelease,
        version: NvimVersion,
        text: &str,
        claude: impl FnOnce(&Nvim, &Tmux, &Home, &Model) -> Claude,
    ) -> Scene {
        let (tmux, home, model) = (Tmux::start(), Home::new(), Model::start());
        set_up_claude(&home, &home.workspace());
        let mut setup = setup(version, &home)
            .arg(home.file(FILE, text))
            .init("require('pillion').setup({ terminal = { split_width_percentage = 0.4 } })");
        for (name, value) in release.env(home.env(), &model).iter() {
            setup = setup.env(name, value);
        }
        let nvim = setup.pillion(PILLION).in_tmux(&tmux, SIZE);
        nvim.wait_until(
            "Pillion running",
            "require('pillion.client').state.port ~= nil",
        );
        let claude = claude(&nvim, &tmux, &home, &model);
        let scene = Scene {
            claude,
            nvim,
            model,
            tmux,
            home,
        };
        scene.wait_connected();
        scene
    }

    /// Waits until Neovim knows of this one alone.
    fn wait_connected(&self) {
        self.nvim.wait_until(
            "Claude Code connected",
            "vim.deep_equal(require('pillion.client').state.mentions, { 'claude' })",
        );
    }

    fn path(&self) -> PathBuf {
        self.home.workspace().join(FILE)
    }

    /// The text of the file.
    fn text(&self) -> String {
        fs::read_to_string(self.path()).expect("it is there")
    }

    /// Sends a prompt. The model's request with it, and all that is sent beside it.
    fn ask(&self, prompt: &str) -> ModelRequest {
        self.claude.wait_ready();
        self.ask_after(prompt, prompt)
    }

    /// The same with what stands in the prompt already.
    fn ask_after(&self, typed: &str, prompt: &str) -> ModelRequest {
        let answer = format!("I heard {prompt}");
        self.model.script([Turn::say(&answer)]);
        self.claude.type_text(typed);
        self.claude.enter();
        self.claude.wait_for(&answer);
        let what = format!("with {prompt:?}");
        self.model.wait_for(&what, SOON, |request| {
            request.is_main && request.mentions(prompt)
        })
    }

    /// Lets the model propose, and waits until its question stands in its own window, too.
    fn propose(&self, turns: impl IntoIterator<Item = Turn>, said: &str) {
        self.model.script(turns);
        self.model.script([Turn::say(said)]);
        self.claude.prompt("change it");
        self.nvim
            .wait_until("a pending diff", "#require('pillion.diff').list() == 1");
        self.claude.wait_question();
    }

    /// Lets it propose a new file, which is accepted.
    fn accept_new(&self) {
        // An older release loses the final newline of a new file; what is accepted makes up for it.
        let new = self.home.workspace().join("new.txt");
        self.propose([Turn::write_file(&new, "eins\nzwei\n")], "new.txt is done");
        self.wait_view();
        self.nvim.input(":w<CR>");
        self.claude.wait_for("new.txt is done");
        self.wait_no_view();
        assert_eq!(fs::read_to_string(&new).unwrap(), "eins\nzwei\n");
    }

    /// Lets it propose another second line for [`FILE`].
    fn propose_change(&self, line: &str) {
        let read = Turn::read_file(self.path());
        let change = Turn::replace(self.path(), "two", line);
        self.propose([read, change], "that is done");
    }

    /// Waits until the person is in the view, and has seen it.
    fn wait_view(&self) {
        let in_focus = "vim.b.pillion_diff ~= nil";
        self.nvim.wait_until("the proposal in focus", in_focus);
        look(&self.nvim);
    }

    fn wait_no_view(&self) {
        self.nvim
            .wait_until("no pending diff", "#require('pillion.diff').list() == 0");
        self.nvim.wait_until(
            "no view",
            "#vim.tbl_filter(function(buf) return vim.b[buf].pillion_diff ~= nil end, \
             vim.api.nvim_list_bufs()) == 0",
        );
    }

    /// Waits until a change of [`FILE`] is refused on both sides, and nothing is written.
    fn wait_refused(&self) {
        self.wait_no_view();
        self.claude.wait_answered();
        self.claude.wait_ready();
        assert_eq!(self.text(), BEFORE);
        self.model.clear();
    }

    /// Waits until the person's own buffer of [`FILE`] has these lines.
    fn wait_shown(&self, lines: &[&str]) {
        self.nvim.wait_for::<Value>(
            "the buffer reloaded",
            "return vim.deep_equal(vim.fn.getbufline(vim.fn.bufnr('poem.txt'), 1, '$'), ...) or nil",
            json!([lines]),
        );
    }

    fn wait_typing(&self) {
        self.nvim.wait_until(
            "typing in the agent's terminal",
            "vim.b.pillion_agent == 'claude' and vim.api.nvim_get_mode().mode == 't'",
        );
    }
}

/// That this is in what the model was sent.
#[track_caller]
fn assert_sent(request: &ModelRequest, text: &str) {
    assert!(
        request.mentions(text),
        "no {text:?} in {:#}",
        request.body["messages"]
    );
}
