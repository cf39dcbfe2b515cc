//! A file as the tools see that replace a part of it: without a BOM, and with LF only. The text that they write has both again.

use std::path::Path;

use pillion_protocol::held::HeldCall;
use pillion_text::endings::LineEnding;
use serde_json::Value;

use crate::call::{Call, Scope};
use crate::change::{After, Change, Changes, Files};
use crate::ruling::{Accepted, Reviewed};

pub(crate) const BOM: char = '\u{feff}';

/// The arguments that the tools of these agents have in common.
pub(crate) const FILE: &str = "file_path";
pub(crate) const OLD: &str = "old_string";
pub(crate) const NEW: &str = "new_string";
pub(crate) const CONTENT: &str = "content";
pub(crate) const REPLACE_ALL: &str = "replace_all";

/// The arguments of a tool that replaces a part of a file.
pub(crate) const OF_PART: [&str; 3] = [OLD, NEW, REPLACE_ALL];

/// Why an edit of a file that is not there cannot work.
pub(crate) const MISSING: &str = "it does not exist";

/// Why an edit cannot work whose text is not there, as its model reads it.
pub const NOT_EXACT: &str = "the text to replace is not in the file, at least not exactly: read the file, and copy it from there";

/// The arguments that change nothing of what an agent writes: why it writes, when, and what it had proposed before.
const HARMLESS: [&str; 6] = [
    "ai_proposed_content",
    "dir_path",
    "expected_replacements",
    "instruction",
    "modified_by_user",
    "wait_for_previous",
];

/// Checks that a call has only these arguments, and those that are harmless.
///
/// # Errors
/// Another argument: what it changes is not known, and so not shown.
pub(crate) fn only(call: &Call, known: &[&str]) -> Result<(), String> {
    let fields = call.input.as_object().into_iter().flatten();
    let is_known = |name: &str| known.contains(&name) || HARMLESS.contains(&name);
    let others = fields.filter(|(name, value)| !value.is_null() && !is_known(name));
    let others: Vec<&str> = others.map(|(name, _)| name.as_str()).collect();
    match others[..] {
        [] => Ok(()),
        _ => Err(format!(
            "Pillion cannot show what these arguments of {} change: {}",
            call.tool,
            others.join(", ")
        )),
    }
}

/// A file's text, and what a tool restores when it writes it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Plain {
    /// The text, without the BOM and with LF only.
    pub(crate) text: String,
    has_bom: bool,
    ending: LineEnding,
}

impl Plain {
    pub(crate) fn of(text: &str) -> Self {
        Self {
            text: plain(text),
            has_bom: text.starts_with(BOM),
            ending: LineEnding::written(text.as_bytes()),
        }
    }

    /// This text as it is written in place of the file's.
    pub(crate) fn written(&self, text: &str) -> String {
        let mut written = String::with_capacity(text.len() + BOM.len_utf8());
        if self.has_bom {
            written.push(BOM);
        }
        match self.ending {
            LineEnding::Lf => written.push_str(text),
            LineEnding::CrLf => written.push_str(&text.replace('\n', "\r\n")),
        }
        written
    }
}

/// A text without its BOM, and with LF in place of CRLF.
pub(crate) fn plain(text: &str) -> String {
    text.strip_prefix(BOM).unwrap_or(text).replace("\r\n", "\n")
}

/// A text all of whose lines end in CRLF, or all in LF.
pub(crate) fn ended(text: &str, is_crlf: bool) -> String {
    let text = text.replace("\r\n", "\n");
    match is_crlf {
        true => text.replace('\n', "\r\n"),
        false => text,
    }
}

/// The change that a tool makes that replaces `old_string` by `new_string` in a file, everywhere if the argument `of_all` is
/// set. With nothing to be replaced, it makes a new file.
pub(crate) fn replaced(call: &Call, files: &mut dyn Files, of_all: &str) -> Changes {
    part(
        call,
        files,
        of_all,
        |before, old, new, is_of_all| match before {
            None if old.is_empty() => Ok(new.to_owned()),
            None => Err(MISSING.to_owned()),
            Some(before) => {
                let plain = Plain::of(before);
                let after = in_text(&plain.text, old, new, is_of_all);
                after.map(|after| plain.written(&after))
            }
        },
    )
}

/// The same of a tool that replaces one text by another in its own way: `after` gets the file's text, both, and whether it does so
/// everywhere.
pub(crate) fn part(
    call: &Call,
    files: &mut dyn Files,
    of_all: &str,
    after: impl FnOnce(Option<&str>, &str, &str, bool) -> Result<String, String>,
) -> Changes {
    one_file(call, files, &[OLD, NEW, of_all], |before| {
        let (old, new) = (text(call, OLD)?, text(call, NEW)?);
        let is_of_all = call.input.get(of_all) == Some(&Value::Bool(true));
        Ok(after(before, old, new, is_of_all))
    })
}

/// The change that a tool makes that writes `content` into a file. `with_crlf` gets the text before and `content`, and returns
/// whether it is written with CRLF, whatever `content` has.
pub(crate) fn overwritten(
    call: &Call,
    files: &mut dyn Files,
    with_crlf: impl FnOnce(&str, &str) -> bool,
) -> Changes {
    one_file(call, files, &[CONTENT], |before| {
        let content = text(call, CONTENT)?;
        Ok(Ok(match before.is_some_and(|it| with_crlf(it, content)) {
            true => ended(content, true),
            false => content.to_owned(),
        }))
    })
}

/// The change of the one file that a call with only these arguments makes. `after` makes the text from the one before, or says
/// why the call cannot work.
///
/// # Errors
/// Of `after`: the reason why the change cannot be shown.
pub(crate) fn one_file(
    call: &Call,
    files: &mut dyn Files,
    known: &[&str],
    after: impl FnOnce(Option<&str>) -> Result<Result<String, String>, String>,
) -> Changes {
    let changed = || {
        only(call, &[&[FILE], known].concat())?;
        let path = file(call)?;
        let before = before(&path, files)?;
        let after = after(before.as_deref())?;
        Ok(of_one(path, before, after))
    };
    changed().unwrap_or_else(Changes::Unclear)
}

/// The change of one file to this text, or why there is none.
pub(crate) fn of_one(
    path: String,
    before: Option<String>,
    after: Result<String, String>,
) -> Changes {
    match after {
        Ok(after) => Changes::Files(vec![Change::of_file(path, before, After::Text(after))]),
        Err(why) => Changes::Invalid(format!("{path}: {why}")),
    }
}

/// The change that a tool makes of one cell of a notebook.
pub(crate) fn cell(call: &Call, files: &mut dyn Files) -> Changes {
    let mut changed = || {
        let path = notebook(call)?;
        let cell = HeldCall::of_cell(&call.input);
        let cell = cell.ok_or_else(|| format!("this call of {} is not understood", call.tool))?;
        let after = After::Text(cell.proposed().to_owned());
        let mut change = Change {
            path,
            before: None,
            after,
            cell: Some(cell),
        };
        change.before = change.find(files.read(Path::new(&change.path))?)?;
        Ok(vec![change])
    };
    changed().map_or_else(Changes::Unclear, Changes::Files)
}

/// The arguments of a tool of these two kinds that write what was accepted: the whole text of the file takes the place of
/// the old one, so that nothing else is written than what was shown, also if the file has changed in the meantime. And those of
/// a tool that changes a notebook's cell.
pub(crate) fn rewritten(call: &Call, accepted: &Accepted) -> Value {
    let mut input = call.input.clone();
    let file = accepted.files.first();
    let written = file.and_then(Reviewed::text);
    if let Some(cell) = file.and_then(|file| file.change.cell.as_ref()) {
        return written
            .and_then(|text| cell.input_with(text))
            .unwrap_or(input);
    }
    let (Some(file), Some(written), Some(fields)) = (file, written, input.as_object_mut()) else {
        return input;
    };
    if fields.contains_key(CONTENT) {
        fields.insert(CONTENT.to_owned(), written.into());
    } else {
        let old = file.change.before.as_deref().map(plain).unwrap_or_default();
        fields.insert(OLD.to_owned(), old.into());
        fields.insert(NEW.to_owned(), plain(written).into());
    }
    input
}

/// The absolute path that `file_path` means.
///
/// # Errors
/// If there is none, or it is relative to a folder that is not known.
pub(crate) fn file(call: &Call) -> Result<String, String> {
    absolute(text(call, FILE)?, call.folder.as_deref())
}

/// The absolute path that `notebook_path` means.
///
/// # Errors
/// As of [`file`].
pub(crate) fn notebook(call: &Call) -> Result<String, String> {
    absolute(text(call, "notebook_path")?, call.folder.as_deref())
}

/// What is made of a call whose path an agent reads in its own way: it would write to another file than the one that is shown.
pub(crate) fn other_file(call: &Call, is_other: impl Fn(&str) -> bool) -> Option<Changes> {
    let path = text(call, FILE).ok().filter(|it| is_other(it))?;
    Some(Changes::Unclear(format!(
        "this agent reads the path {path:?} as another file's, and would write there: name the file by its plain absolute path"
    )))
}

/// Returns the scope of a call: of one of these tools the file that it names, of this one that runs commands any.
pub(crate) fn scope(call: &Call, edits: &[&str], shell: &str) -> Scope {
    let tool = call.tool.as_str();
    if edits.contains(&tool) {
        let path = file(call).or_else(|_| notebook(call));
        path.map_or(Scope::Anything, Scope::File)
    } else if tool == shell {
        Scope::Anything
    } else {
        Scope::Nothing
    }
}

/// The names of tools, as a regular expression.
pub(crate) fn matcher(tools: &[&str]) -> String {
    tools.join("|")
}

/// The absolute path that a path in this folder means.
///
/// # Errors
/// If it is relative to a folder that is not known.
pub(crate) fn absolute(path: &str, folder: Option<&Path>) -> Result<String, String> {
    if Path::new(path).is_absolute() {
        return Ok(path.to_owned());
    }
    // The agent may mean a home folder by it, and another file is shown then than it writes.
    if path.starts_with('~') {
        return Err(format!("{path} begins with `~`"));
    }
    let absolute = folder.map(|folder| folder.join(path));
    let absolute = absolute.and_then(|path| path.into_os_string().into_string().ok());
    absolute.ok_or_else(|| format!("{path} is not absolute"))
}

/// A text with a part of it replaced: the one place where it is, or all of them.
///
/// # Errors
/// If the part is not there, or in several places of which one is meant.
pub(crate) fn in_text(text: &str, old: &str, new: &str, is_of_all: bool) -> Result<String, String> {
    if old == new {
        return Err("the old and the new text are the same".to_owned());
    }
    if old.is_empty() {
        return match text.is_empty() {
            true => Ok(new.to_owned()),
            false => Err("the file exists, and the text to replace is empty".to_owned()),
        };
    }
    match text.matches(old).count() {
        0 => Err(NOT_EXACT.to_owned()),
        1 => Ok(text.replacen(old, new, 1)),
        _ if is_of_all => Ok(text.replace(old, new)),
        count => Err(format!(
            "the text to replace occurs {count} times in the file, but only one of them is to be replaced"
        )),
    }
}

/// The text of a file; none if it does not exist.
pub(crate) fn before(path: &str, files: &mut dyn Files) -> Result<Option<String>, String> {
    let Some(bytes) = files.read(Path::new(path))? else {
        return Ok(None);
    };
    let text = String::from_utf8(bytes);
    text.map(Some)
        .map_err(|_| format!("{path} is not in UTF-8"))
}

/// An argument that is a text.
///
/// # Errors
/// If there is none.
pub(crate) fn text<'a>(call: &'a Call, name: &str) -> Result<&'a str, String> {
    let text = call.input.get(name).and_then(Value::as_str);
    text.ok_or_else(|| format!("{} has no {name}", call.tool))
}
