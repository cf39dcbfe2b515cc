//! What the small companion says that its editor shows.

use std::sync::Arc;
use std::thread;
use std::time::{Duration, SystemTime};

use serde_json::{Value, json};

use crate::companion::{Session, Shared};

const DEBOUNCE: Duration = Duration::from_millis(50);

impl Shared {
    /// The params of `ide/contextUpdate`.
    pub fn context(&self) -> Value {
        let now = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH);
        let mut now = u64::try_from(now.unwrap().as_millis()).unwrap();
        if self.breaks("C4.5-timestamp") {
            now /= 1000;
        }
        let path = |number: u64| self.workspace.join(format!("file-{number}.txt"));
        let line = self.state().line + u32::from(!self.breaks("C4.3-moved"));
        let line = line.max(1);
        // The first move is one to another file.
        let has_moved = self.state().moves > 0;
        if has_moved && self.breaks("C4.5-focused") {
            now -= 60_000;
        }
        let mut active = json!({
            "path": path(u64::from(!has_moved)),
            "timestamp": now,
            "isActive": true,
            "cursor": {"line": line, "character": 1},
            "selectedText": "text",
        });
        let mut other = json!({"path": path(u64::from(has_moved)), "timestamp": now - 1});
        if self.breaks("C4.3-shape") {
            active["timestamp"] = now.to_string().into();
        }
        if self.breaks("C4.3-path") {
            other["path"] = "file-1.txt".into();
        }
        if self.breaks("C4.3-cursor") {
            active["cursor"]["character"] = 0.into();
        }
        if self.breaks("C4.4-exists") {
            other["path"] = json!(self.workspace.join("Untitled-1"));
        }
        if self.breaks("C4.6-active") {
            other["isActive"] = true.into();
        }
        if self.breaks("C4.6-details") {
            other["selectedText"] = "x".into();
        }
        if self.breaks("C4.7-selection") {
            active["selectedText"] = "x".repeat(16_385).into();
        }
        if self.breaks("C4.8-newest") {
            other["timestamp"] = (now + 1).into();
        }
        if self.breaks("C4.3-shape/null") {
            return json!({"workspaceState": {"openFiles": null}});
        }
        if self.breaks("C4.8-newest/equal") {
            other["timestamp"] = now.into();
            return json!({"workspaceState": {"openFiles": [other, active]}});
        }
        if self.breaks("C4.4-exists/folder") {
            other["path"] = json!(self.workspace);
        }
        let mut files = vec![active, other];
        if self.breaks("C4.9-trusted") {
            return json!({"workspaceState": {"openFiles": files, "isTrusted": true}});
        }
        if self.breaks("C4.4-diff") {
            let views = &self.state().views;
            files.extend(
                views
                    .keys()
                    .map(|path| json!({"path": path, "timestamp": now - 2})),
            );
        }
        if self.breaks("C4.7-files") {
            let more =
                (2..11).map(|number| json!({"path": path(number), "timestamp": now - number}));
            files.extend(more);
        }
        json!({"workspaceState": {"openFiles": files}})
    }

    /// What a session gets when its stream opens.
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

    /// The cursor moves.
    pub fn move_cursor(self: &Arc<Self>, line: u32) {
        if self.breaks("C4.2-change") || self.breaks("C4.1-sent") {
            return;
        }
        let mut state = self.state();
        state.moves += 1;
        state.line = line - 1;
        drop(state);
        if self.breaks("C4.2-debounce") || self.breaks("C4.2-debounce/slow-command") {
            self.push("ide/contextUpdate", &self.context(), |_| true);
            return;
        }
        let moves = self.state().moves;
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
