//! The small companion's contexts.

use std::sync::Arc;
use std::thread;
use std::time::{Duration, SystemTime};

use serde_json::{Value, json};

use crate::companion::{Session, Shared, State};

const DEBOUNCE: Duration = Duration::from_millis(50);

/// No debounce to speak of.
const HARDLY_ANY: Duration = Duration::from_millis(5);

fn now() -> u64 {
    let now = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH);
    u64::try_from(now.unwrap().as_millis()).unwrap()
}

impl State {
    /// Focuses a file.
    pub fn focus(&mut self, file: &str) {
        self.open.retain(|(open, _)| open != file);
        let newest = self.open.first().map_or(0, |(_, time)| time + 1);
        self.open.insert(0, (file.to_owned(), newest.max(now())));
    }
}

impl Shared {
    /// The files that are open, the one with the focus first.
    fn files(&self) -> Vec<Value> {
        let state = self.state();
        let line = state.line + u32::from(!self.breaks("C4.3-moved"));
        let open = state.open.iter();
        let mut files: Vec<_> = open
            .map(|(path, time)| json!({"path": path, "timestamp": time}))
            .collect();
        let units = 16_384 + usize::from(self.breaks("C4.7-selection"));
        files[0]["isActive"] = true.into();
        files[0]["cursor"] = json!({"line": line.max(1), "character": 1});
        files[0]["selectedText"] = "x".repeat(units).into();
        let has_moved = state.moves > 0;
        for file in &mut files {
            let time = file["timestamp"].as_u64().unwrap();
            if self.breaks("C4.5-timestamp") {
                file["timestamp"] = (time / 1_000).into();
            }
            if self.breaks("C4.5-timestamp/microseconds") {
                file["timestamp"] = (time * 1_000).into();
            }
            if has_moved && self.breaks("C4.5-focused") {
                file["timestamp"] = (time - 60_000).into();
            }
            if self.breaks("C4.6-active/stays") {
                file["isActive"] = true.into();
            }
        }
        if !self.breaks("C4.7-files") {
            files.truncate(10);
        }
        if self.breaks("C4.4-diff") {
            let (views, time) = (&state.views, files[0]["timestamp"].as_u64().unwrap() - 2);
            let views = views.keys();
            files.extend(views.map(|path| json!({"path": path, "timestamp": time})));
        }
        files
    }

    /// The files as one of the flaws has them.
    fn spoilt_files(&self) -> Vec<Value> {
        let mut files = self.files();
        let time = files[0]["timestamp"].as_u64().unwrap();
        let other = |name: &str| json!(self.workspace.join(name));
        match self.flaw {
            "C4.3-shape" => files[0]["timestamp"] = time.to_string().into(),
            "C4.3-shape/active" => files[1]["isActive"] = "false".into(),
            "C4.3-shape/cursor" => files[0]["cursor"] = json!([1, 1]),
            "C4.3-path" => files[1]["path"] = "file-1.txt".into(),
            "C4.3-path/uri" => {
                let uri = format!("file://{}", files[1]["path"].as_str().unwrap());
                files[1]["path"] = uri.into();
            }
            "C4.3-cursor" => files[0]["cursor"]["character"] = 0.into(),
            "C4.3-moved/inactive" => {
                for name in ["isActive", "cursor", "selectedText"] {
                    files[0].as_object_mut().unwrap().remove(name);
                }
            }
            "C4.4-exists" => files[1]["path"] = other("Untitled-1"),
            "C4.4-exists/folder" => files[1]["path"] = json!(self.workspace),
            "C4.6-active" => files[1]["isActive"] = true.into(),
            "C4.6-details" => files[1]["selectedText"] = "x".into(),
            "C4.6-details/cursor" => files[1]["cursor"] = files[0]["cursor"].clone(),
            "C4.8-newest" => files[1]["timestamp"] = (time + 1).into(),
            "C4.8-newest/equal" => {
                files[1]["timestamp"] = time.into();
                files.swap(0, 1);
            }
            _ => {}
        }
        files
    }

    /// The params of `ide/contextUpdate`.
    pub fn context(&self) -> Value {
        match self.flaw {
            "C4.3-listed" => json!({}),
            "C4.3-listed/no-files" => json!({"workspaceState": {}}),
            "C4.3-listed/empty" => json!({"workspaceState": {"openFiles": []}}),
            "C4.3-shape/null" => json!({"workspaceState": {"openFiles": null}}),
            "C4.9-trusted" => {
                json!({"workspaceState": {"openFiles": self.spoilt_files(), "isTrusted": true}})
            }
            _ => json!({"workspaceState": {"openFiles": self.spoilt_files()}}),
        }
    }

    /// Sends a session its messages when its stream opens.
    pub fn greet(&self, session: &str) {
        let has_stream = |session: &&Session| session.stream.is_some();
        let mut state = self.state();
        let is_alone = state.sessions.values().filter(has_stream).count() == 1;
        state.greeted += 1;
        let is_even = state.greeted.is_multiple_of(2);
        drop(state);
        if self.breaks("C4.1-sent")
            || self.breaks("C4.1-every") && is_even
            || self.breaks("C1.4-context") && !is_alone
        {
            return;
        }
        let context = self.context();
        for _ in 0..=usize::from(self.breaks("C4.1-once")) {
            self.push("ide/contextUpdate", &context, |id| id == session);
        }
    }

    /// The cursor moves, in this file.
    pub fn move_cursor(self: &Arc<Self>, file: &str, line: u32) {
        if self.breaks("C4.2-change") || self.breaks("C4.1-sent") {
            return;
        }
        let mut state = self.state();
        let since = state.moved.replace(SystemTime::now());
        state.moves += 1;
        state.line = line - 1;
        state.focus(file);
        let moves = state.moves;
        drop(state);
        let is_alone = || {
            let since = since.and_then(|since| since.elapsed().ok());
            since.is_none_or(|since| since > HARDLY_ANY)
        };
        if self.breaks("C4.2-debounce/5ms") && is_alone()
            || self.breaks("C4.2-debounce")
            || self.breaks("C4.2-debounce/slow-command")
        {
            self.push("ide/contextUpdate", &self.context(), |_| true);
            return;
        }
        let shared = Arc::clone(self);
        thread::spawn(move || {
            thread::sleep(DEBOUNCE);
            if shared.state().moves == moves {
                let newest = shared.newest_session();
                let is_meant = |id: &str| !shared.breaks("C1.4-context/moves") || id == newest;
                shared.push("ide/contextUpdate", &shared.context(), is_meant);
            }
        });
    }
}
