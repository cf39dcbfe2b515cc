//! The names that other programs have for the arguments of Claude Code's tools: one table for all of them.

use serde_json::Value;

use super::edit::{CONTENT, FILE, NEW, OLD, REPLACE_ALL};

/// Claude Code's name of an argument, and those of others: opencode and VS Code write `filePath`, Copilot CLI `path`.
const ARGUMENTS: [(&str, &[&str]); 5] = [
    (FILE, &["filePath", "path"]),
    (OLD, &["oldString", "old_str"]),
    (NEW, &["newString", "new_str"]),
    (CONTENT, &["file_text"]),
    (REPLACE_ALL, &["replaceAll"]),
];

/// Gives arguments Claude Code's names, where they have others. Where there are both, each stays as it is.
pub(crate) fn rename(arguments: &mut Value) {
    let Some(fields) = arguments.as_object_mut() else {
        return;
    };
    for (name, others) in ARGUMENTS {
        let is_there = fields.contains_key(name);
        let mut others = others.iter().filter(|_| !is_there);
        if let Some(value) = others.find_map(|other| fields.remove(*other)) {
            fields.insert(name.to_owned(), value);
        }
    }
}
