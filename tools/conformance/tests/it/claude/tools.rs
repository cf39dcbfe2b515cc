//! The small companion's answers.

use std::thread;
use std::time::Duration;

use pillion_protocol::claude::tools::listed;
use serde_json::{Value, json};

use super::companion::{Shared, View, texts};
use super::frames::BINARY;

/// Too long to be at once.
const SLOW: Duration = Duration::from_millis(700);

impl Shared {
    /// Takes a notification, or what is none.
    pub fn notified(&self, client: u64, message: &Value) {
        let method = message["method"].as_str().unwrap_or_default();
        if method == "notifications/initialized" {
            if let Some(client) = self.state().clients.get_mut(&client) {
                client.is_initialized = true;
            }
            self.greet(client);
            if self.breaks("K2-text") {
                self.write(client, BINARY, b"{}");
            }
        }
        let is_answered = match self.flaw {
            "K4-notification" => !method.is_empty(),
            "K4-notification/unknown" => method == "unheard/of",
            _ => false,
        };
        if is_answered {
            let error = json!({"code": -32601, "message": "no such method"});
            self.send(
                client,
                &json!({"jsonrpc": "2.0", "id": null, "error": error}),
            );
        }
    }

    /// Answers a request; false when that ends the connection.
    pub fn asked(&self, client: u64, message: &Value) -> bool {
        let (id, params) = (&message["id"], &message["params"]);
        match message["method"].as_str().unwrap_or_default() {
            "initialize" => {
                let version = self.version(params["protocolVersion"].as_str().unwrap_or_default());
                let mut result = json!({
                    "protocolVersion": version, "capabilities": {"tools": {}},
                    "serverInfo": {"name": "small", "version": "1"},
                });
                if self.breaks("K4-initialize") {
                    result.as_object_mut().unwrap().remove("serverInfo");
                }
                self.reply(client, id, &result);
                if self.breaks("K7-early") {
                    self.show(client);
                }
            }
            "ping" if !self.breaks("K4-ping") => self.reply(client, id, &json!({})),
            "tools/list" => self.reply(client, id, &json!({"tools": self.tools()})),
            "tools/call" => return self.called(client, id, params),
            _ => {
                let code = if self.breaks("K4-unknown-method") {
                    -32600
                } else {
                    -32601
                };
                let error = json!({"code": code, "message": "no such method"});
                self.send(client, &json!({"jsonrpc": "2.0", "id": id, "error": error}));
            }
        }
        true
    }

    fn version<'a>(&self, wanted: &'a str) -> &'a str {
        match self.flaw {
            "K4-versions" if wanted == "2024-10-07" => "1999-01-01",
            "K4-unknown-version" => wanted,
            _ if wanted.starts_with("2024") => wanted,
            _ => "2025-06-18",
        }
    }

    fn tools(&self) -> Vec<Value> {
        let tools = listed().into_iter().map(|(name, description, mut schema)| {
            if self.breaks("K4-schemas") && name == "getDiagnostics" {
                schema["required"] = json!(["uri"]);
            }
            if self.breaks("K4-schemas/number") && name == "close_tab" {
                schema["properties"]["tab_name"]["type"] = "number".into();
            }
            json!({"name": name, "description": description, "inputSchema": schema})
        });
        let is_listed =
            |tool: &Value| !(self.breaks("K4-tools") && tool["name"] == "closeAllDiffTabs");
        tools.filter(is_listed).collect()
    }

    fn called(&self, client: u64, id: &Value, params: &Value) -> bool {
        let arguments = &params["arguments"];
        match params["name"].as_str().unwrap_or_default() {
            "openDiff" => return self.open_diff(client, id, arguments),
            "close_tab" => self.close_tab(client, id, arguments),
            "closeAllDiffTabs" => self.close_all(client, id),
            "getDiagnostics" => self.reply(client, id, &self.diagnostics(arguments)),
            _ if self.breaks("K4-unknown-tool") => self.reply(client, id, &texts(&["done"])),
            _ => self.fail(client, id, "no such tool"),
        }
        true
    }

    fn fail(&self, client: u64, id: &Value, why: &str) {
        let mut result = texts(&[why]);
        result["isError"] = true.into();
        self.reply(client, id, &result);
    }

    fn open_diff(&self, client: u64, id: &Value, arguments: &Value) -> bool {
        let text = |name: &str| arguments[name].as_str().map(str::to_owned);
        let all = (
            text("new_file_path"),
            text("new_file_contents"),
            text("tab_name"),
        );
        let (path, contents, tab) = match all {
            (Some(path), Some(contents), Some(tab)) => (path, contents, tab),
            _ if self.breaks("K5-arguments/crash") => return false,
            (path, contents, tab) if self.breaks("K5-arguments") => (
                path.unwrap_or_else(|| "/nowhere".to_owned()),
                contents.unwrap_or_default(),
                tab.unwrap_or_default(),
            ),
            _ => {
                self.fail(client, id, "an argument is missing");
                return true;
            }
        };
        let is_relative = !path.starts_with('/') && !self.breaks("K5-relative");
        let is_folder = std::path::Path::new(&path).is_dir() && !self.breaks("K5-directory");
        if is_relative || is_folder {
            self.fail(client, id, "that is no file");
            return true;
        }
        match self.flaw {
            "K5-blocks" => self.reply(client, id, &texts(&["TAB_CLOSED"])),
            "K5-blocks/error" => self.fail(client, id, "no views here"),
            "K5-blocks/empty" => self.reply(client, id, &json!({"content": []})),
            _ => self.open(client, id, tab, path, contents),
        }
        true
    }

    fn open(&self, client: u64, id: &Value, tab: String, path: String, text: String) {
        if self.breaks("K5-writes/open") {
            std::fs::write(&path, &text).unwrap();
        }
        let mut replaced = Vec::new();
        let mut state = self.state();
        let everybody = self.breaks("K8-tab-names");
        state.views.retain(|view| {
            let is_same = view.tab == tab && (view.client == client || everybody);
            if is_same {
                replaced.push(view.clone());
            }
            !is_same
        });
        state.views.push(View {
            client,
            id: id.clone(),
            tab,
            path,
            text,
        });
        drop(state);
        let result = match self.flaw {
            "K5-same-name" => |view: &View| texts(&["FILE_SAVED", &view.text]),
            "K5-same-name/tab" => |_: &View| texts(&["TAB_CLOSED"]),
            _ => |_: &View| texts(&["DIFF_REJECTED"]),
        };
        for view in replaced {
            self.reply(view.client, &view.id, &result(&view));
        }
    }

    fn close_tab(&self, client: u64, id: &Value, arguments: &Value) {
        let tab = arguments["tab_name"].as_str().unwrap_or_default();
        let mut closed = Vec::new();
        {
            let mut state = self.state();
            let own = state
                .views
                .iter()
                .find(|view| view.tab == tab && view.client == client);
            let path = own.map(|view| view.path.clone());
            let by_path = self.breaks("K5-names");
            let everybody = self.breaks("K8-tab-names/close");
            state.views.retain(|view| {
                let is_it = view.tab == tab && (view.client == client || everybody)
                    || by_path && Some(&view.path) == path.as_ref();
                if is_it {
                    closed.push(view.clone());
                }
                !is_it
            });
        }
        let word = match (closed.is_empty(), self.flaw) {
            (false, "K5-close") => "CLOSED",
            (true, "K5-close-late") => "NO_SUCH_TAB",
            _ => "TAB_CLOSED",
        };
        if closed.is_empty() && self.breaks("K5-close-late/error") {
            return self.fail(client, id, "no such tab");
        }
        let result = match self.flaw {
            "K5-close-once/saved" => |view: &View| match view.text.as_str() {
                "text\n" => texts(&["FILE_SAVED", &view.text]),
                _ => texts(&["DIFF_REJECTED"]),
            },
            _ => |_: &View| texts(&["DIFF_REJECTED"]),
        };
        for view in &closed {
            for _ in 0..=usize::from(self.breaks("K5-close-once")) {
                if !self.breaks("none/closed-silently") {
                    self.reply(view.client, &view.id, &result(view));
                }
            }
        }
        self.reply(client, id, &texts(&[word]));
    }

    fn close_all(&self, client: u64, id: &Value) {
        let mut closed = Vec::new();
        let everybody = self.breaks("K8-close-all");
        let mut state = self.state();
        let others = state
            .views
            .iter()
            .filter(|view| view.client != client)
            .count();
        state.views.retain(|view| {
            let is_it = view.client == client || everybody;
            if is_it {
                closed.push(view.clone());
            }
            !is_it
        });
        drop(state);
        for view in &closed {
            self.reply(view.client, &view.id, &texts(&["DIFF_REJECTED"]));
        }
        let count = closed.len()
            + if self.breaks("K8-close-all/count") {
                others
            } else {
                0
            }
            + if self.breaks("K5-all/count") { 7 } else { 0 };
        let word = match self.flaw {
            "K5-all" => "CLOSED".to_owned(),
            _ => format!("CLOSED_{count}_DIFF_TABS"),
        };
        self.reply(client, id, &texts(&[&word]));
    }

    fn diagnostics(&self, arguments: &Value) -> Value {
        let uri = arguments["uri"].as_str();
        let path = self.workspace.join("file-0.txt").display().to_string();
        let known = format!("file://{path}");
        if self.breaks("K7-diagnostics-prompt") {
            thread::sleep(SLOW);
        }
        let place = json!({"line": 0, "character": 0});
        let mut diagnostic = json!({
            "message": "odd", "severity": "Warning", "range": {"start": place, "end": place},
        });
        match self.flaw {
            "K7-diagnostics-shape" => diagnostic["severity"] = 2.into(),
            "K7-diagnostics-shape/range" => diagnostic["range"] = json!([0, 0]),
            _ => {}
        }
        let uri_said = match (self.flaw, uri) {
            ("K7-diagnostics-uri", Some(_)) => path,
            ("K7-diagnostics-uri/all", Some(_)) => format!("{known}-another"),
            _ => known.clone(),
        };
        let entries = match uri {
            Some(uri) if uri != known => json!([]),
            _ => json!([{"uri": uri_said, "diagnostics": [diagnostic]}]),
        };
        match self.flaw {
            "K7-diagnostics" => json!({"content": [], "isError": true}),
            "K7-diagnostics/two" => texts(&["[]", "[]"]),
            "K7-diagnostics/words" => texts(&["none"]),
            "K7-diagnostics/object" => texts(&["{}"]),
            _ => texts(&[&entries.to_string()]),
        }
    }
}
