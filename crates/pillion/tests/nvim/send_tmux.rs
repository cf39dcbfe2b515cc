//! Sending to an agent in another pane of the tmux that Neovim runs in.

use std::path::PathBuf;
use std::process::Command;

use pillion_testkit::{Home, NvimVersion, each_neovim};
use serde_json::json;

use crate::send::pasted;
use crate::standin::{StandIn, StandIns};
use crate::terminal;
use crate::world::World;

/// A tmux of the test's own: the pane of Neovim, and others. Ends on drop.
struct Panes {
    socket: PathBuf,
    env: Vec<String>,
    own: String,
}

impl Panes {
    fn start(home: &Home) -> Panes {
        let mut panes = Panes {
            socket: home.root().join("tmux"),
            env: home
                .env()
                .iter()
                .map(|(name, value)| format!("{}={}", name.display(), value.display()))
                .collect(),
            own: String::new(),
        };
        let size = ["-x", "200", "-y", "50"];
        panes.own = panes.open(
            &[&["new-session", "-d", "-s", "work"], &size[..]].concat(),
            "cat",
        );
        panes
    }

    fn tmux(&self, words: &[&str]) -> String {
        let output = Command::new("tmux")
            .args(["-u", "-f", "/dev/null", "-S"])
            .arg(&self.socket)
            .args(words)
            .env_clear()
            .env("PATH", "/usr/local/bin:/usr/bin:/bin")
            .output()
            .unwrap();
        assert!(output.status.success(), "{words:?}: {output:?}");
        String::from_utf8(output.stdout).unwrap().trim().to_owned()
    }

    /// Runs a shell command in a new pane. Its id.
    fn open(&self, how: &[&str], command: &str) -> String {
        let mut words = how.to_vec();
        words.extend(["-P", "-F", "#{pane_id}", "env", "-i", "TERM=screen"]);
        words.extend(self.env.iter().map(String::as_str));
        words.extend(["sh", "-c", command]);
        self.tmux(&words)
    }

    /// The pane that has the focus in this session.
    fn focused(&self) -> String {
        self.tmux(&["display-message", "-p", "-t", "work:", "#{pane_id}"])
    }
}

impl Drop for Panes {
    fn drop(&mut self) {
        let _ = Command::new("tmux")
            .arg("-S")
            .arg(&self.socket)
            .arg("kill-server")
            .output();
    }
}

/// A file open in a Neovim that believes to run in the first pane. The world is dropped last: the socket of tmux
/// lies in its home.
fn in_tmux(version: NvimVersion) -> (World, Panes, StandIns) {
    let home = Home::new();
    let agents = StandIns::install(&home);
    let panes = Panes::start(&home);
    let files = [("first.txt", "one\ntwo\nthree\n")];
    let world = World::with(version, home, &files, |setup| {
        agents
            .found_by(setup)
            .env("TMUX", format!("{},1,0", panes.socket.display()))
            .env("TMUX_PANE", &panes.own)
    });
    (world, panes, agents)
}

/// The stand-in in a new pane, as a program that wants to know what is pasted.
fn start(
    panes: &Panes,
    world: &World,
    agents: &StandIns,
    how: &[&str],
    name: &str,
) -> (String, StandIn) {
    let command = format!(
        "cd '{}'; printf '\\033[?2004h'; exec '{}'",
        world.home.workspace().display(),
        agents.program(name).display()
    );
    let id = panes.open(how, &command);
    (id, agents.one(name))
}

#[each_neovim]
fn an_agent_in_another_pane_gets_files_and_selections(version: NvimVersion) {
    let (world, panes, agents) = in_tmux(version);
    let hint = "no agent is running in a terminal. Hint: :Pillion run claude";
    terminal::is_refused(&world, "PillionSend", hint);
    let (id, gemini) = start(
        &panes,
        &world,
        &agents,
        &["split-window", "-d", "-t", "work:"],
        "gemini",
    );
    world.nvim.input(":PillionSend<CR>");
    gemini.typed(&pasted("@first.txt "));
    assert_eq!(panes.focused(), id);
    panes.tmux(&["select-pane", "-t", &panes.own]);
    world.nvim.input("ggVj:PillionSend<CR>");
    gemini.typed(&pasted("@first.txt lines 1-2 one\ntwo\n"));
    let hostile = "#{pane_id} $(touch ran); \u{1b}[201~\rx\u{3}";
    world
        .nvim
        .lua::<()>("vim.fn.setline(1, (...))", json!([hostile]));
    world.nvim.input(":1PillionSend<CR>");
    gemini.typed(&pasted(
        "first.txt line 1 #{pane_id} $(touch ran); ␛[201~␍x␃\n",
    ));
    assert!(!world.home.workspace().join("ran").exists());
    assert_eq!(panes.tmux(&["list-buffers"]), "", "nothing is left behind");
    world.nvim.input(":Pillion ask what now<CR>");
    gemini.typed(&pasted("what now"));
    panes.tmux(&["select-pane", "-t", &panes.own]);
    world.nvim.command("Pillion focus");
    assert_eq!(panes.focused(), id);
    world.nvim.assert_no_errors();
}

#[each_neovim]
fn the_agent_of_the_same_window_is_preferred_and_another_one_can_be_named(version: NvimVersion) {
    let (world, panes, agents) = in_tmux(version);
    let (_, gemini) = start(
        &panes,
        &world,
        &agents,
        &["new-window", "-d", "-t", "work:"],
        "gemini",
    );
    world.nvim.command("PillionSend");
    gemini.typed(&pasted("@first.txt "));
    let (_, qwen) = start(
        &panes,
        &world,
        &agents,
        &["split-window", "-d", "-t", &panes.own],
        "qwen",
    );
    world.nvim.command("PillionSend");
    qwen.typed(&pasted("@first.txt "));
    world.nvim.command("2PillionSend gemini");
    gemini.typed(&pasted("@first.txt line 2 two\n"));
    // Another session is other work.
    world
        .nvim
        .command("lua require('pillion').setup({ agents = { other = { 'other' } } })");
    panes.open(&["new-session", "-d", "-s", "play"], "exec -a other cat");
    terminal::is_refused(
        &world,
        "PillionSend other",
        "other is not running in a terminal",
    );
}

#[each_neovim]
fn the_option_names_a_pane_whatever_runs_there(version: NvimVersion) {
    let (world, panes, agents) = in_tmux(version);
    let (_, gemini) = start(
        &panes,
        &world,
        &agents,
        &["split-window", "-d", "-t", "work:"],
        "gemini",
    );
    let (id, qwen) = start(
        &panes,
        &world,
        &agents,
        &["new-session", "-d", "-s", "play"],
        "qwen",
    );
    let set = "require('pillion').setup({ terminal = { tmux_pane = (...) } })";
    for target in [id.as_str(), "play:"] {
        world.nvim.lua::<()>(set, json!([target]));
        world.nvim.command("PillionSend");
        qwen.typed(&pasted("@first.txt "));
    }
    world.nvim.command("PillionSend gemini");
    gemini.typed(&pasted("@first.txt "));
    world.nvim.lua::<()>(set, json!(["nowhere:"]));
    terminal::is_refused(&world, "PillionSend", "Pillion: t");
    assert!(world.nvim.messages().contains("nowhere"));
}
