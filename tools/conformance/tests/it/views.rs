//! The views of the small companion: `openDiff` and `closeDiff`.

use std::path::Path;
use std::sync::Arc;
use std::thread;
use std::time::Duration;

use serde_json::{Value, json};

use crate::companion::{Shared, View};

/// Longer than anybody waits.
const HANGS: Duration = Duration::from_secs(60);

/// A delay that nobody would call "at once".
const SLOW: Duration = Duration::from_millis(1_500);

impl Shared {
    pub fn open_diff(self: &Arc<Self>, session: &str, arguments: &Value) -> Value {
        let path = arguments["filePath"].as_str().unwrap_or_default();
        let text = arguments["newContent"].as_str();
        let mut state = self.state();
        let mut views = state.views.iter();
        let has_others = views.any(|(file, view)| view.session == session && file != path);
        let is_busy = state.views.values().any(|view| view.session != session);
        let is_refused = Path::new(path).is_relative() && !self.breaks("C5.1-relative")
            || Path::new(path).is_dir()
            || path.is_empty()
            || text.is_none() && !self.breaks("C5.1-arguments")
            || self.breaks("C5.2-open")
            || self.breaks("C5.5-several") && has_others
            || self.breaks("C5.5-odd-path") && path.contains('$')
            || self.breaks("C1.4-views") && is_busy;
        if is_refused && self.breaks("C5.2-failure") {
            return json!({"error": {"code": -32603, "message": "no"}});
        }
        if is_refused && self.breaks("C5.2-failure/no-text") {
            return json!({"result": {"isError": true, "content": []}});
        }
        if is_refused {
            return failure();
        }
        if self.breaks("C5.2-open/hangs") || self.breaks("C5.2-open/slow") {
            drop(state);
            thread::sleep(if self.breaks("C5.2-open/slow") {
                SLOW
            } else {
                HANGS
            });
            if self.breaks("C5.2-open/hangs") {
                return failure();
            }
            state = self.state();
        }
        if self.breaks("C5.9-writes/open") {
            let _ = std::fs::write(path, "");
        }
        if self.breaks("C5.9-beside") {
            let _ = std::fs::write(format!("{path}.proposed"), "");
        }
        let view = View {
            session: session.to_owned(),
            text: text.unwrap_or_default().to_owned(),
            opens_with: Some(state.last_session),
        };
        let is_known = state.views.contains_key(path);
        let is_kept = self.breaks("C5.1-replace") && is_known;
        if self.breaks("C5.5-several/last") {
            state.views.retain(|_, view| view.session != session);
        }
        if self.breaks("C5.5-several/text") {
            let mine = state
                .views
                .values_mut()
                .filter(|view| view.session == session);
            mine.for_each(|own| own.text.clone_from(&view.text));
        }
        if self.breaks("C5.5-alike/opened-case") {
            state
                .views
                .retain(|open, _| !open.eq_ignore_ascii_case(path));
        }
        if !is_kept {
            state.views.insert(path.to_owned(), view);
        }
        drop(state);
        if is_known && self.breaks("C5.1-replace/rejected") {
            let params = json!({"filePath": path});
            self.push("ide/diffRejected", &params, |id| id == session);
        }
        if self.flaw.starts_with("none/accepts-itself") {
            let (shared, path) = (Arc::clone(self), path.to_owned());
            let delay = match self.flaw {
                "none/accepts-itself/later" => Duration::from_millis(60),
                _ => Duration::ZERO,
            };
            thread::spawn(move || {
                thread::sleep(delay);
                let is_open = shared.state().views.contains_key(&path);
                if is_open {
                    shared.settle(&path, true);
                }
            });
        }
        if self.breaks("C5.2-empty") {
            return json!({"result": {"content": [{"type": "text", "text": "opened"}]}});
        }
        json!({"result": {"content": []}})
    }

    pub fn close_diff(&self, session: &str, arguments: &Value) -> Value {
        let path = arguments["filePath"].as_str().unwrap_or_default();
        let is_suppressed = arguments["suppressNotification"] == true;
        if is_suppressed && self.breaks("C5.4-suppress") {
            return failure();
        }
        let mut state = self.state();
        let stays = self.breaks("C5.5-closes");
        let base = |path: &str| path.rsplit('/').next().unwrap_or_default().to_owned();
        let is_open = state.views.contains_key(path);
        let is_alike = |view: &&String| match self.flaw {
            "C5.5-alike" => base(view) == base(path),
            "C5.5-alike/case" => !is_open && view.eq_ignore_ascii_case(path),
            "C5.5-alike/prefix" => view.starts_with(path),
            "C5.5-alike/prefix-last" => !is_open && view.starts_with(path),
            "C5.5-alike/longer" => !is_open && path.starts_with(view.as_str()),
            "C5.5-alike/folder" => !is_open && Path::new(view).parent() == Some(Path::new(path)),
            "C5.5-alike/pattern" => view.replace("[id]", "i") == path,
            _ => false,
        };
        let first = state.views.keys().find(is_alike).cloned();
        let path = first.as_deref().unwrap_or(path);
        // As if it opened only now: the first attempt finds none, unless others have connected meanwhile.
        let connected = state.last_session;
        if self.breaks("C5.2-open/early")
            && let Some(view) = state.views.get_mut(path)
            && view.opens_with.take() == Some(connected)
        {
            return failure();
        }
        // Where the rows about odd paths and several views go wrong, and no other does.
        let is_odd = self.breaks("C5.5-odd-path/close") && path.contains('$')
            || self.breaks("C5.5-several/close") && path.ends_with("-two.txt")
            || self.breaks("C5.5-alike/close") && path.ends_with("[id].tsx");
        if is_odd {
            return failure();
        }
        let text = match state.views.get(path) {
            None if self.breaks("C5.5-unknown/empty") => {
                return json!({"result": {"content": [{"type": "text", "text": "{}"}]}});
            }
            None if self.breaks("C5.5-unknown") => return json!({"result": {"content": []}}),
            None => return failure(),
            Some(view) => view.text.clone(),
        };
        if self.breaks("C5.9-beside") {
            let _ = std::fs::remove_file(format!("{path}.proposed"));
        }
        if self.breaks("C5.9-writes/closed") {
            let _ = std::fs::write(path, "");
        }
        if !stays {
            state.views.remove(path);
        }
        drop(state);
        let flaw = if is_suppressed {
            "C5.10-suppressed"
        } else {
            "C5.10-closed"
        };
        if self.breaks(flaw) {
            let params = json!({"filePath": path});
            self.push("ide/diffRejected", &params, |id| id == session);
        }
        let block = json!({"type": "text", "text": self.closed_text(&text)});
        if self.breaks("C5.5-shape/two-blocks") {
            return json!({"result": {"content": [block, block]}});
        }
        json!({"result": {"content": [block]}})
    }

    /// The text block of `closeDiff`.
    fn closed_text(&self, text: &str) -> String {
        let is_json = text.starts_with("{\"content\"");
        if self.breaks("C5.5-shape/array") {
            return json!([text]).to_string();
        }
        if self.breaks("C5.5-shape/no-content") {
            return json!({"text": text}).to_string();
        }
        if self.breaks("C5.5-shape") {
            return format!("text: {text}");
        }
        if self.breaks("C5.5-json") && is_json {
            return text.to_owned();
        }
        json!({"content": self.spoilt(text)}).to_string()
    }

    /// The text as an editor spoils it that breaks one of the rules about texts.
    fn spoilt(&self, text: &str) -> String {
        let breaks = |rule: &str| self.breaks(&format!("C5.5-{rule}"));
        let is_json = text.starts_with("{\"content\"");
        let has_lone_lf = text.replace("\r\n", "").contains('\n');
        let has_lone_cr = text.replace("\r\n", "").contains('\r');
        let has_crlf = text.contains("\r\n");
        let has_long_line = || text.lines().any(|line| line.len() > 100_000);
        let cut = |at: usize| text.chars().take(at).collect();
        match () {
            () if breaks("empty") && text.is_empty() => "\n".to_owned(),
            () if breaks("no-newline") && text == "one\ntwo" => format!("{text}\n"),
            () if breaks("newlines") && text.ends_with("\n\n") => format!("{}\n", text.trim_end()),
            () if breaks("spaces") => text.replace("  \n", "\n"),
            () if breaks("crlf") && has_crlf && !has_lone_lf => text.replace("\r\n", "\n"),
            () if breaks("mixed") && has_crlf && has_lone_lf => text.replace("\r\n", "\n"),
            () if breaks("cr") && has_lone_cr => text.replace('\r', "\n"),
            () if breaks("bom") => text.trim_start_matches('\u{feff}').to_owned(),
            () if breaks("separators") => text.replace('\u{2028}', "\n"),
            () if breaks("unicode") => text.replace("e\u{301}", "é"),
            () if breaks("nul") => text.split('\0').next().unwrap_or_default().to_owned(),
            () if breaks("markup") => text.replace("$$", "$"),
            () if breaks("markup/entities") => text.replace("&lt;", "<"),
            () if breaks("markup/escapes") && !is_json => text.replace("\\n", "\n"),
            () if breaks("markup/percent") => text.replace("%%", "%"),
            () if breaks("long-line") && has_long_line() => cut(100_000),
            () if breaks("1mb") && (1_000_000..2_000_000).contains(&text.len()) => cut(65_536),
            () if breaks("5mb") && text.len() > 4_194_304 => cut(4_194_304),
            () => text.to_owned(),
        }
    }
}

fn failure() -> Value {
    let content = json!([{"type": "text", "text": "it cannot be done"}]);
    json!({"result": {"isError": true, "content": content}})
}
