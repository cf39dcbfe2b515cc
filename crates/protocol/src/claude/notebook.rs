//! A change of one cell of a Jupyter notebook, of which people see and edit the source as text.

use serde_json::{Map, Value};

/// How a cell's place in a notebook is named that has no ids: from 0.
const BY_PLACE: &str = "cell-";

/// What becomes of the cell.
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
    pub path: String,
    /// The source that is proposed; an empty one if the cell is to be deleted.
    pub source: String,
    kind: Kind,
    cell: Option<String>,
    /// The tool's whole input.
    input: Map<String, Value>,
}

/// A cell before a change.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Cell {
    /// Its source; an empty one if it is not there yet.
    pub source: String,
    /// Which cell it is, as a sentence for people.
    pub note: String,
}

impl CellEdit {
    /// Reads the input of the tool; none if it is another tool's, or not understood.
    pub fn from_input(input: &Value) -> Option<Self> {
        let input = input.as_object()?;
        let text = |name: &str| input.get(name).and_then(Value::as_str);
        let kind = match text("edit_mode") {
            None | Some("replace") => Kind::Replace,
            Some("insert") => Kind::Insert,
            Some("delete") => Kind::Delete,
            Some(_) => return None,
        };
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

    /// The cell in this notebook.
    ///
    /// # Errors
    /// One sentence, if it is no notebook or has no such cell.
    pub fn find(&self, notebook: &[u8]) -> Result<Cell, String> {
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
        let (source, note) = match (self.kind, at.map(|at| &cells[at])) {
            (Kind::Replace, Some(cell)) => (
                source(cell),
                format!("This is cell {number} of {of} of the notebook: only its source changes."),
            ),
            (Kind::Delete, Some(cell)) => (
                source(cell),
                format!(
                    "Cell {number} of {of} of the notebook is deleted; with text left here, it gets that text."
                ),
            ),
            (_, Some(_)) => (
                String::new(),
                format!("This is a new cell of the notebook, after cell {number} of {of}."),
            ),
            (_, None) => (
                String::new(),
                format!("This is a new cell of the notebook, before the first of {of}."),
            ),
        };
        Ok(Cell { source, note })
    }

    /// The tool's input with the source that a person has accepted, if that is another one.
    pub fn input_with(&self, source: &str) -> Option<Value> {
        if source == self.source {
            return None;
        }
        let mut input = self.input.clone();
        input.insert("new_source".to_owned(), source.into());
        if self.kind == Kind::Delete {
            input.insert("edit_mode".to_owned(), "replace".into());
        }
        Some(input.into())
    }
}

/// Where the cell of this name is.
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

    fn edit(more: Value) -> CellEdit {
        let mut input = json!({"notebook_path": "/n.ipynb", "new_source": "new"});
        let more = more.as_object().unwrap().clone();
        input.as_object_mut().unwrap().extend(more);
        CellEdit::from_input(&input).unwrap()
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
            assert_eq!(cell.source, source, "{more}");
            assert!(cell.note.contains(note), "{more}: {}", cell.note);
        }
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
            json!([]),
        ] {
            assert_eq!(CellEdit::from_input(&input), None, "{input}");
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
        let deleted = edit(json!({"cell_id": "a1", "edit_mode": "delete"}));
        assert_eq!(deleted.input_with(""), None);
        assert_eq!(deleted.input_with("kept").unwrap()["edit_mode"], "replace");
    }
}
