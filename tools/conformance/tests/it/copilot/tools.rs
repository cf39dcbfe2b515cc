//! The small companion's answers within a session.

use std::path::Path;
use std::thread;
use std::time::Duration;

use crossbeam_channel::{Receiver, unbounded};
use pillion_protocol::copilot::tools::listed;
use serde_json::{Value, json};

use super::companion::{Shared, View, block, decided, failed};

/// Too long to be at once.
const SLOW: Duration = Duration::from_millis(1_300);

impl Shared {
    /// The answer to a request; or the tab of a proposal, and where its result comes from.
    pub fn asked(
        &self,
        session: &str,
        id: &Value,
        method: &str,
        params: &Value,
    ) -> Result<Value, (String, Receiver<Value>)> {
        let is_odd = id.as_u64().is_some_and(|id| id > 7_000);
        let said = match is_odd && self.breaks("P2-id") {
            true => id.to_string().into(),
            false => id.clone(),
        };
        let reply = |result: Value| json!({"jsonrpc": "2.0", "id": said, "result": result});
        let refuse = |code: i32| {
            let error = json!({"code": code, "message": "no such thing"});
            json!({"jsonrpc": "2.0", "id": said, "error": error})
        };
        Ok(match method {
            "ping" if self.breaks("P2-ping") => refuse(-32601),
            "ping" => reply(json!({})),
            "tools/list" => reply(json!({"tools": self.tools()})),
            "tools/call" => match self.called(session, params)? {
                Some(result) => reply(result),
                None => refuse(-32602),
            },
            _ if self.breaks("P2-unknown-method") => refuse(-32600),
            _ => refuse(-32601),
        })
    }

    fn tools(&self) -> Vec<Value> {
        let mut tools: Vec<_> = listed()
            .into_iter()
            .map(|(name, description, schema)| {
                json!({"name": name, "description": description, "inputSchema": schema})
            })
            .collect();
        match self.flaw {
            "P4-tools" => tools.retain(|tool| tool["name"] != "open_diff"),
            "P4-model-tools" => tools.retain(|tool| tool["name"] != "get_selection"),
            "P4-schemas" => tools[0]["inputSchema"]["required"] = json!(["more"]),
            "P4-schemas/number" => {
                tools[1]["inputSchema"]["properties"]["tab_name"] = json!({"type": "number"});
            }
            _ => {}
        }
        tools
    }

    /// The result of a call; nothing for an unknown tool.
    fn called(
        &self,
        session: &str,
        params: &Value,
    ) -> Result<Option<Value>, (String, Receiver<Value>)> {
        let arguments = &params["arguments"];
        let heard = || block(r#"{"success": true}"#);
        Ok(Some(match params["name"].as_str().unwrap_or_default() {
            "open_diff" => self.open_diff(session, arguments)?,
            "close_diff" => self.close_diff(session, arguments),
            "get_diagnostics" => {
                if self.breaks("P4-prompt") {
                    thread::sleep(SLOW);
                }
                match self.flaw {
                    "P4-diagnostics" => json!({"content": []}),
                    "P4-diagnostics/error" => failed("none"),
                    _ => block("[]"),
                }
            }
            "get_selection" if self.breaks("P4-selection") => failed("none"),
            "get_selection" => block("{}"),
            "update_session_name" if self.breaks("P4-name") => failed("none"),
            "update_session_name" => heard(),
            _ if self.breaks("P2-unknown-tool") => heard(),
            _ => return Ok(None),
        }))
    }

    fn open_diff(
        &self,
        session: &str,
        arguments: &Value,
    ) -> Result<Value, (String, Receiver<Value>)> {
        let text = |name: &str| arguments[name].as_str().map(str::to_owned);
        let all = (
            text("original_file_path"),
            text("new_file_contents"),
            text("tab_name"),
        );
        let (path, text, tab) = match all {
            (Some(path), Some(text), Some(tab)) => (path, text, tab),
            (path, text, tab) if self.breaks("P5-arguments") => (
                path.unwrap_or_else(|| "/nowhere".to_owned()),
                text.unwrap_or_default(),
                tab.unwrap_or_default(),
            ),
            _ => return Ok(failed("an argument is missing")),
        };
        let is_relative = !path.starts_with('/') && !self.breaks("P5-relative");
        let is_folder = Path::new(&path).is_dir() && !self.breaks("P5-directory");
        if is_relative || is_folder {
            return Ok(failed("that is no file"));
        }
        match self.flaw {
            "P5-waits" => return Ok(decided("SAVED")),
            "P5-waits/error" => return Ok(failed("no views here")),
            "P5-writes/open" => std::fs::write(&path, &text).unwrap(),
            _ => {}
        }
        if self.breaks("P8-tab-names") {
            self.gone(|view| view.tab == tab);
        }
        let (answer, decision) = unbounded();
        self.state().views.push(View {
            session: session.to_owned(),
            tab: tab.clone(),
            path,
            text,
            answer,
        });
        Err((tab, decision))
    }

    fn close_diff(&self, session: &str, arguments: &Value) -> Value {
        let tab = arguments["tab_name"].as_str().unwrap_or_default();
        let everybody = self.breaks("P8-tab-names/close");
        let by_path = self.breaks("P5-names");
        let mut state = self.state();
        let all = std::mem::take(&mut state.views);
        let own = all.iter().find(|it| it.tab == tab && it.session == session);
        let path = own.map(|view| view.path.clone());
        let is_it = |view: &View| {
            let is_its = view.session == session || everybody;
            view.tab == tab && is_its || by_path && Some(&view.path) == path.as_ref()
        };
        let (closed, kept) = all.into_iter().partition(is_it);
        state.views = kept;
        drop(state);
        let closed: Vec<View> = closed;
        let was_open = !closed.is_empty();
        for view in closed {
            let result = match self.flaw {
                "P5-close-ends" => {
                    // The call stays open.
                    std::mem::forget(view.answer);
                    continue;
                }
                "P5-close-ends/saved" => decided("SAVED"),
                _ => decided("REJECTED"),
            };
            let _ = view.answer.send(result);
        }
        match self.flaw {
            "P5-close" if was_open => failed("closed"),
            "P5-close/words" if was_open => block("closed"),
            "P5-close-late" if !was_open => failed("no such tab"),
            _ => block(&json!({"success": true, "already_closed": !was_open}).to_string()),
        }
    }
}
