//! The cost of pillion in an editor: `pillion lsp` alone, and the plugin in each Neovim. Every round
//! of a figure takes one value of each Neovim, so that what the machine does hits both.

use std::fs;
use std::io::{BufRead, BufReader, Read, Write};
use std::path::{Path, PathBuf};
use std::process::{ChildStdin, ChildStdout, Command, Stdio};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, ensure};
use pillion_protocol::{Dialect, IdeContext};
use pillion_testkit::client::claude::Selection;
use pillion_testkit::{
    Editors, Home, Nvim, NvimSetup, NvimVersion, Size, TestAgent, TestClaude, Tmux,
};
use serde_json::json;

use super::figures::{milliseconds, quantile};
use super::text;

/// Sums up what the plugin spends in Neovim's own thread: in the handlers of its events, and in what
/// they put off.
const STOPWATCH: &str = include_str!("editors/stopwatch.lua");

/// As many maps and commands as a full configuration of a person has.
const CONFIGURATION: &str = include_str!("editors/configuration.lua");

/// One line of the table: a value for each Neovim, or one for all.
#[derive(Debug)]
pub struct Figure {
    pub name: String,
    pub unit: &'static str,
    /// In the order of [`NvimVersion::ALL`].
    pub values: Vec<f64>,
    /// At most this is to be reached.
    pub limit: Option<f64>,
}

impl Figure {
    pub fn is_reached(&self) -> Option<bool> {
        let limit = self.limit?;
        Some(self.values.iter().all(|value| *value <= limit))
    }
}

/// The amount of measuring.
#[derive(Debug)]
pub struct Effort {
    pub starts: usize,
    /// For each of [`Listener::ALL`].
    pub moves: usize,
    /// For each of [`SIZES`].
    pub diffs: [usize; 2],
}

const SIZES: [usize; 2] = [10 << 10, 1 << 20];

/// Measures everything.
pub fn measure(pillion: &Path, editors: &Path, effort: &Effort) -> Result<Vec<Figure>> {
    let mut figures = vec![ready(pillion, effort.starts)?];
    let mut desks =
        NvimVersion::ALL.map(|version| Desk::new(pillion, Editors::at(editors).nvim(version)));
    figures.extend(moves(&mut desks, effort.moves)?);
    for (size, rounds) in SIZES.into_iter().zip(effort.diffs) {
        figures.extend(diffs(&mut desks, size, rounds, "")?);
    }
    for desk in &desks {
        desk.nvim.lua::<()>(CONFIGURATION, json!([]));
    }
    let beside = ", 300 maps and 150 commands";
    figures.extend(diffs(&mut desks, SIZES[0], effort.diffs[0], beside)?);
    Ok(figures)
}

/// From before `pillion lsp` is started until it has answered to `initialize`: agents find it then.
fn ready(pillion: &Path, rounds: usize) -> Result<Figure> {
    let home = Home::new();
    let mut took = Vec::new();
    for _ in 0..rounds {
        let start = Instant::now();
        let mut child = Command::new(pillion)
            .arg("lsp")
            .env_clear()
            .envs(home.env().iter())
            .current_dir(home.workspace())
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .context("pillion lsp did not start")?;
        let mut stdin = child.stdin.take().context("no pipe to it")?;
        let mut stdout = BufReader::new(child.stdout.take().context("no pipe from it")?);
        initialize(&mut stdin, &mut stdout)?;
        took.push(milliseconds(start.elapsed()));
        // The end of its input is the end of its editor.
        drop(stdin);
        child.wait().context("it did not end")?;
    }
    figure(
        "pillion lsp: spawn to ready, p50",
        "ms",
        [took],
        0.5,
        Some(15.0),
    )
}

fn initialize(stdin: &mut ChildStdin, stdout: &mut BufReader<ChildStdout>) -> Result<()> {
    let capabilities = json!({"experimental": {"pillion": true}});
    let params = json!({"processId": std::process::id(), "capabilities": capabilities});
    let body = json!({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": params});
    let body = body.to_string();
    write!(stdin, "Content-Length: {}\r\n\r\n{body}", body.len())?;
    let mut length = 0;
    loop {
        let mut line = String::new();
        stdout.read_line(&mut line)?;
        match line.trim_end().split_once(": ") {
            Some((_, value)) => length = value.parse()?,
            None => break,
        }
    }
    let mut answer = vec![0; length];
    stdout.read_exact(&mut answer)?;
    let answer: serde_json::Value = serde_json::from_slice(&answer)?;
    ensure!(answer["result"].is_object(), "it answered {answer}");
    Ok(())
}

/// The agent that a cursor move is timed to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Listener {
    /// Over HTTP.
    GeminiCli,
    /// Over a WebSocket.
    ClaudeCode,
}

impl Listener {
    const ALL: [Self; 2] = [Self::GeminiCli, Self::ClaudeCode];

    fn figure(self) -> &'static str {
        match self {
            Self::GeminiCli => "cursor move to the agent, p50",
            Self::ClaudeCode => "cursor move to Claude Code, p50",
        }
    }
}

/// A Neovim in a terminal with a long file open, and an agent of each protocol that is connected to it.
struct Desk {
    agent: TestAgent,
    claude: TestClaude,
    nvim: Nvim,
    file: PathBuf,
    _tmux: Tmux,
    // Last: the others have files in it.
    _home: Home,
}

impl Desk {
    fn new(pillion: &Path, program: PathBuf) -> Desk {
        let (tmux, home) = (Tmux::start(), Home::new());
        let file = home.file("settings.ts", text::of(100 << 10));
        let nvim = NvimSetup::of(program, &home)
            .pillion(pillion)
            .init(STOPWATCH)
            .arg(&file)
            .in_tmux(&tmux, Size::new(160, 50));
        let agent = TestAgent::find(&home, Dialect::GeminiCli);
        let claude = TestClaude::find(&home);
        nvim.input("500G");
        Desk {
            agent,
            claude,
            nvim,
            file,
            _tmux: tmux,
            _home: home,
        }
    }

    /// Presses a key that moves the cursor to this line: how long until this agent has it, and what
    /// it cost Neovim.
    fn move_to(&mut self, key: &str, line: u32, timed: Listener) -> (Duration, Duration) {
        self.spent();
        let start = Instant::now();
        self.nvim.input(key);
        self.await_line(line, timed);
        let took = start.elapsed();
        // What the other has not read would be there already when it is its turn.
        for other in Listener::ALL.into_iter().filter(|other| *other != timed) {
            self.await_line(line, other);
        }
        (took, self.spent())
    }

    fn await_line(&mut self, line: u32, listener: Listener) {
        match listener {
            Listener::GeminiCli => drop(self.agent.context(|context| is_at(context, line))),
            Listener::ClaudeCode => {
                // It counts from 0.
                let is_there = |selection: &Selection| selection.range.start.line + 1 == line;
                self.claude.selection(is_there);
            }
        }
    }

    /// The time that the plugin spent in Neovim's own thread since this was asked for last.
    fn spent(&self) -> Duration {
        Duration::from_nanos(self.nvim.lua("return stopwatch()", json!([])))
    }

    /// Proposes a text for the file: how long until it is drawn.
    fn propose(&mut self, proposed: &str) -> Duration {
        let start = Instant::now();
        self.agent.propose(&self.file, proposed);
        self.nvim.command("redraw");
        let took = start.elapsed();
        // Only a person decides; the agent may take it away.
        self.agent.close(&self.file).expect("it is open");
        self.nvim
            .wait_until("the view gone", "vim.fn.tabpagenr('$') == 1");
        took
    }
}

fn is_at(context: &IdeContext, line: u32) -> bool {
    let active = context.active_file();
    active.is_some_and(|file| file.cursor.is_some_and(|cursor| cursor.line == line))
}

fn moves(desks: &mut [Desk], rounds: usize) -> Result<Vec<Figure>> {
    let mut took = Listener::ALL.map(|_| vec![Vec::new(); desks.len()]);
    let mut spent = vec![Vec::new(); desks.len()];
    for round in 0..rounds * took.len() {
        let (key, line) = [("j", 501), ("k", 500)][round % 2];
        // Each agent has both keys.
        let timed = round / 2 % took.len();
        for (at, desk) in desks.iter_mut().enumerate() {
            let (reached, cost) = desk.move_to(key, line, Listener::ALL[timed]);
            took[timed][at].push(milliseconds(reached));
            spent[at].push(milliseconds(cost) * 1000.0);
        }
    }
    let mut figures = Vec::new();
    for (listener, took) in Listener::ALL.into_iter().zip(took) {
        figures.push(figure(listener.figure(), "ms", took, 0.5, Some(60.0))?);
    }
    let cost = "cursor move: cost inside Neovim, p50";
    figures.push(figure(cost, "µs", spent, 0.5, Some(100.0))?);
    Ok(figures)
}

/// `beside`: what else Neovim has, in the names of the figures.
fn diffs(desks: &mut [Desk], size: usize, rounds: usize, beside: &str) -> Result<[Figure; 2]> {
    let original = text::of(size);
    // A change in every function, each another one in each round.
    let proposal = |round| original.replace("readSettings", &format!("readSettings{round}"));
    for desk in &*desks {
        fs::write(&desk.file, &original).context("cannot write the file to change")?;
        desk.nvim.command("edit!");
    }
    let mut took = vec![Vec::new(); desks.len()];
    for round in 0..rounds {
        for (at, desk) in desks.iter_mut().enumerate() {
            took[at].push(milliseconds(desk.propose(&proposal(round))));
        }
    }
    let size = text::name(size);
    let name = |part: &str| format!("openDiff {size} until it is drawn{beside}, {part}");
    Ok([
        figure(&name("p50"), "ms", took.clone(), 0.5, None)?,
        figure(&name("p99"), "ms", took, 0.99, None)?,
    ])
}

fn figure(
    name: &str,
    unit: &'static str,
    took: impl IntoIterator<Item = Vec<f64>>,
    part: f64,
    limit: Option<f64>,
) -> Result<Figure> {
    let values = took.into_iter().map(|took| quantile(took, part));
    Ok(Figure {
        name: name.to_owned(),
        unit,
        values: values
            .collect::<Option<_>>()
            .context("nothing was measured")?,
        limit,
    })
}
