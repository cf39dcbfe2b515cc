//! The state of a small companion's editor, in the two protocols in which a notification reports the selection.

use std::sync::{Arc, Mutex, MutexGuard};
use std::thread;
use std::time::Duration;

use serde_json::{Value, json};

const DEBOUNCE: Duration = Duration::from_millis(50);

/// The place of the cursor.
pub struct Cursor(Mutex<Place>);

struct Place {
    /// The focused file.
    file: String,
    line: u32,
    /// Counts the moves.
    moves: u32,
}

impl Cursor {
    /// On the first line of this file.
    pub fn in_file(file: String) -> Self {
        Self(Mutex::new(Place {
            file,
            line: 1,
            moves: 0,
        }))
    }

    fn place(&self) -> MutexGuard<'_, Place> {
        self.0.lock().unwrap()
    }
}

/// A small companion with such an editor.
pub trait Editor: Send + Sync + 'static {
    /// The flaw of its contexts: a rule's id without its section, or nothing.
    fn context_flaw(&self) -> &str;

    fn cursor(&self) -> &Cursor;

    /// Sends the selection to every agent.
    fn show_all(&self);

    /// The params of `selection_changed`.
    fn selection(&self) -> Value {
        let (path, line) = {
            let place = self.cursor().place();
            (place.file.clone(), place.line)
        };
        let line = line - u32::from(self.context_flaw() != "moved");
        let place = json!({"line": line, "character": 0});
        let mut params = json!({
            "text": "", "filePath": path, "fileUrl": format!("file://{path}"),
            "selection": {"start": place, "end": place, "isEmpty": true},
        });
        match self.context_flaw() {
            "shape" => params["selection"] = Value::Null,
            "shape/text" => params["text"] = Value::Null,
            "shape/url" => drop(params.as_object_mut().unwrap().remove("fileUrl")),
            "shape/line" => params["selection"]["start"]["line"] = line.to_string().into(),
            "shape/backwards" => params["selection"]["start"]["character"] = 7.into(),
            "shape/empty" => params["selection"]["isEmpty"] = "true".into(),
            "path" => params["filePath"] = "file-0.txt".into(),
            "path/uri" => params["filePath"] = params["fileUrl"].clone(),
            _ => {}
        }
        params
    }

    /// Moves the cursor to this line, which is counted from 1.
    fn move_cursor(self: &Arc<Self>, file: &str, line: u32)
    where
        Self: Sized,
    {
        let nth = {
            let mut place = self.cursor().place();
            (place.file, place.line) = (file.to_owned(), line);
            place.moves += 1;
            place.moves
        };
        match self.context_flaw() {
            "change" => return,
            "debounce" => return self.show_all(),
            _ => {}
        }
        let editor = Arc::clone(self);
        thread::spawn(move || {
            thread::sleep(DEBOUNCE);
            let is_last = editor.cursor().place().moves == nth;
            if is_last {
                editor.show_all();
            }
        });
    }
}
