//! The stand-in model: a server on loopback that answers as the test has scripted, in the APIs
//! that the agents speak. The forms of answers in each API are in [`anthropic`], [`gemini`],
//! [`openai`] and [`responses`].

mod anthropic;
mod gemini;
mod openai;
mod responses;

pub use anthropic::HALF;

use std::collections::VecDeque;
use std::fmt;
use std::net::{Ipv4Addr, SocketAddr};
use std::path::PathBuf;
use std::sync::{Arc, Condvar, Mutex, MutexGuard};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use axum::Router;
use axum::body::Bytes;
use axum::extract::{DefaultBodyLimit, State};
use axum::http::{StatusCode, Uri, header};
use axum::response::{IntoResponse, Response};
use serde_json::Value;
use tokio::sync::oneshot;

/// The model's answer when nothing is scripted.
const NOT_SCRIPTED: &str = "(nothing is scripted)";

/// The prompt of an agent that is started without a terminal: by it, its main conversation is known.
pub const HEADLESS_PROMPT: &str = "Change it, without asking anybody.";

/// The prompt of a subagent, by which its conversation is known.
const SUBAGENT: &str = "Do what a subagent does.";

/// One thing that the model does: its answer to one request of the main conversation.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Turn {
    /// Says this, and ends its turn.
    Say(String),
    /// Proposes this whole text for the file, with the agent's tool for that.
    WriteFile {
        /// Absolute.
        path: PathBuf,
        /// The whole file.
        content: String,
    },
    /// Proposes to put `new` in the place of the only `old` in the file.
    Replace {
        /// Absolute.
        path: PathBuf,
        /// As it stands in the file.
        old: String,
        /// The text that takes its place.
        new: String,
    },
    /// Reads the file (Qwen Code and Claude Code overwrite no file that they have not read).
    ReadFile {
        /// Absolute.
        path: PathBuf,
    },
    /// Calls a tool of the agent that is none of these.
    CallTool {
        /// As the release names it.
        name: &'static str,
        /// Its arguments; for some of Codex CLI's tools, one text.
        input: Value,
    },
    /// All of these in one answer.
    AtOnce(Vec<Turn>),
}

impl Turn {
    /// [`Turn::Say`].
    pub fn say(text: impl Into<String>) -> Turn {
        Turn::Say(text.into())
    }

    /// [`Turn::WriteFile`].
    pub fn write_file(path: impl Into<PathBuf>, content: impl Into<String>) -> Turn {
        Turn::WriteFile {
            path: path.into(),
            content: content.into(),
        }
    }

    /// [`Turn::Replace`].
    pub fn replace(
        path: impl Into<PathBuf>,
        old: impl Into<String>,
        new: impl Into<String>,
    ) -> Turn {
        Turn::Replace {
            path: path.into(),
            old: old.into(),
            new: new.into(),
        }
    }

    /// [`Turn::ReadFile`].
    pub fn read_file(path: impl Into<PathBuf>) -> Turn {
        Turn::ReadFile { path: path.into() }
    }

    /// Has Claude Code start a subagent, whose model does what [`Model::script_subagent`] says.
    pub fn subagent() -> Turn {
        let input = serde_json::json!({
            "description": "a test", "prompt": SUBAGENT, "subagent_type": "general-purpose",
        });
        let name = "Agent";
        Turn::CallTool { name, input }
    }

    /// Has opencode start one.
    pub fn opencode_subagent() -> Turn {
        let input = serde_json::json!({
            "description": "a test", "prompt": SUBAGENT, "subagent_type": "general",
        });
        let name = "task";
        Turn::CallTool { name, input }
    }

    /// Has a Codex CLI that runs code start a subagent, whose model does what [`Model::script_subagent`] says, and wait for
    /// it.
    pub fn codex_subagent() -> [Turn; 2] {
        let task =
            serde_json::json!({"task_name": "helper", "message": SUBAGENT, "fork_turns": "none"});
        [
            Turn::CallTool {
                name: "collaboration.spawn_agent",
                input: task,
            },
            Turn::CallTool {
                name: "collaboration.wait_agent",
                input: serde_json::json!({"timeout_ms": 600_000}),
            },
        ]
    }

    /// Has Codex CLI apply a patch: these lines between the first one and the last one of it.
    pub fn patch(files: &str) -> Turn {
        Turn::CallTool {
            name: "apply_patch",
            input: format!("*** Begin Patch\n{files}*** End Patch\n").into(),
        }
    }

    /// [`Turn::AtOnce`].
    pub fn at_once(turns: impl IntoIterator<Item = Turn>) -> Turn {
        Turn::AtOnce(turns.into_iter().collect())
    }
}

/// One request that an agent made.
#[derive(Clone)]
pub struct ModelRequest {
    /// The path, without the query.
    pub path: String,
    /// The body; null if it was no JSON.
    pub body: Value,
    /// True if it belongs to the conversation that the person sees, and so took a scripted turn.
    /// All others (routing, titles, token counts) are answered harmlessly.
    pub is_main: bool,
}

impl ModelRequest {
    /// Returns true if it is a subagent's.
    pub fn is_subagents(&self) -> bool {
        let mut messages = self.body["messages"].as_array().into_iter().flatten();
        let prompt = messages.find(|message| message["role"] == "user");
        prompt.is_some_and(|prompt| mentions(prompt, SUBAGENT))
            || responses::is_told(&self.body, SUBAGENT)
    }

    /// Returns true if `text` stands anywhere in a text of the body.
    pub fn mentions(&self, text: &str) -> bool {
        mentions(&self.body, text)
    }

    /// The message that carries the newest prompt, with what the agent adds to it of its own, as
    /// JSON: without line breaks, blanks, and the backslashes of JSON in JSON.
    pub fn newest_message(&self) -> String {
        let messages = [&self.body["contents"], &self.body["messages"]].into_iter();
        let last = messages.filter_map(|all| all.as_array()?.last()).next();
        let message = last.map(ToString::to_string).unwrap_or_default();
        message.replace("\\n", "").replace(['\\', ' '], "")
    }
}

impl fmt::Debug for ModelRequest {
    /// Without the body: tens of kilobytes of prompt.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ModelRequest")
            .field("path", &self.path)
            .field("is_main", &self.is_main)
            .finish_non_exhaustive()
    }
}

/// The server. Stops on drop. One per agent: the turns are one queue.
#[derive(Debug)]
pub struct Model {
    address: SocketAddr,
    script: Arc<Script>,
    stop: Option<oneshot::Sender<()>>,
    thread: Option<JoinHandle<()>>,
}

#[derive(Debug, Default)]
struct Script {
    state: Mutex<Progress>,
    /// Told of every request.
    arrived: Condvar,
}

#[derive(Debug, Default)]
struct Progress {
    turns: VecDeque<Turn>,
    subagents_turns: VecDeque<Turn>,
    requests: Vec<ModelRequest>,
}

impl Model {
    /// Starts one with nothing scripted: it says so when asked.
    pub fn start() -> Model {
        let script = Arc::new(Script::default());
        let listener =
            std::net::TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).expect("loopback has free ports");
        let address = listener.local_addr().expect("it is bound");
        listener.set_nonblocking(true).expect("sockets can do that");
        let (stop, stopped) = oneshot::channel();
        let app = Router::new()
            .fallback(answer)
            .layer(DefaultBodyLimit::disable())
            .with_state(Arc::clone(&script));
        let thread = std::thread::spawn(move || {
            tokio::runtime::Builder::new_current_thread()
                .enable_all()
                .build()
                .expect("a runtime can be made")
                .block_on(async {
                    let listener = tokio::net::TcpListener::from_std(listener)
                        .expect("it is a listening socket");
                    // Not gracefully: an agent keeps its connections open.
                    tokio::select! {
                        served = axum::serve(listener, app) => served.expect("it serves until told"),
                        _ = stopped => {}
                    }
                });
        });
        Model {
            address,
            script,
            stop: Some(stop),
            thread: Some(thread),
        }
    }

    /// `http://127.0.0.1:PORT`: the base URL of Gemini CLI and Claude Code as it is, of Qwen Code and opencode
    /// with `/v1` after it.
    pub fn url(&self) -> String {
        format!("http://{}", self.address)
    }

    /// Scripts what the model does next, after what is scripted already.
    pub fn script(&self, turns: impl IntoIterator<Item = Turn>) {
        self.script.lock().turns.extend(turns);
    }

    /// The same for subagents.
    pub fn script_subagent(&self, turns: impl IntoIterator<Item = Turn>) {
        self.script.lock().subagents_turns.extend(turns);
    }

    /// Forgets the turns that were not taken. After a refusal no agent asks the model on, so what
    /// was scripted for afterwards would be the answer to the next prompt.
    pub fn clear(&self) {
        self.script.lock().turns.clear();
    }

    /// The number of scripted turns that were not taken yet.
    pub fn turns_left(&self) -> usize {
        self.script.lock().turns.len()
    }

    /// All requests so far, oldest first.
    pub fn requests(&self) -> Vec<ModelRequest> {
        self.script.lock().requests.clone()
    }

    /// The latest request of the main conversation.
    pub fn last_main(&self) -> Option<ModelRequest> {
        let progress = self.script.lock();
        progress.requests.iter().rev().find(|r| r.is_main).cloned()
    }

    /// Waits for a request, past ones included, for which `wanted` is true; `what` says in words
    /// what that is.
    ///
    /// # Panics
    /// With `what` and the requests that came, when `timeout` has passed.
    pub fn wait_for(
        &self,
        what: &str,
        timeout: Duration,
        wanted: impl Fn(&ModelRequest) -> bool,
    ) -> ModelRequest {
        let until = Instant::now() + timeout;
        let mut progress = self.script.lock();
        loop {
            if let Some(found) = progress.requests.iter().find(|request| wanted(request)) {
                return found.clone();
            }
            let left = until.saturating_duration_since(Instant::now());
            assert!(
                !left.is_zero(),
                "expected a request to the model {what} within {timeout:?}; those that came: {:#?}",
                progress.requests
            );
            progress = self
                .script
                .arrived
                .wait_timeout(progress, left)
                .expect("no holder of the script panics")
                .0;
        }
    }
}

impl Drop for Model {
    fn drop(&mut self) {
        drop(self.stop.take());
        if let Some(thread) = self.thread.take() {
            // A panic there has been printed; a second one here would hide the test's own.
            let _ = thread.join();
        }
    }
}

impl Script {
    fn lock(&self) -> MutexGuard<'_, Progress> {
        self.state.lock().expect("no holder of the script panics")
    }

    /// Notes the request; the turn that answers it, if it is the main conversation's.
    fn take(&self, request: ModelRequest) -> Option<Turn> {
        let mut progress = self.lock();
        let turn = request.is_main.then(|| {
            let next = if request.is_subagents() {
                progress.subagents_turns.pop_front()
            } else {
                progress.turns.pop_front()
            };
            next.unwrap_or_else(|| Turn::say(NOT_SCRIPTED))
        });
        progress.requests.push(request);
        self.arrived.notify_all();
        turn
    }
}

async fn answer(State(script): State<Arc<Script>>, uri: Uri, body: Bytes) -> Response {
    let path = uri.path().to_owned();
    let body: Value = serde_json::from_slice(&body).unwrap_or_default();
    let is_gemini = path.contains("/models/");
    let is_anthropic = path.starts_with("/v1/messages");
    let is_responses = path.ends_with("/responses");
    let is_main = if is_gemini {
        gemini::is_main(&path, &body)
    } else if is_anthropic {
        anthropic::is_main(&path, &body)
    } else if is_responses {
        responses::is_main(&body)
    } else {
        openai::is_main(&body)
    };
    let turn = script.take(ModelRequest {
        path: path.clone(),
        body: body.clone(),
        is_main,
    });
    if is_gemini {
        gemini::answer(&path, &body, turn)
    } else if is_anthropic {
        anthropic::answer(&path, &body, turn)
    } else if is_responses {
        responses::answer(&body, turn)
    } else if path.ends_with("/chat/completions") {
        openai::answer(&body, turn)
    } else {
        StatusCode::NOT_FOUND.into_response()
    }
}

fn json(value: &Value) -> Response {
    let kind = [(header::CONTENT_TYPE, "application/json")];
    (kind, value.to_string()).into_response()
}

/// An event stream of these events, all there at once.
fn events(events: impl IntoIterator<Item = String>) -> Response {
    let kind = [(header::CONTENT_TYPE, "text/event-stream")];
    let body: String = events
        .into_iter()
        .map(|event| format!("data: {event}\n\n"))
        .collect();
    (kind, body).into_response()
}

/// Unique in this process: an agent takes a known id for a repetition.
fn unique_id(kind: &str) -> String {
    use std::sync::atomic::{AtomicU64, Ordering};
    static NEXT: AtomicU64 = AtomicU64::new(1);
    format!("{kind}_{}", NEXT.fetch_add(1, Ordering::Relaxed))
}

fn mentions(value: &Value, text: &str) -> bool {
    match value {
        Value::String(string) => string.contains(text),
        Value::Array(items) => items.iter().any(|item| mentions(item, text)),
        Value::Object(fields) => fields.values().any(|field| mentions(field, text)),
        _ => false,
    }
}
