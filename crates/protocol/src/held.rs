//! Calls of tools that a hook holds until the person has decided, because no diff of the agent's own comes for them: a
//! change of one cell of a Jupyter notebook, and a shell command. People see and edit them as text. Whatever else a call says
//! is accepted with it, and so they are told of it.

use std::path::Path;

use serde_json::{Map, Value};

/// The start of the name of a cell's place in a notebook that has no ids; a number from 0 follows.
const BY_PLACE: &str = "cell-";

/// The tool that runs shell commands.
pub const RUNS_COMMANDS: &str = "Bash";

/// The name for the file of a shell command. There is none.
const COMMAND: &str = "shell-command.sh";

/// Returns true if a shell command is shown as the file at this path.
pub(crate) fn is_shown_for_command(path: &str) -> bool {
    Path::new(path).file_name().is_some_and(|it| it == COMMAND)
}

/// The arguments of a command that people see as its text, or that change nothing of what runs.
const OF_COMMAND: [&str; 2] = ["command", "description"];

/// The switches that change something only if they are on.
const SWITCHES: [&str; 2] = ["dangerouslyDisableSandbox", "run_in_background"];

/// The arguments of a change of a cell that people see, or are told in words.
const OF_CELL: [&str; 5] = [
    "notebook_path",
    "cell_id",
    "new_source",
    "edit_mode",
    CELL_TYPE,
];

const CELL_TYPE: &str = "cell_type";

/// The most characters of an argument that are shown.
const MAX_SHOWN: usize = 200;

/// A call that is held.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum HeldCall {
    /// A change of a notebook.
    Cell(CellEdit),
    /// A shell command that is to be run.
    Command(ShellCommand),
}

/// The part that a held call would change.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Held {
    /// The text before; none if there was nothing.
    pub text: Option<String>,
    /// Its kind, and what is accepted with it, each a sentence for people.
    pub notes: Vec<String>,
}

/// A shell command that is to be run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ShellCommand {
    path: String,
    command: String,
    /// The tool's whole input.
    input: Map<String, Value>,
}

impl HeldCall {
    /// Reads the input of a tool that is called in this folder; none if it is not held, or not understood.
    pub fn from_input(tool: &str, folder: &str, input: &Value) -> Option<Self> {
        match tool {
            "NotebookEdit" => Self::of_cell(input),
            RUNS_COMMANDS => ShellCommand::from_input(folder, input).map(Self::Command),
            _ => None,
        }
    }

    /// Reads the input of a tool that changes a notebook's cell; none if it is not understood.
    pub fn of_cell(input: &Value) -> Option<Self> {
        CellEdit::from_input(input).map(Self::Cell)
    }

    /// The tool's whole input.
    pub fn input(&self) -> &Map<String, Value> {
        match self {
            Self::Cell(edit) => &edit.input,
            Self::Command(command) => &command.input,
        }
    }

    /// Returns true if it is a shell command.
    pub fn is_command(&self) -> bool {
        matches!(self, Self::Command(_))
    }

    /// The file that it changes. Of a command, the one that people see it as.
    pub fn path(&self) -> &str {
        match self {
            Self::Cell(edit) => &edit.path,
            Self::Command(command) => &command.path,
        }
    }

    /// The text that is proposed.
    pub fn proposed(&self) -> &str {
        match self {
            Self::Cell(edit) => &edit.source,
            Self::Command(command) => &command.command,
        }
    }

    /// The text before, in a file of these bytes.
    ///
    /// # Errors
    /// One sentence, if the file has no such place.
    pub fn find(&self, file: &[u8]) -> Result<Held, String> {
        match self {
            Self::Cell(edit) => edit.find(file),
            Self::Command(command) => Ok(command.held()),
        }
    }

    /// What a file of these bytes has beside the cell, and the cell's source; `is_done` once the call was made. None if it has no
    /// such place, or this is no change of a cell.
    pub fn split(&self, file: &[u8], is_done: bool) -> Option<(String, String)> {
        match self {
            Self::Cell(edit) => edit.split(file, is_done),
            Self::Command(_) => None,
        }
    }

    /// The tool's input with the text that a person has accepted, if that is another one.
    pub fn input_with(&self, text: &str) -> Option<Value> {
        if text == self.proposed() {
            return None;
        }
        Some(match self {
            Self::Cell(edit) => edit.input_with(text),
            Self::Command(command) => {
                let mut input = command.input.clone();
                input.insert("command".to_owned(), text.into());
                input.into()
            }
        })
    }
}

impl ShellCommand {
    fn from_input(folder: &str, input: &Value) -> Option<Self> {
        let input = input.as_object()?;
        let path = Path::new(folder).join(COMMAND);
        Some(Self {
            path: path.to_str()?.to_owned(),
            command: input.get("command")?.as_str()?.to_owned(),
            input: input.clone(),
        })
    }

    fn held(&self) -> Held {
        let kind = "This is a shell command, and no file: accept it to have it run.";
        let notes = [kind.to_owned()].into_iter();
        Held {
            text: None,
            notes: notes.chain(others(&self.input, &OF_COMMAND)).collect(),
        }
    }
}

/// Returns a sentence that names the arguments of a call which are none of these: they are accepted with it.
fn others(input: &Map<String, Value>, shown: &[&str]) -> Option<String> {
    let is_off = |name: &str, value: &Value| {
        value.is_null() || SWITCHES.contains(&name) && *value == Value::Bool(false)
    };
    let others = input
        .iter()
        .filter(|(name, value)| !shown.contains(&name.as_str()) && !is_off(name, value))
        .map(|(name, value)| format!("{name}: {}", shortened(&value.to_string())))
        .collect::<Vec<_>>();
    let others = (!others.is_empty()).then(|| others.join(", "))?;
    Some(format!("You accept it with these arguments: {others}."))
}

fn shortened(text: &str) -> String {
    match text.char_indices().nth(MAX_SHOWN) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text.to_owned(),
    }
}

/// The action on the cell.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    Replace,
    /// It comes after the one that is named, or first.
    Insert,
    Delete,
}

/// A change of one cell.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CellEdit {
    /// The notebook.
    path: String,
    /// The source that is proposed; an empty one if the cell is to be deleted.
    source: String,
    kind: Kind,
    cell: Option<String>,
    /// The tool's whole input.
    input: Map<String, Value>,
}

impl CellEdit {
    fn from_input(input: &Value) -> Option<Self> {
        let input = input.as_object()?;
        let text = |name: &str| input.get(name).and_then(Value::as_str);
        let kind = match input.get("edit_mode").unwrap_or(&Value::Null) {
            Value::Null => Kind::Replace,
            mode => match mode.as_str()? {
                "replace" => Kind::Replace,
                "insert" => Kind::Insert,
                "delete" => Kind::Delete,
                _ => return None,
            },
        };
        if !matches!(
            input.get(CELL_TYPE),
            None | Some(Value::Null | Value::String(_))
        ) {
            return None;
        }
        let source = match kind {
            Kind::Delete => "",
            Kind::Replace | Kind::Insert => text("new_source")?,
        };
        Some(Self {
            path: text("notebook_path")?.to_owned(),
            source: source.to_owned(),
            kind,
            cell: text("cell_id").map(str::to_owned),
            input: input.clone(),
        })
    }

    fn find(&self, notebook: &[u8]) -> Result<Held, String> {
        let notebook: Value = serde_json::from_slice(notebook)
            .map_err(|error| format!("{:?} is not a notebook: {error}", self.path))?;
        let cells = notebook.get("cells").and_then(Value::as_array);
        let cells = cells.ok_or_else(|| format!("{:?} is not a notebook: no cells", self.path))?;
        let of = cells.len();
        let at = match self.cell.as_deref() {
            Some(name) => {
                let place = place(cells, name);
                let missing = || format!("{:?} has no cell {name:?}", self.path);
                Some(place.ok_or_else(missing)?)
            }
            None if self.kind == Kind::Insert => None,
            None => return Err(format!("{:?}: no cell is named", self.path)),
        };
        let number = at.map_or(0, |at| at + 1);
        let new = self
            .new_type()
            .map_or_else(String::new, |new| format!("{new} "));
        let (text, note) = match (self.kind, at.map(|at| &cells[at])) {
            (Kind::Replace, Some(cell)) => {
                let changes = self.changes(cell);
                (
                    source(cell),
                    format!("This is cell {number} of {of} of the notebook: {changes}."),
                )
            }
            (Kind::Delete, Some(cell)) => (
                source(cell),
                format!(
                    "Cell {number} of {of} of the notebook is deleted; with text left here, it gets that text."
                ),
            ),
            (_, Some(_)) => (
                String::new(),
                format!("This is a new {new}cell of the notebook, after cell {number} of {of}."),
            ),
            (_, None) => (
                String::new(),
                format!("This is a new {new}cell of the notebook, before the first of {of}."),
            ),
        };
        let notes = [note].into_iter().chain(others(&self.input, &OF_CELL));
        Ok(Held {
            text: Some(text),
            notes: notes.collect(),
        })
    }

    fn split(&self, notebook: &[u8], is_done: bool) -> Option<(String, String)> {
        let mut notebook: Value = serde_json::from_slice(notebook).ok()?;
        let cells = notebook.get_mut("cells")?.as_array_mut()?;
        let named = self.cell.as_deref().map(|name| place(cells, name));
        let at = match (self.kind, is_done, named) {
            (Kind::Insert, false, _) | (Kind::Delete, true, Some(None)) => None,
            (Kind::Insert, true, None) => Some(0),
            (Kind::Insert, true, Some(after)) => Some(after? + 1),
            (Kind::Replace | Kind::Delete, _, named) => Some(named??),
        };
        let cell = at.map(|at| (at < cells.len()).then(|| cells.remove(at)));
        let source = match cell {
            None => String::new(),
            Some(cell) => source(&cell?),
        };
        Some((notebook.to_string(), source))
    }

    /// The type that the call gives the cell.
    fn new_type(&self) -> Option<&str> {
        self.input.get(CELL_TYPE)?.as_str()
    }

    fn changes(&self, cell: &Value) -> String {
        let before = cell.get(CELL_TYPE).and_then(Value::as_str);
        match self.new_type().filter(|new| before != Some(*new)) {
            Some(new) => {
                let before = before.unwrap_or("unknown");
                format!("its source changes, and its type from {before} to {new}")
            }
            None => "only its source changes".to_owned(),
        }
    }

    fn input_with(&self, source: &str) -> Value {
        let mut input = self.input.clone();
        input.insert("new_source".to_owned(), source.into());
        if self.kind == Kind::Delete {
            input.insert("edit_mode".to_owned(), "replace".into());
            // It stays what it is.
            input.remove(CELL_TYPE);
        }
        input.into()
    }
}

fn place(cells: &[Value], name: &str) -> Option<usize> {
    let has_id = |cell: &Value| cell.get("id").and_then(Value::as_str) == Some(name);
    cells.iter().position(has_id).or_else(|| {
        let place = name.strip_prefix(BY_PLACE)?.parse().ok()?;
        (place < cells.len()).then_some(place)
    })
}

/// A cell's source, which is one text or several that make one.
fn source(cell: &Value) -> String {
    match cell.get("source") {
        Some(Value::String(text)) => text.clone(),
        Some(Value::Array(lines)) => lines.iter().filter_map(Value::as_str).collect(),
        _ => String::new(),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn notebook() -> Vec<u8> {
        json!({"cells": [
            {"id": "a1", "cell_type": "code", "source": ["x = 1\n", "y = 2"]},
            {"cell_type": "markdown", "source": "# two"},
            {"id": "cell-1", "source": 7},
        ]})
        .to_string()
        .into_bytes()
    }

    fn edit(more: Value) -> HeldCall {
        let mut input = json!({"notebook_path": "/n.ipynb", "new_source": "new"});
        let more = more.as_object().unwrap().clone();
        input.as_object_mut().unwrap().extend(more);
        HeldCall::from_input("NotebookEdit", "/w", &input).unwrap()
    }

    #[test]
    fn a_cell_is_found_by_its_id_or_its_place() {
        for (more, source, note) in [
            (
                json!({"cell_id": "a1"}),
                "x = 1\ny = 2",
                "cell 1 of 3 of the",
            ),
            (
                json!({"cell_id": "cell-0"}),
                "x = 1\ny = 2",
                "cell 1 of 3 of the",
            ),
            // An id counts first.
            (json!({"cell_id": "cell-1"}), "", "cell 3 of 3 of the"),
            (
                json!({"cell_id": "a1", "edit_mode": "insert"}),
                "",
                "after cell 1 of 3",
            ),
            (json!({"edit_mode": "insert"}), "", "before the first of 3"),
            (
                json!({"cell_id": "a1", "edit_mode": "delete"}),
                "x = 1\ny = 2",
                "is deleted",
            ),
        ] {
            let cell = edit(more.clone()).find(&notebook()).unwrap();
            assert_eq!(cell.text.as_deref(), Some(source), "{more}");
            assert!(cell.notes[0].contains(note), "{more}: {:?}", cell.notes);
            assert_eq!(cell.notes.len(), 1);
        }
    }

    #[test]
    fn a_cell_that_was_changed_is_told_from_the_rest_however_it_is_written() {
        let cell = |id: &str, source: &str| json!({"id": id, "source": source});
        let book = |cells: &[Value]| json!({"cells": cells, "nbformat": 4});
        let (one, two, new) = (cell("a", "1"), cell("b", "2"), cell("c", "new"));
        let changed = json!({"id": "a", "source": ["n", "ew"], "outputs": []});
        for (more, after, source) in [
            (json!({"cell_id": "a"}), vec![&changed, &two], "new"),
            (
                json!({"cell_id": "a", "edit_mode": "insert"}),
                vec![&one, &new, &two],
                "new",
            ),
            (
                json!({"edit_mode": "insert"}),
                vec![&new, &one, &two],
                "new",
            ),
            (
                json!({"cell_id": "a", "edit_mode": "delete"}),
                vec![&two],
                "",
            ),
        ] {
            let call = edit(more.clone());
            let before = book(&[one.clone(), two.clone()]).to_string();
            let (rest, _) = call.split(before.as_bytes(), false).unwrap();
            let after: Vec<Value> = after.into_iter().cloned().collect();
            let written = format!("{:#}\n", book(&after));
            let split = call.split(written.as_bytes(), true).unwrap();
            assert_eq!(split, (rest.clone(), source.to_owned()), "{more}");
            let others = written.replace("\"2\"", "\"two\"");
            assert_ne!(
                call.split(others.as_bytes(), true).unwrap().0,
                rest,
                "{more}"
            );
        }
        assert_eq!(
            edit(json!({"cell_id": "zz"})).split(&notebook(), true),
            None
        );
    }

    #[test]
    fn what_is_not_there_is_said() {
        for (more, notebook, why) in [
            (json!({"cell_id": "zz"}), notebook(), "has no cell \"zz\""),
            (json!({"cell_id": "cell-3"}), notebook(), "has no cell"),
            (json!({}), notebook(), "no cell is named"),
            (json!({"cell_id": "a1"}), b"[]".to_vec(), "no cells"),
            (
                json!({"cell_id": "a1"}),
                b"\xff{".to_vec(),
                "is not a notebook",
            ),
        ] {
            let error = edit(more).find(&notebook).unwrap_err();
            assert!(error.contains(why), "{error}");
        }
        for input in [
            json!({"file_path": "/a", "content": "x"}),
            json!({"notebook_path": "/n.ipynb"}),
            json!({"notebook_path": "/n.ipynb", "new_source": "x", "edit_mode": "fold"}),
            json!({"notebook_path": "/n.ipynb", "new_source": "x", "edit_mode": ["delete"]}),
            json!({"notebook_path": "/n.ipynb", "new_source": "x", "cell_type": 7}),
            json!([]),
        ] {
            assert_eq!(
                HeldCall::from_input("NotebookEdit", "/w", &input),
                None,
                "{input}"
            );
        }
    }

    #[test]
    fn only_what_was_edited_makes_another_input() {
        let replaced = edit(json!({"cell_id": "a1", "cell_type": "code"}));
        assert_eq!(replaced.input_with("new"), None);
        let expected = json!({
            "notebook_path": "/n.ipynb", "new_source": "mine", "cell_id": "a1", "cell_type": "code",
        });
        assert_eq!(replaced.input_with("mine"), Some(expected));
        let deleted =
            edit(json!({"cell_id": "a1", "edit_mode": "delete", "cell_type": "markdown"}));
        assert_eq!(deleted.input_with(""), None);
        let kept = json!({
            "notebook_path": "/n.ipynb", "new_source": "kept", "cell_id": "a1", "edit_mode": "replace",
        });
        assert_eq!(deleted.input_with("kept"), Some(kept), "its type stays");
    }

    #[test]
    fn what_changes_of_a_cell_beside_its_source_is_said() {
        for (more, note) in [
            (
                json!({"cell_id": "a1", "cell_type": "code"}),
                "This is cell 1 of 3 of the notebook: only its source changes.",
            ),
            (
                json!({"cell_id": "a1", "cell_type": null}),
                "This is cell 1 of 3 of the notebook: only its source changes.",
            ),
            (
                json!({"cell_id": "cell-1", "cell_type": "code"}),
                "This is cell 3 of 3 of the notebook: its source changes, and its type from unknown to code.",
            ),
            (
                json!({"cell_id": "a1", "cell_type": "markdown"}),
                "This is cell 1 of 3 of the notebook: its source changes, and its type from code to markdown.",
            ),
            (
                json!({"cell_id": "a1", "edit_mode": "insert", "cell_type": "raw"}),
                "This is a new raw cell of the notebook, after cell 1 of 3.",
            ),
            (
                json!({"edit_mode": "insert", "cell_type": "code"}),
                "This is a new code cell of the notebook, before the first of 3.",
            ),
        ] {
            let cell = edit(more.clone()).find(&notebook()).unwrap();
            assert_eq!(cell.notes, [note], "{more}");
        }
        let more = json!({"cell_id": "a1", "runs": true});
        let notes = edit(more).find(&notebook()).unwrap().notes;
        assert_eq!(notes[1], "You accept it with these arguments: runs: true.");
    }

    /// The inputs of the tool as agents have sent them, and as they might.
    #[test]
    fn what_a_command_is_accepted_with_is_said() {
        let long = "x".repeat(1000);
        for (more, said) in [
            (json!({}), None),
            (json!({"description": "Run the tests"}), None),
            (
                json!({"run_in_background": false, "dangerouslyDisableSandbox": false, "timeout": null}),
                None,
            ),
            (
                json!({"dangerouslyDisableSandbox": true, "run_in_background": true}),
                Some("dangerouslyDisableSandbox: true, run_in_background: true"),
            ),
            (json!({"timeout": 600_000}), Some("timeout: 600000")),
            (json!({"workdir": "/etc"}), Some("workdir: \"/etc\"")),
            (
                json!({"sandbox_permissions": "require_escalated"}),
                Some("sandbox_permissions: \"require_escalated\""),
            ),
            // Of a switch that is not known, being off may be what matters.
            (json!({"sandbox": false}), Some("sandbox: false")),
            (
                json!({"env": {"PATH": "/tmp\n"}}),
                Some(r#"env: {"PATH":"/tmp\n"}"#),
            ),
            (
                json!({"env": long}),
                Some(&*format!("env: \"{}…", &long[..MAX_SHOWN - 1])),
            ),
        ] {
            let mut input = json!({"command": "make test"});
            let fields = more.as_object().unwrap().clone();
            input.as_object_mut().unwrap().extend(fields);
            let held = HeldCall::from_input(RUNS_COMMANDS, "/w", &input).unwrap();
            let notes = held.find(b"").unwrap().notes;
            let expected = said.map(|it| format!("You accept it with these arguments: {it}."));
            assert_eq!(notes.get(1), expected.as_ref(), "{more}");
        }
    }

    #[test]
    fn a_command_is_a_text_that_was_not_there() {
        let input = json!({"command": "rm -r x", "description": "d", "timeout": 7});
        let held = HeldCall::from_input("Bash", "/w", &input).unwrap();
        assert_eq!(
            (held.path(), held.proposed()),
            ("/w/shell-command.sh", "rm -r x")
        );
        assert_eq!(held.find(b"whatever is there").unwrap().text, None);
        assert_eq!(held.input_with("rm -r x"), None);
        let other = json!({"command": "ls", "description": "d", "timeout": 7});
        assert_eq!(held.input_with("ls"), Some(other));
        for (tool, input) in [
            ("Bash", json!({"command": 1})),
            ("Bash", json!("ls")),
            ("Write", input),
        ] {
            assert_eq!(
                HeldCall::from_input(tool, "/w", &input),
                None,
                "{tool} {input}"
            );
        }
    }
}
