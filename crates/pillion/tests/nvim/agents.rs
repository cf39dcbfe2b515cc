//! The real agents and a person in Neovim: the agent in a terminal inside, or in the next pane.

mod claude;
mod views;

use std::fs;
use std::path::PathBuf;

use pillion_testkit::{
    Agent, AgentKind, Home, Model, Nvim, NvimVersion, SOON, Size, Tmux, each_agent_in_neovim,
};
use serde_json::json;

use crate::world::{look, setup};

/// Wide enough for an agent's terminal beside a file.
const SIZE: Size = Size::new(240, 50);

const FILE: &str = "poem.txt";
const BEFORE: &str = "one\ntwo\nthree\n";
const PROPOSED: &str = "one\nTWO\nthree\nfour\n";
const EDITED: &str = "one\nTWO\nthree\nvier\n";

/// A terminal that `:Pillion run` opens. The person types to the agent, then goes to the view.
#[each_agent_in_neovim]
fn in_a_terminal_inside_an_edited_change_is_accepted_with_w(kind: AgentKind, version: NvimVersion) {
    let scene = Scene::inside(kind, version);
    scene.receives_the_cursor();
    scene.receives_what_was_selected();
    scene.proposes();
    // The person stays where they type, and sees the view beside it.
    assert_eq!(scene.nvim.mode(), "t");
    scene.nvim.pane().wait_for(":PillionAccept", SOON);
    scene.go_to_the_view();
    scene.nvim.input("Gccvier<Esc>:w<CR>");
    scene.agent.wait_accepted(FILE);
    scene.wait_settled();
    assert_eq!(scene.text(), EDITED);
    scene.nvim.wait_until(
        "the buffer reloaded",
        "vim.fn.getbufline(vim.fn.bufnr('poem.txt'), 1, '$')[4] == 'vier'",
    );
    scene.nvim.assert_no_errors();
}

/// In another pane of the same tmux, with nothing in its environment that leads it; and one that is answered in the agent's own window
/// leaves no view.
#[each_agent_in_neovim(all)]
fn in_another_pane_a_change_is_rejected_with_q_or_answered_there(
    kind: AgentKind,
    version: NvimVersion,
) {
    let scene = Scene::beside(kind, version);
    scene.receives_the_selection();
    scene.proposes();
    scene.go_to_the_view();
    scene.nvim.input(":q<CR>");
    scene.agent.wait_rejected(FILE);
    scene.wait_settled();
    assert_eq!(scene.text(), BEFORE);

    scene.model.clear();
    scene.proposes();
    scene.agent.allow();
    scene.agent.wait_accepted(FILE);
    scene.wait_settled();
    assert_eq!(scene.text(), PROPOSED);
    scene.nvim.wait_until(
        "the buffer reloaded",
        "vim.fn.getbufline(vim.fn.bufnr('poem.txt'), 1, '$')[2] == 'TWO'",
    );
    let lines: Vec<String> = scene.nvim.lua("return vim.fn.getline(1, '$')", json!([]));
    assert_eq!(lines, ["one", "TWO", "three", "four"]);
    scene.nvim.assert_no_errors();
}

/// The real agents read what the stand-ins of the other tests are sent.
#[each_agent_in_neovim]
fn files_and_selections_are_sent_into_the_prompt(kind: AgentKind, version: NvimVersion) {
    let scene = Scene::inside(kind, version);
    let path = scene
        .home
        .file("my (first) file, too.txt", "contents of the mentioned\n");
    scene.nvim.lua::<()>(
        "vim.cmd('stopinsert | wincmd p | edit ' .. vim.fn.fnameescape(...))",
        json!([path]),
    );
    scene.nvim.input(":PillionSend<CR>");
    scene.wait_typing();
    let told = scene
        .agent
        .ask_with(&scene.model, "what is in it", Agent::complete_prompt);
    assert!(told.contains("contentsofthementioned"), "{told}");
    scene
        .nvim
        .input("<C-\\><C-n>1<C-w>w:edit poem.txt<CR>ggVj:PillionSend<CR>");
    scene.wait_typing();
    let told = scene
        .agent
        .ask_with(&scene.model, "what was that", Agent::complete_prompt);
    assert!(told.contains("onetwowhatwasthat"), "{told}");
    scene.nvim.assert_no_errors();
}

/// Neovim with [`FILE`] open, and an agent that is connected to it.
struct Scene {
    kind: AgentKind,
    agent: Agent,
    nvim: Nvim,
    model: Model,
    // After those that run in it.
    _tmux: Tmux,
    // Last: the others have files in it.
    home: Home,
}

impl Scene {
    /// The agent in a terminal of Neovim, opened by the plugin.
    fn inside(kind: AgentKind, version: NvimVersion) -> Scene {
        Scene::start(kind, version, |nvim, _, _, _| {
            let mut command = vec!["Pillion", "run", kind.name()];
            command.extend(kind.arguments());
            nvim.command(&command.join(" "));
            Agent::attach(kind, nvim.pane())
        })
    }

    /// The agent in a pane of the same tmux.
    fn beside(kind: AgentKind, version: NvimVersion) -> Scene {
        Scene::start(kind, version, |_, tmux, home, model| {
            Agent::start(kind, tmux, home, model, &home.workspace())
        })
    }

    fn start(
        kind: AgentKind,
        version: NvimVersion,
        agent: impl FnOnce(&Nvim, &Tmux, &Home, &Model) -> Agent,
    ) -> Scene {
        let (tmux, home, model) = (Tmux::start(), Home::new(), Model::start());
        let mut setup = setup(version, &home)
            .arg(home.file(FILE, BEFORE))
            .init("require('pillion').setup({ terminal = { split_width_percentage = 0.4 } })");
        for (name, value) in kind.env(home.env(), &model).iter() {
            setup = setup.env(name, value);
        }
        let nvim = setup.pillion(crate::world::PILLION).in_tmux(&tmux, SIZE);
        nvim.wait_until(
            "Pillion running",
            "require('pillion.client').state.port ~= nil",
        );
        nvim.input("2G$");
        // Keys that are still to come would go to the agent's terminal.
        nvim.wait_until("the cursor there", "vim.fn.line('.') == 2");
        let agent = agent(&nvim, &tmux, &home, &model);
        let scene = Scene {
            kind,
            agent,
            nvim,
            model,
            _tmux: tmux,
            home,
        };
        scene.nvim.wait_until(
            "the agent connected",
            "#require('pillion.client').state.agents == 1",
        );
        scene
    }

    fn path(&self) -> PathBuf {
        self.home.workspace().join(FILE)
    }

    /// The text of the file.
    fn text(&self) -> String {
        fs::read_to_string(self.path()).expect("it is there")
    }

    /// The next prompt carries the file and the cursor, which `2G$` put there.
    fn receives_the_cursor(&self) {
        let told = self.agent.ask(&self.model, "look at the cursor");
        let path = self.path().display().to_string();
        for expected in [path, self.kind.reported_cursor(2, 3)] {
            assert!(told.contains(&expected), "no {expected:?} in {told}");
        }
    }

    /// The next prompt carries what is selected.
    fn receives_the_selection(&self) {
        self.nvim.input("ggw<Esc>2GvG$h");
        self.nvim.wait_until("visual mode", "vim.fn.mode() == 'v'");
        let told = self.agent.ask(&self.model, "look at the selection");
        assert!(told.contains("twothre"), "no selection in {told}");
        self.nvim.input("<Esc>");
    }

    /// Going to the agent's terminal ends Visual mode: the next prompt carries what was selected when the person came.
    fn receives_what_was_selected(&self) {
        self.nvim.input("<C-\\><C-n><C-w>p2G0vG$h<C-w>p");
        self.nvim.wait_until(
            "the terminal in focus again",
            "vim.b.pillion_agent ~= nil and vim.fn.line(\"'<\", vim.fn.win_getid(1)) == 2",
        );
        self.nvim.input("i");
        self.wait_typing();
        let told = self.agent.ask(&self.model, "look at the selection");
        assert!(told.contains("twothre"), "no selection in {told}");
    }

    /// Waits until what the person types goes to the agent.
    fn wait_typing(&self) {
        self.nvim.wait_until(
            "typing in the agent's terminal",
            "vim.b.pillion_agent ~= nil and vim.api.nvim_get_mode().mode == 't'",
        );
    }

    /// Lets the agent propose a change, and waits until its view is open.
    fn proposes(&self) {
        self.agent.propose(&self.model, &self.path(), PROPOSED);
        self.nvim
            .wait_until("a pending diff", "#require('pillion.diff').list() == 1");
    }

    /// Goes there as a person does who does not see it or types elsewhere.
    fn go_to_the_view(&self) {
        self.nvim.input("<C-\\><C-n>:PillionDiffs<CR>");
        self.nvim
            .wait_until("the proposal in focus", "vim.b.pillion_diff ~= nil");
        look(&self.nvim);
    }

    fn wait_settled(&self) {
        self.nvim
            .wait_until("no pending diff", "#require('pillion.diff').list() == 0");
        self.nvim.wait_until(
            "no view",
            "#vim.tbl_filter(function(buf) return vim.b[buf].pillion_diff ~= nil end, \
             vim.api.nvim_list_bufs()) == 0",
        );
    }
}
