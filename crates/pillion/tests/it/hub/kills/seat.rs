//! A person at an editor: a stand-in for a plugin, before a real `pillion lsp` that may be killed.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::thread::sleep;
use std::time::Duration;

use crossbeam_channel::RecvTimeoutError;
use pillion_testkit::{IdleProcess, SOON};
use pillion_view::decision::LOOK;
use serde_json::{Value, json};

use super::round::{Answer, Choice};
use crate::client::{Editor, plugin_params, uri};
use crate::sandbox::Sandbox;

/// An editor, which goes on when its `pillion lsp` is killed.
pub struct Seat {
    program: Editor,
    process: IdleProcess,
    /// The texts in the views, by number.
    views: BTreeMap<u64, String>,
    /// The messages that the person was told.
    pub told: Vec<String>,
}

/// A proposal that a view shows.
pub struct Shown {
    pub path: PathBuf,
    id: u64,
    revision: u64,
}

/// The message of `pillion lsp`.
enum Said {
    Show(Shown),
    /// To the request with this id.
    Answer(i32, Value),
    Other,
}

impl Seat {
    pub fn start(sandbox: &Sandbox) -> Self {
        let process = IdleProcess::start();
        Self {
            program: program(sandbox, &process),
            process,
            views: BTreeMap::new(),
            told: Vec::new(),
        }
    }

    /// Starts `pillion lsp` again. The views of before are closed, as a plugin does it.
    pub fn start_again(&mut self, sandbox: &Sandbox) {
        self.views.clear();
        self.program = program(sandbox, &self.process);
    }

    /// The editor's process.
    pub fn id(&self) -> u32 {
        self.process.id()
    }

    /// Its `pillion lsp`.
    pub fn program_id(&self) -> u32 {
        self.program.child.id()
    }

    /// The person looks at this line of a file: it is the editor that was used last.
    pub fn look_at(&mut self, file: &Path, line: usize) {
        let position = json!({"line": line, "character": 0});
        let file = json!({"uri": uri(file), "lastFocused": line, "active": true, "position": position, "lineText": ""});
        let context = json!({"openFiles": [file]});
        self.program.notify("pillion/didChangeContext", context);
    }

    /// Handles all that came. The proposal that is to be shown; of several the last.
    pub fn catch_up(&mut self) -> Option<Shown> {
        let mut last = None;
        while let Ok(said) = self.hear(Duration::ZERO) {
            if let Said::Show(shown) = said {
                last = Some(shown);
            }
        }
        last
    }

    /// The person decides. None if `pillion lsp` has ended before it answered.
    pub fn decide(&mut self, shown: &Shown, choice: &Choice) -> Option<Answer> {
        let (decision, content) = match choice {
            Choice::Accept => ("accept", None),
            Choice::Edit(text) => ("accept", Some(text)),
            Choice::Reject => ("reject", None),
        };
        if let (Some(text), Some(view)) = (content, self.views.get_mut(&shown.id)) {
            view.clone_from(text);
        }
        let params = json!({
            "id": shown.id,
            "revision": shown.revision,
            "decision": decision,
            "content": content,
            "seen": {"drawnMs": 700, "typed": true},
        });
        loop {
            let request = self.program.ask("pillion/decide", params.clone());
            let answer = loop {
                match self.hear(SOON) {
                    Ok(Said::Answer(id, result)) if id == request => break result,
                    Ok(_) => {}
                    Err(RecvTimeoutError::Disconnected) => return None,
                    Err(RecvTimeoutError::Timeout) => panic!("no answer to a decision"),
                }
            };
            if answer["code"] == "held" {
                // The rounds are quicker than people, and a key is held until it was not pressed for so long.
                sleep(LOOK);
                continue;
            }
            let is_settled = answer["settled"] == true;
            if is_settled {
                self.views.remove(&shown.id);
            }
            let code = answer["code"].as_str().map(str::to_owned);
            return Some(Answer { is_settled, code });
        }
    }

    /// Leaves as editors do.
    pub fn leave(mut self) -> Option<i32> {
        self.program.request("shutdown", Value::Null);
        self.program.notify("exit", Value::Null);
        self.program.ended().0
    }

    /// The next message, handled.
    fn hear(&mut self, time: Duration) -> Result<Said, RecvTimeoutError> {
        let mut message = self.program.receive(time)?;
        let params = &message["params"];
        let id = params["id"].as_u64().unwrap_or_default();
        Ok(match message["method"].as_str() {
            Some("pillion/openDiff") => {
                let text = params["proposed"].as_str().unwrap().to_owned();
                self.views.insert(id, text);
                self.program.answer(&message, json!({}));
                Said::Show(Shown {
                    path: params["path"].as_str().unwrap().into(),
                    id,
                    revision: params["revision"].as_u64().unwrap(),
                })
            }
            Some("pillion/closeDiff") => {
                match self.views.remove(&id) {
                    Some(text) => self.program.answer(&message, json!({"content": text})),
                    None => self.program.refuse(&message, "no such view"),
                }
                Said::Other
            }
            Some("window/showMessage") => {
                let text = params["message"].as_str().unwrap();
                self.told.push(text.to_owned());
                Said::Other
            }
            Some(_) => Said::Other,
            None => {
                let id = message["id"].as_i64().and_then(|id| id.try_into().ok());
                Said::Answer(id.unwrap_or_default(), message["result"].take())
            }
        })
    }
}

/// A `pillion lsp` that agents find, for an editor with this process.
fn program(sandbox: &Sandbox, editor: &IdleProcess) -> Editor {
    let mut command = sandbox.command(["lsp"]);
    command.env("PILLION_HUB_LOG", sandbox.hub_log());
    let mut program = Editor::spawn(&mut command);
    let mut params = plugin_params();
    params["processId"] = editor.id().into();
    program.initialize(params);
    program.notify("initialized", json!({}));
    program
}
