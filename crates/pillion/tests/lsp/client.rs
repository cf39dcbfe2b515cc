//! An editor: starts `pillion lsp` and speaks the base protocol with it.

use std::collections::VecDeque;
use std::ffi::OsStr;
use std::io::{BufRead, BufReader, ErrorKind, Read, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, Command, Stdio};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use crossbeam_channel::{Receiver, RecvTimeoutError, unbounded};
use pillion_text::fingerprint;
use pillion_view::LOOK;
use serde_json::{Value, json};

use crate::sandbox::{self, Sandbox};
use pillion_testkit::SOON;

pub struct Editor {
    pub child: Child,
    input: Option<ChildStdin>,
    messages: Receiver<Value>,
    /// The messages that came while something else was waited for.
    passed: VecDeque<Value>,
    errors: Option<JoinHandle<String>>,
    last_id: i32,
}

impl Editor {
    /// Starts the command without a word to it.
    pub fn start<S: AsRef<OsStr>>(sandbox: &Sandbox, args: impl IntoIterator<Item = S>) -> Self {
        let mut command = sandbox.command(["lsp"]);
        command.args(args);
        Self::spawn(&mut command)
    }

    pub fn spawn(command: &mut Command) -> Self {
        let mut child = command
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let (sender, messages) = unbounded();
        let mut output = BufReader::new(child.stdout.take().unwrap());
        thread::spawn(move || {
            while let Some(message) = read(&mut output) {
                if sender.send(message).is_err() {
                    return;
                }
            }
        });
        let mut stderr = child.stderr.take().unwrap();
        let errors = thread::spawn(move || {
            let mut text = String::new();
            let _ = stderr.read_to_string(&mut text);
            text
        });
        Self {
            input: child.stdin.take(),
            child,
            messages,
            passed: VecDeque::new(),
            errors: Some(errors),
            last_id: 0,
        }
    }

    /// A plugin that counts in UTF-8 and is ready.
    pub fn plugin(sandbox: &Sandbox) -> Self {
        let mut editor = Self::start::<&str>(sandbox, []);
        editor.initialize(plugin_params());
        editor.notify("initialized", json!({}));
        editor
    }

    /// The answer's result.
    pub fn initialize(&mut self, params: Value) -> Value {
        let answer = self.request("initialize", params);
        assert!(answer["error"].is_null(), "{answer}");
        answer["result"].clone()
    }

    /// Sends a request. Its id.
    pub fn ask(&mut self, method: &str, params: Value) -> i32 {
        self.last_id += 1;
        let id = self.last_id;
        self.send(json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params}));
        id
    }

    /// Sends a request, and waits for the whole answer.
    pub fn request(&mut self, method: &str, params: Value) -> Value {
        let id = self.ask(method, params);
        self.wait(|message| message["id"] == id && message.get("method").is_none())
    }

    pub fn notify(&mut self, method: &str, params: Value) {
        self.send(json!({"jsonrpc": "2.0", "method": method, "params": params}));
    }

    /// The next message with this method.
    pub fn next(&mut self, method: &str) -> Value {
        self.wait(|message| message["method"] == method)
    }

    /// The parameters of the next message with this method.
    pub fn params(&mut self, method: &str) -> Value {
        self.next(method)["params"].take()
    }

    /// The next status that is as wanted.
    pub fn status(&mut self, wanted: impl Fn(&Value) -> bool) -> Value {
        let method = "pillion/didChangeStatus";
        self.wait(|message| message["method"] == method && wanted(&message["params"]))
    }

    /// The next `pillion/openDiff`, answered: the view is open.
    pub fn open_diff(&mut self) -> Value {
        let request = self.next("pillion/openDiff");
        self.answer(&request, json!({}));
        request["params"].clone()
    }

    pub fn answer(&mut self, request: &Value, result: Value) {
        self.send(json!({"jsonrpc": "2.0", "id": request["id"], "result": result}));
    }

    pub fn refuse(&mut self, request: &Value, why: &str) {
        let error = json!({"code": -32603, "message": why});
        self.send(json!({"jsonrpc": "2.0", "id": request["id"], "error": error}));
    }

    /// A person who has seen the whole diff decides. Returns the answer of the gate.
    pub fn decide(&mut self, diff: &Value, decision: &str, content: Option<&str>) -> Value {
        let params = json!({
            "id": diff["id"],
            "revision": diff["revision"],
            "decision": decision,
            "content": content,
            "seen": {"drawnMs": 700, "typed": true},
        });
        self.decide_as(&params)
    }

    /// Decides like this; once more if it is taken for a held key. Returns the answer of the gate.
    fn decide_as(&mut self, params: &Value) -> Value {
        loop {
            let answer = self.request("pillion/decide", params.clone());
            if answer["result"]["code"] != "held" {
                return answer;
            }
            // No person decides about two diffs as quickly as tests do, and whoever tries on holds the key down.
            thread::sleep(LOOK);
        }
    }

    /// Runs a command of a client without a plugin, once more if it came before anybody can have looked at the proposal.
    /// Returns the whole answer.
    pub fn execute(&mut self, params: &Value) -> Value {
        loop {
            let answer = self.request("workspace/executeCommand", params.clone());
            let said = answer["error"]["message"].as_str().unwrap_or_default();
            if !said.contains("only just opened") && !said.starts_with("key repeat ignored") {
                return answer;
            }
            thread::sleep(LOOK);
        }
    }

    /// The same, and it counts.
    #[track_caller]
    pub fn settle(&mut self, diff: &Value, decision: &str, content: Option<&str>) {
        let answer = self.decide(diff, decision, content);
        assert_eq!(answer["result"]["settled"], true, "{answer}");
    }

    /// The same of what is doubted: the person reads the question, and accepts again.
    #[track_caller]
    pub fn settle_doubted(&mut self, diff: &Value, doubt: &str) {
        let answer = self.decide(diff, "accept", None);
        assert_eq!(answer["result"]["code"], doubt, "{answer}");
        assert_eq!(answer["result"]["repeat"], true, "{answer}");
        thread::sleep(LOOK);
        self.settle(diff, "accept", None);
    }

    /// A person who has seen these changes accepts what is doubted, reads the question, which is returned, and accepts
    /// again.
    #[track_caller]
    pub fn settle_seen(&mut self, diff: &Value, seen: &[usize], doubt: &str) -> String {
        let params = json!({
            "id": diff["id"],
            "revision": diff["revision"],
            "decision": "accept",
            "seen": {"drawnMs": 700, "typed": true, "hunks": seen},
        });
        let asked = self.decide_as(&params)["result"].take();
        assert_eq!(
            (&asked["code"], &asked["repeat"]),
            (&json!(doubt), &json!(true)),
            "{asked}"
        );
        thread::sleep(LOOK);
        let answer = self.decide_as(&params);
        assert_eq!(answer["result"]["settled"], true, "{answer}");
        asked["message"].as_str().unwrap().to_owned()
    }

    pub fn send(&mut self, message: Value) {
        let body = message.to_string();
        self.send_raw(format!("Content-Length: {}\r\n\r\n{body}", body.len()));
    }

    pub fn send_raw(&mut self, bytes: impl AsRef<[u8]>) {
        // One that has ended closed it; what the test expects of that shows elsewhere.
        let input = self.input.as_mut().unwrap();
        let _ = input.write_all(bytes.as_ref()).and_then(|()| input.flush());
    }

    /// Ends the input, as an editor that is gone does.
    pub fn hang_up(&mut self) {
        self.input = None;
    }

    /// Waits for the end of the process; the exit code, and what it printed on standard error.
    pub fn ended(&mut self) -> (Option<i32>, String) {
        let code = sandbox::ended(&mut self.child);
        (code, self.errors.take().unwrap().join().unwrap())
    }

    /// Waits for the end of the output.
    pub fn output_ended(&self) {
        while self.messages.recv_timeout(SOON).is_ok() {}
    }

    /// The methods of everything that came and was not waited for, up to an answer of now.
    pub fn passed(&mut self) -> Vec<String> {
        self.request("pillion/none", Value::Null);
        let methods = self
            .passed
            .iter()
            .filter_map(|message| message["method"].as_str());
        methods.map(str::to_owned).collect()
    }

    /// The next message, if one comes in time.
    pub fn poll(&mut self, time: Duration) -> Option<Value> {
        self.receive(time).ok()
    }

    /// The same, of a process that may end: then it is disconnected once all that it said was received.
    pub fn receive(&mut self, time: Duration) -> Result<Value, RecvTimeoutError> {
        match self.passed.pop_front() {
            Some(passed) => Ok(passed),
            None => self.messages.recv_timeout(time),
        }
    }

    /// The next message that is wanted; what comes before it is kept.
    #[track_caller]
    pub fn wait(&mut self, wanted: impl Fn(&Value) -> bool) -> Value {
        if let Some(at) = self.passed.iter().position(&wanted) {
            return self.passed.remove(at).unwrap();
        }
        loop {
            match self.messages.recv_timeout(SOON) {
                Ok(message) if wanted(&message) => return message,
                Ok(message) => self.passed.push_back(message),
                Err(error) => panic!("{error}; what came: {:#?}", self.passed),
            }
        }
    }
}

impl Drop for Editor {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// The parameters of a plugin that counts in UTF-8.
pub fn plugin_params() -> Value {
    json!({
        "processId": std::process::id(),
        "clientInfo": {"name": "Test Editor", "version": "1"},
        "capabilities": {
            "general": {"positionEncodings": ["utf-8", "utf-16"]},
            "experimental": {"pillion": {"version": env!("CARGO_PKG_VERSION")}},
        },
    })
}

/// The discovery files that a `pillion/environment` names.
pub fn files(environment: &Value) -> Vec<PathBuf> {
    let files = environment["discoveryFiles"].as_array().unwrap();
    files
        .iter()
        .map(|file| file.as_str().unwrap().into())
        .collect()
}

/// A path in the workspace as a URI. Only for names without special characters.
pub fn uri(path: &Path) -> String {
    format!("file://{}", path.to_str().unwrap())
}

/// One message; nothing at the end, which for a process that is killed may come within one. Anything else on standard
/// output fails the test.
pub fn read(output: &mut impl BufRead) -> Option<Value> {
    let header = read_line(output)?;
    let length = header.strip_prefix("Content-Length: ");
    let length = length.unwrap_or_else(|| panic!("not protocol: {header:?}"));
    let mut line = read_line(output)?;
    let sum = line.strip_prefix("Content-Sum: ");
    let sum = sum.map(|it| it.trim_end().to_owned());
    if sum.is_some() {
        line = read_line(output)?;
    }
    assert_eq!(line, "\r\n");
    let mut body = vec![0; length.trim().parse().unwrap()];
    match output.read_exact(&mut body) {
        Err(error) if error.kind() == ErrorKind::UnexpectedEof => return None,
        read => read.unwrap(),
    }
    if let Some(sum) = sum {
        assert_eq!(fingerprint::hash(&body), sum);
    }
    let message: Value = serde_json::from_slice(&body).unwrap();
    assert_eq!(message["jsonrpc"], "2.0", "{message}");
    Some(message)
}

fn read_line(output: &mut impl BufRead) -> Option<String> {
    let mut line = String::new();
    output.read_line(&mut line).unwrap();
    line.ends_with('\n').then_some(line)
}
