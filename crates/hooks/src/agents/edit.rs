//! A file as the tools see that replace a part of it: without a BOM, and with LF only. What they write has both again.

use std::path::{Path, PathBuf};

use pillion_text::line_ending::LineEnding;

use crate::change::{After, Change, Changes, Files};

const BOM: char = '\u{feff}';

/// A file's text, and what a tool restores when it writes it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Plain {
    /// The text, without the BOM and with LF only.
    pub(crate) text: String,
    has_bom: bool,
    ending: LineEnding,
}

/// A part that is to be replaced.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Replacement<'a> {
    pub(crate) old: &'a str,
    pub(crate) new: &'a str,
    /// True if every occurrence is meant; otherwise there has to be one only.
    pub(crate) is_of_all: bool,
}

impl Plain {
    /// The text of a file.
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

/// The change that a tool makes that replaces a part of a file. With nothing to be replaced, it makes a new one.
pub(crate) fn replaced(
    path: String,
    replacement: Replacement<'_>,
    files: &mut dyn Files,
) -> Changes {
    let before = match text(&path, files) {
        Ok(before) => before,
        Err(why) => return Changes::Unclear(why),
    };
    let Replacement {
        old,
        new,
        is_of_all,
    } = replacement;
    let after = match &before {
        None if old.is_empty() => new.to_owned(),
        None => return Changes::Invalid(format!("{path} does not exist")),
        Some(before) => {
            let plain = Plain::of(before);
            match in_text(&plain.text, old, new, is_of_all) {
                Ok(after) => plain.written(&after),
                Err(why) => return Changes::Invalid(format!("{path}: {why}")),
            }
        }
    };
    let after = After::Text(after);
    Changes::Files(vec![Change {
        path,
        before,
        after,
    }])
}

/// The change that a tool makes that writes a whole text.
pub(crate) fn overwritten(path: String, content: String, files: &mut dyn Files) -> Changes {
    match text(&path, files) {
        Ok(before) => Changes::Files(vec![Change {
            path,
            before,
            after: After::Text(content),
        }]),
        Err(why) => Changes::Unclear(why),
    }
}

fn in_text(text: &str, old: &str, new: &str, is_of_all: bool) -> Result<String, String> {
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
        0 => Err("the text to replace is not in the file, at least not exactly".to_owned()),
        1 => Ok(text.replacen(old, new, 1)),
        _ if is_of_all => Ok(text.replace(old, new)),
        count => Err(format!(
            "the text to replace is {count} times in the file, and not all are to be replaced"
        )),
    }
}

/// The text of a file; none if it does not exist.
pub(crate) fn text(path: &str, files: &mut dyn Files) -> Result<Option<String>, String> {
    let Some(bytes) = files.read(Path::new(path))? else {
        return Ok(None);
    };
    let text = String::from_utf8(bytes);
    text.map(Some)
        .map_err(|_| format!("{path} is not in UTF-8"))
}

/// The absolute path that a tool means.
///
/// # Errors
/// If it is relative to a folder that is not known.
pub(crate) fn absolute(path: &str, folder: Option<&Path>) -> Result<String, String> {
    if Path::new(path).is_absolute() {
        return Ok(path.to_owned());
    }
    let absolute = folder.map(|folder| folder.join(path));
    let absolute = absolute.and_then(|path: PathBuf| path.into_os_string().into_string().ok());
    absolute.ok_or_else(|| format!("{path} is not absolute"))
}
