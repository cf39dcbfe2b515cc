//! Real Neovims with the repository's plugin: with the test as their only user interface, or in a terminal. Both are
//! watched and steered through Neovim's own protocol, as graphical ones are, those in a terminal by keys, too.

mod other;
mod rpc;
mod setup;
mod value;

use std::cell::RefCell;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::process::Child;
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process};
use serde::de::DeserializeOwned;
use serde_json::{Value, json};

pub use self::other::OtherClient;
use self::rpc::{Failed, Rpc};
pub use self::setup::NvimSetup;
use crate::process::tree;
use crate::{Pane, SOON, kill_tree, pause};

/// The time limit for one look: Neovim answers none while it asks the user something.
const ONE_LOOK: Duration = Duration::from_secs(1);

const DESCRIBE: &str = include_str!("nvim/describe.lua");

/// True once the proposal in focus, or else the last one, has been on the screen so long that the person may edit it and
/// decide. One about which Neovim has asked is none: its agent may know of the decision before Neovim does.
pub const MAY_DECIDE: &str = "(function()
    local pending = require('pillion.diff.pending')
    local diffs = pending.sorted()
    local diff = pending.focused() or diffs[#diffs]
    local sight = diff and require('pillion.diff.seen').sight(diff)
    return sight ~= nil and sight.revision == diff.revision and sight.drawn_ms >= 700
      and diff.deciding == nil and vim.bo[diff.right].modifiable
  end)()";

/// A running Neovim. It and all that it started are killed on drop.
#[derive(Debug)]
pub struct Nvim {
    body: RefCell<Body>,
    rpc: Rpc,
    /// Where it listens.
    socket: PathBuf,
    pid: u32,
    /// Of one that was killed alone: what it leaves behind, killed on drop.
    left: RefCell<Vec<u32>>,
}

/// The place where it runs.
#[derive(Debug)]
enum Body {
    /// Without a terminal; what it says goes to the file.
    Headless { child: Child, says: PathBuf },
    /// In a terminal, by the process that draws, which was this one.
    Pane { pane: Pane, pid: u32 },
}

impl Nvim {
    /// Takes hold of one that listens at the socket, and waits until it has started up.
    #[track_caller]
    fn attach(body: Body, socket: &Path) -> Nvim {
        let connected = Rpc::connect(socket, SOON);
        let rpc = connected.unwrap_or_else(|error| {
            let said = body.shows();
            body.kill();
            panic!("Neovim did not start: {error}\n{said}")
        });
        let mut nvim = Nvim {
            pid: body.pid(),
            body: RefCell::new(body),
            rpc,
            socket: socket.to_owned(),
            left: RefCell::default(),
        };
        nvim.wait_until("Neovim started up", "vim.v.vim_did_enter == 1");
        nvim.attach_ui();
        nvim.pid = nvim.lua("return vim.fn.getpid()", json!([]));
        nvim.assert_no_errors();
        nvim
    }

    /// Becomes a user interface of it, whose keys are the person's. It draws for us, too; nobody looks at that.
    #[track_caller]
    pub fn attach_ui(&self) {
        let size = "return { vim.o.columns, vim.o.lines }";
        let (columns, lines): (u64, u64) = match &*self.body.borrow() {
            Body::Headless { .. } => self.lua(size, json!([])),
            // The smallest one counts.
            Body::Pane { .. } => (1000, 1000),
        };
        let options = json!({"rgb": true, "ext_linegrid": true});
        self.request("nvim_ui_attach", &json!([columns, lines, options]), "a UI");
    }

    /// Is no user interface of it any more.
    #[track_caller]
    pub fn detach_ui(&self) {
        self.request("nvim_ui_detach", &json!([]), "no UI");
    }

    /// Another program connects to it, which is no user interface.
    #[track_caller]
    pub fn other_client(&self) -> OtherClient {
        OtherClient::connect(&self.socket)
    }

    /// Runs Lua code in it, with `args` as its `...`; one that is not an array is the only argument.
    /// Returns its result. Lua does not tell an empty list from an empty table: it is a list.
    ///
    /// # Panics
    /// With Neovim's own words if the code fails, and with what Neovim shows if it does not answer
    /// because it waits for a key.
    #[track_caller]
    pub fn lua<T: DeserializeOwned>(&self, code: &str, args: Value) -> T {
        let args = match args {
            Value::Array(args) => args,
            one => vec![one],
        };
        let answer = self.request("nvim_exec_lua", &json!([code, args]), code);
        serde_json::from_value(answer.clone())
            .unwrap_or_else(|error| panic!("{answer} came from this Lua code: {error}\n{code}"))
    }

    /// Runs an Ex command.
    ///
    /// # Panics
    /// As [`Nvim::lua`] does.
    #[track_caller]
    pub fn command(&self, command: &str) {
        self.request("nvim_command", &json!([command]), command);
    }

    /// Presses keys by Neovim's names for them, such as `ihello<Esc>`. Does not wait until they
    /// have done what they do.
    #[track_caller]
    pub fn input(&self, keys: &str) {
        self.request("nvim_input", &json!([keys]), keys);
    }

    /// Waits until a Lua expression is true; `what` says in words what it looks for.
    ///
    /// # Panics
    /// With `what` and all that Neovim shows, when ten seconds have passed.
    #[track_caller]
    pub fn wait_until(&self, what: &str, condition: &str) {
        self.wait_for::<Value>(what, &format!("return ({condition})"), json!([]));
    }

    /// Waits until Lua code returns something that is neither nil nor false. Returns that.
    ///
    /// # Panics
    /// As [`Nvim::wait_until`] does.
    #[track_caller]
    pub fn wait_for<T: DeserializeOwned>(&self, what: &str, code: &str, args: Value) -> T {
        let started = Instant::now();
        let mut problem = String::new();
        loop {
            // Asked for while Neovim waits for a key, the code would run later, at any time.
            if let Some(mode) = self.blocked_in() {
                problem = format!("it waits for a key (mode {mode:?})");
            } else {
                match self
                    .rpc
                    .request("nvim_exec_lua", &json!([code, args]), ONE_LOOK)
                {
                    Ok(Value::Null | Value::Bool(false)) => problem.clear(),
                    Ok(answer) => {
                        return serde_json::from_value(answer.clone()).unwrap_or_else(|error| {
                            panic!("{answer} came from this Lua code: {error}\n{code}")
                        });
                    }
                    Err(error) => problem = error.to_string(),
                }
            }
            assert!(
                started.elapsed() < SOON,
                "expected {what} within {SOON:?}; {}\n{code}\n{}",
                if problem.is_empty() {
                    "not so:"
                } else {
                    &problem
                },
                self.describe()
            );
            pause(started);
        }
    }

    /// The mode, as `mode()` names it. Known also while Neovim waits for a key.
    pub fn mode(&self) -> String {
        let mode = self.request("nvim_get_mode", &json!([]), "the mode");
        mode["mode"].as_str().unwrap_or_default().to_owned()
    }

    /// The mode, if Neovim waits for a key in it and answers nothing else: after a message that
    /// fills the screen, in a question, in the middle of a command of several keys.
    pub fn blocked_in(&self) -> Option<String> {
        let mode = self
            .rpc
            .request("nvim_get_mode", &json!([]), ONE_LOOK)
            .ok()?;
        let is_blocked = mode["blocking"] == true;
        is_blocked.then(|| mode["mode"].as_str().unwrap_or_default().to_owned())
    }

    /// Presses Enter until it waits for no key after a message. One that was shown a moment ago may be about to want it:
    /// only a request that comes after it, and is answered, shows that none does.
    pub fn leave_prompts(&self) {
        let nothing = json!(["return true", []]);
        let is_answered = || {
            self.rpc
                .request("nvim_exec_lua", &nothing, ONE_LOOK)
                .is_ok()
        };
        while self.blocked_in().is_some() || !is_answered() {
            self.input("<CR>");
        }
    }

    /// The output of `:messages`.
    pub fn messages(&self) -> String {
        let code = "return vim.api.nvim_exec('messages', true)";
        self.lua(code, json!([]))
    }

    /// Fails if it has noted an error since it started.
    ///
    /// # Panics
    /// With all that it shows, if it has.
    #[track_caller]
    pub fn assert_no_errors(&self) {
        let messages = self.messages();
        let is_error = |line: &str| {
            let number = line.strip_prefix('E').and_then(|rest| rest.split_once(':'));
            line.starts_with("Error ")
                || number.is_some_and(|(number, _)| number.parse::<u16>().is_ok())
        };
        assert!(
            !messages.lines().any(is_error),
            "expected no errors\n{}",
            self.describe()
        );
    }

    /// All that helps to find out why a test failed: mode, tabs, windows, buffers
    /// with the beginning of their text, messages, the screen if there is one.
    pub fn describe(&self) -> String {
        let mut text = match self.blocked_in() {
            Some(mode) => format!("mode {mode:?}, waiting for a key\n"),
            None => match self
                .rpc
                .request("nvim_exec_lua", &json!([DESCRIBE, []]), ONE_LOOK)
            {
                Ok(state) => state.as_str().unwrap_or_default().to_owned(),
                Err(error) => format!("{error}\n"),
            },
        };
        let _ = writeln!(text, "{}", self.body.borrow().shows());
        text
    }

    /// The editor's process. In a terminal it may be the child of the one that draws.
    pub fn pid(&self) -> u32 {
        self.pid
    }

    /// Its terminal.
    ///
    /// # Panics
    /// If it has none.
    pub fn pane(&self) -> Pane {
        match &*self.body.borrow() {
            Body::Pane { pane, .. } => pane.clone(),
            Body::Headless { .. } => panic!("this Neovim was started without a terminal"),
        }
    }

    /// Quits with `:qa!` and waits until it is gone. Its exit status.
    ///
    /// # Panics
    /// If it is still there after ten seconds.
    #[track_caller]
    pub fn quit(&self) -> i32 {
        self.rpc.notify("nvim_command", &json!(["qall!"]));
        self.wait_exit()
    }

    /// Kills the editor's process alone, with SIGKILL: it can tell nobody. Waits until it is gone.
    #[track_caller]
    pub fn kill(&self) {
        self.left.borrow_mut().extend(tree(self.pid));
        let pid = i32::try_from(self.pid).ok().and_then(Pid::from_raw);
        // The only failure that can happen to our own child is that it is gone.
        let _ = pid.map(|pid| kill_process(pid, Signal::KILL));
        self.wait_exit();
    }

    /// Waits until it is gone, for whatever reason. Its exit status; 0 if a signal ended it.
    ///
    /// # Panics
    /// With all that it shows, if it is still there after ten seconds.
    #[track_caller]
    pub fn wait_exit(&self) -> i32 {
        let started = Instant::now();
        loop {
            if let Some(status) = self.body.borrow_mut().ended() {
                return status;
            }
            assert!(
                started.elapsed() < SOON,
                "expected Neovim to end within {SOON:?}\n{}",
                self.describe()
            );
            pause(started);
        }
    }

    #[track_caller]
    fn request(&self, method: &str, arguments: &Value, what: &str) -> Value {
        match self.rpc.request(method, arguments, SOON) {
            Ok(answer) => answer,
            Err(Failed::Said(error)) => panic!("{what:?} failed: {error}"),
            Err(error) => panic!("{error} to {what:?}\n{}", self.describe()),
        }
    }
}

impl Drop for Nvim {
    fn drop(&mut self) {
        self.body.borrow().kill();
        for pid in self.left.borrow().iter() {
            kill_tree(*pid);
        }
        if let Body::Headless { child, .. } = &mut *self.body.borrow_mut() {
            let _ = child.wait();
        }
    }
}

impl Body {
    fn pid(&self) -> u32 {
        match self {
            Body::Headless { child, .. } => child.id(),
            Body::Pane { pid, .. } => *pid,
        }
    }

    fn kill(&self) {
        kill_tree(self.pid());
    }

    /// The exit status, if it has ended.
    fn ended(&mut self) -> Option<i32> {
        match self {
            Body::Headless { child, .. } => {
                let status = child.try_wait().expect("it is our child")?;
                Some(status.code().unwrap_or(0))
            }
            Body::Pane { pane, .. } => (!pane.is_running()).then(|| pane.wait_exit(SOON)),
        }
    }

    /// The output or the screen that a person would see.
    fn shows(&self) -> String {
        match self {
            Body::Headless { says, .. } => {
                let said = std::fs::read_to_string(says).unwrap_or_default();
                format!("printed: {said}")
            }
            Body::Pane { pane, .. } => format!("screen:\n{}", pane.screen()),
        }
    }
}
