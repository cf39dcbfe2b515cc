//! A change of a file as a patch that `git apply` takes: modes, links and names as git writes them.

use std::ffi::OsStr;
use std::path::Path;

use pillion_text::unified::patch;
use pillion_text::{Text, visible};

use crate::state::FileState;
use crate::store::Store;

/// The mode that git has for a link.
const LINK: u32 = 0o120_000;

/// A change of a file as a patch. What git cannot know of a mode stands in a line with `# ` before it.
pub fn of(store: &Store, path: &Path, before: &FileState, after: &FileState) -> Vec<u8> {
    let comment = match (before.mode(), after.mode()) {
        (Some(old), Some(new)) if old != new && !is_exchanged([mode(before), mode(after)]) => {
            format!("# mode {old:o} → {new:o}\n")
        }
        _ => String::new(),
    };
    let texts = store.texts_of(before, after);
    let texts = texts.as_ref().map(|(before, after)| (before, after)).ok();
    let patch = written(path, [mode(before), mode(after)], texts);
    [comment.into_bytes(), patch].concat()
}

/// What leads from one text, or none, to another as a patch, with the modes that git has for them; empty if that is the same
/// for git.
pub(crate) fn written(
    path: &Path,
    modes: [Option<u32>; 2],
    texts: Option<(&Text, &Text)>,
) -> Vec<u8> {
    if let [Some(_), Some(_)] = modes
        && is_exchanged(modes)
    {
        let empty = Text::new("");
        let gone = texts.map(|(before, _)| (before, &empty));
        let gone = written(path, [modes[0], None], gone);
        let come = texts.map(|(_, after)| (&empty, after));
        return [gone, written(path, [None, modes[1]], come)].concat();
    }
    let [a, b] = ["a/", "b/"].map(|side| quoted(side, path.as_os_str()));
    let mut patch_of = Vec::new();
    let mut line = |text: &[&[u8]]| {
        patch_of.extend(text.concat());
        patch_of.push(b'\n');
    };
    line(&[b"diff --git ", &a, b" ", &b]);
    match modes {
        [None, Some(mode)] => line(&[format!("new file mode {mode:o}").as_bytes()]),
        [Some(mode), None] => line(&[format!("deleted file mode {mode:o}").as_bytes()]),
        [Some(old), Some(new)] if old != new => {
            line(&[format!("old mode {old:o}\nnew mode {new:o}").as_bytes()]);
        }
        _ => {}
    }
    let none: Vec<u8> = "/dev/null".into();
    let [old, new] = [(modes[0], &a), (modes[1], &b)]
        .map(|(mode, name)| if mode.is_some() { name } else { &none });
    let hunks = texts.and_then(|(before, after)| {
        let is_text = !before.bytes().contains(&0) && !after.bytes().contains(&0);
        is_text.then(|| patch(before, after))
    });
    match hunks {
        None => {
            // In git's words, so that it refuses to make an empty file of it. Without a line of ids, which are not known here, git
            // takes the head of the next file for one of this.
            line(&[b"index 0000000..0000000"]);
            line(&[b"Binary files ", old, b" and ", new, b" differ"]);
            if texts.is_none() {
                line(&[b"# its text was not kept"]);
            }
        }
        // There is nothing that git could apply.
        Some(hunks) if hunks.is_empty() && modes[0] == modes[1] => return Vec::new(),
        Some(hunks) if hunks.is_empty() => {}
        Some(hunks) => {
            line(&[b"--- ", old, tab(old)]);
            line(&[b"+++ ", new, tab(new)]);
            patch_of.extend(hunks);
        }
    }
    patch_of
}

/// Returns true if a link stands in the place of a file, or a file in that of a link.
fn is_exchanged(modes: [Option<u32>; 2]) -> bool {
    (modes[0] == Some(LINK)) != (modes[1] == Some(LINK))
}

/// The mode of a file as git knows it.
pub(crate) fn mode(state: &FileState) -> Option<u32> {
    match state {
        FileState::Absent => None,
        FileState::Link { .. } => Some(LINK),
        FileState::File { mode, .. } if mode & 0o100 != 0 => Some(0o100_755),
        FileState::File { .. } => Some(0o100_644),
    }
}

/// A name with spaces ends with a tab.
fn tab(name: &[u8]) -> &'static [u8] {
    match name.contains(&b' ') && !name.starts_with(b"\"") {
        true => b"\t",
        false => b"",
    }
}

/// A name as git writes it: in quotes if it has something that a line or a terminal would not take for what it is.
fn quoted(side: &str, name: &OsStr) -> Vec<u8> {
    let name = name.as_encoded_bytes();
    let is_plain = |text: &str| !text.contains(['"', '\\']) && visible::one_line(text) == text;
    if std::str::from_utf8(name).is_ok_and(is_plain) {
        return [side.as_bytes(), name].concat();
    }
    let mut quoted = format!("\"{side}").into_bytes();
    for byte in name {
        match byte {
            b'"' | b'\\' => quoted.extend([b'\\', *byte]),
            b'\t' => quoted.extend(b"\\t"),
            b'\n' => quoted.extend(b"\\n"),
            b' '..=b'~' => quoted.push(*byte),
            _ => quoted.extend(format!("\\{byte:03o}").as_bytes()),
        }
    }
    quoted.push(b'"');
    quoted
}
