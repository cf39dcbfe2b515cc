//! The rules for a context: what a companion may send (C4.5 to C4.7) and what an agent makes of
//! what it gets (C4.8).

use std::cmp::Reverse;
use std::collections::HashSet;

use super::{File, IdeContext, WorkspaceState};

/// The number of files that a companion sends and an agent keeps (C4.7).
pub const MAX_FILES: usize = 10;

/// The largest length of a selection, in UTF-16 units (C4.7).
pub const MAX_SELECTION: usize = 16 * 1024;

/// The mark that an agent puts behind a selection that it cut (C4.8).
pub const TRUNCATION_MARK: &str = "... [TRUNCATED]";

impl IdeContext {
    /// The context that a companion may send, made of all files that an editor has open.
    ///
    /// Agents believe the newest timestamp and nothing else (C4.8). So the files are ordered by
    /// it, the focused file is made the newest if the editor's clock says otherwise, and no two
    /// files share a timestamp; `cursor` and `selectedText` stay on the focused file only (C4.6);
    /// then both limits apply (C4.7). Of several focused files the newest is taken, of several
    /// entries for one path the first in that order.
    pub fn for_agents(files: Vec<File>, is_trusted: Option<bool>) -> Self {
        let mut sent = in_agents_order(files);
        sent.truncate(MAX_FILES);
        // From the oldest up: each file at least a millisecond newer than the one below it.
        for at in (0..sent.len().saturating_sub(1)).rev() {
            let floor = sent[at + 1].timestamp.saturating_add(1);
            sent[at].timestamp = sent[at].timestamp.max(floor);
        }
        for (at, file) in sent.iter_mut().enumerate() {
            if at > 0 || !file.is_focused() {
                file.lose_focus();
            }
            if let Some(text) = &mut file.selected_text {
                text.truncate(utf16_prefix(text, MAX_SELECTION));
                if text.is_empty() {
                    file.selected_text = None;
                }
            }
        }
        Self {
            workspace_state: Some(WorkspaceState {
                open_files: Some(sent),
                is_trusted,
            }),
        }
    }

    /// The context as an agent takes it when it has received it (C4.8).
    pub fn as_seen_by_agent(mut self) -> Self {
        let Some(files) = self
            .workspace_state
            .as_mut()
            .and_then(|state| state.open_files.as_mut())
        else {
            return self;
        };
        files.sort_by_key(|file| Reverse(file.timestamp));
        for (at, file) in files.iter_mut().enumerate() {
            if at > 0 || !file.is_focused() {
                file.lose_focus();
            }
            if let Some(text) = &mut file.selected_text {
                let end = utf16_prefix(text, MAX_SELECTION);
                if end < text.len() {
                    text.truncate(end);
                    text.push_str(TRUNCATION_MARK);
                }
            }
        }
        files.truncate(MAX_FILES);
        self
    }
}

/// The files in the order in which agents get them, each path once.
pub fn in_agents_order(mut files: Vec<File>) -> Vec<File> {
    files.sort_by_key(|file| Reverse(file.timestamp));
    if let Some(at) = files.iter().position(File::is_focused) {
        files[..=at].rotate_right(1);
        let newest = files.iter().map(|file| file.timestamp).max();
        files[0].timestamp = newest.unwrap_or_default();
    }
    let mut seen = HashSet::new();
    files.retain(|file| seen.insert(file.path.clone()));
    files
}

/// The length in bytes of the longest prefix of whole characters within `units` UTF-16 units.
fn utf16_prefix(text: &str, units: usize) -> usize {
    // A character has at least as many UTF-8 bytes as UTF-16 units.
    if text.len() <= units {
        return text.len();
    }
    let fitting = text.chars().scan(units, |left, character| {
        *left = left.checked_sub(character.len_utf16())?;
        Some(character.len_utf8())
    });
    fitting.sum()
}

#[cfg(test)]
mod tests {
    use proptest::collection::vec;
    use proptest::prelude::*;

    use super::*;
    use crate::context::Cursor;

    fn with_selection(text: &str) -> File {
        File {
            selected_text: Some(text.to_owned()),
            cursor: Some(Cursor {
                line: 1,
                character: 1,
            }),
            ..File::focused("/a", 1)
        }
    }

    fn selection(context: &IdeContext) -> &str {
        context.files()[0].selected_text.as_deref().unwrap()
    }

    #[test]
    fn a_selection_is_not_cut_inside_a_surrogate_pair() {
        let text = format!("{}😀", "x".repeat(MAX_SELECTION - 1));
        let context = IdeContext::for_agents(vec![with_selection(&text)], None);
        assert_eq!(selection(&context), "x".repeat(MAX_SELECTION - 1));
    }

    #[test]
    fn a_selection_of_just_the_limit_is_kept_and_one_more_is_marked_by_the_agent() {
        let full = "é".repeat(MAX_SELECTION);
        let sent = IdeContext::for_agents(vec![with_selection(&full)], None);
        assert_eq!(selection(&sent), full);
        assert_eq!(selection(&sent.clone().as_seen_by_agent()), full);

        let mut longer = sent;
        let state = longer.workspace_state.as_mut().unwrap();
        state.open_files.as_mut().unwrap()[0].selected_text = Some(format!("{full}é"));
        let seen = longer.as_seen_by_agent();
        assert_eq!(selection(&seen), format!("{full}{TRUNCATION_MARK}"));
    }

    #[test]
    fn the_focused_file_stays_active_although_another_is_as_new() {
        let files = vec![
            File::open("/newer", 9),
            File::open("/equal", 5),
            with_selection("s"),
            File::open("/b", 5),
        ];
        let seen = IdeContext::for_agents(files, None).as_seen_by_agent();
        assert_eq!(seen.files()[0].path, "/a");
        assert_eq!(seen.files()[0].selected_text.as_deref(), Some("s"));
    }

    #[test]
    fn an_agent_takes_no_file_for_active_when_the_newest_is_not() {
        let context = IdeContext {
            workspace_state: Some(WorkspaceState {
                open_files: Some(vec![with_selection("s"), File::open("/newer", 2)]),
                is_trusted: None,
            }),
        };
        let seen = context.as_seen_by_agent();
        assert_eq!(seen.active_file(), None);
        assert!(seen.files().iter().all(|file| file.cursor.is_none()));
    }

    #[test]
    fn trust_is_passed_on_and_never_invented() {
        for trust in [None, Some(true), Some(false)] {
            let state = IdeContext::for_agents(Vec::new(), trust).workspace_state;
            assert_eq!(state.unwrap().is_trusted, trust);
        }
    }

    fn any_file() -> impl Strategy<Value = File> {
        (
            0_u8..20,
            0_u64..8,
            any::<bool>(),
            proptest::option::of((1_u32..9, 1_u32..9)),
            proptest::option::of("[a😀é]{0,6}".prop_map(|unit| unit.repeat(6000))),
        )
            .prop_map(|(name, timestamp, active, cursor, selected_text)| File {
                path: format!("/{name}"),
                timestamp,
                is_active: active.then_some(true),
                cursor: cursor.map(|(line, character)| Cursor { line, character }),
                selected_text,
                selection: None,
            })
    }

    proptest! {
        #[test]
        fn what_is_sent_obeys_every_rule(files in vec(any_file(), 0..25)) {
            let focused = files.iter().any(File::is_focused);
            let context = IdeContext::for_agents(files, None);
            let sent = context.files();
            prop_assert!(sent.len() <= MAX_FILES);
            prop_assert!(sent.windows(2).all(|pair| pair[0].timestamp > pair[1].timestamp));
            prop_assert_eq!(sent.first().is_some_and(File::is_focused), focused);
            for file in sent.iter().skip(usize::from(focused)) {
                prop_assert_eq!(file, &File::open(file.path.clone(), file.timestamp));
            }
            for file in sent {
                let units = file.selected_text.as_deref().unwrap_or("").encode_utf16().count();
                prop_assert!(units <= MAX_SELECTION);
            }
        }

        #[test]
        fn an_agent_changes_nothing_in_what_is_sent(files in vec(any_file(), 0..25)) {
            let sent = IdeContext::for_agents(files, None);
            prop_assert_eq!(sent.clone().as_seen_by_agent(), sent);
        }

        #[test]
        fn limiting_twice_changes_nothing(files in vec(any_file(), 0..25)) {
            let once = IdeContext::for_agents(files, None);
            let twice = IdeContext::for_agents(once.files().to_vec(), None);
            prop_assert_eq!(twice, once);
        }
    }
}
