//! Owns the turns in which agents are at work: what is written then is not what the person works on, and neither is a text that
//! was accepted. A state machine without I/O: the signs of turns come in, and time.

use std::collections::{HashMap, VecDeque};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use pillion_discovery::real_path;
use pillion_text::fingerprint;
use pillion_view::Original;

use crate::line_endings::decoded;
use crate::sessions::SessionId;
use crate::written::{Accepted, Fingerprints};

/// The time that a turn may go on after its last sign if nobody tells its end: so long Claude Code lets a command
/// run that gives no other limit.
const SILENT: Duration = Duration::from_secs(2 * 60);

/// The same where ends are told: only a turn that the person broke off has none. No command may run longer.
const SILENT_AND_TOLD: Duration = Duration::from_secs(10 * 60);

/// So long after the end of a turn what was written in it may still come to be known.
const LATE: Duration = Duration::from_secs(1);

/// The number of accepted texts that are remembered.
const MAX_TEXTS: usize = 64;

/// The turns of all sessions, and what was accepted in them.
#[derive(Debug, Default)]
pub(crate) struct Turns {
    sessions: HashMap<SessionId, Session>,
    /// The latest end, or sign, of a turn whose session went.
    left: Option<Instant>,
    accepted: VecDeque<AcceptedText>,
}

#[derive(Debug, Default)]
struct Session {
    /// Its hooks tell when a turn ends.
    tells_ends: bool,
    /// The agent itself, and its subagents, which work on in the background.
    turns: [Turn; 2],
}

#[derive(Debug, Default)]
struct Turn {
    /// The last sign of it, while it runs.
    sign: Option<Instant>,
    ended: Option<Instant>,
}

/// A text that was accepted, by its fingerprints.
#[derive(Debug, Clone)]
pub(crate) struct AcceptedText {
    /// As the agent spells it.
    file_path: String,
    /// As it was accepted, and as the agent may write it.
    fingerprints: Fingerprints,
    /// True once an agent has written it. All copies know.
    is_written: Arc<AtomicBool>,
}

impl Turns {
    /// A turn begins.
    pub(crate) fn begins(&mut self, session: &SessionId, now: Instant) {
        self.works(session, false, now);
    }

    /// The same, said by a hook: another one will tell the end.
    pub(crate) fn begins_and_ends_are_told(&mut self, session: &SessionId, now: Instant) {
        self.begins(session, now);
        self.session(session).tells_ends = true;
    }

    /// The agent, or a subagent of it, does something that it does in a turn only.
    pub(crate) fn works(&mut self, session: &SessionId, is_subagent: bool, now: Instant) {
        self.session(session).turns[usize::from(is_subagent)].sign = Some(now);
    }

    /// A turn has ended, or the work of a subagent.
    pub(crate) fn ends(&mut self, session: &SessionId, is_subagent: bool, now: Instant) {
        let turn = &mut self.session(session).turns[usize::from(is_subagent)];
        turn.sign = None;
        turn.ended = Some(now);
    }

    /// The person accepted a text that an agent will write.
    pub(crate) fn accepted(&mut self, accepted: &Accepted) {
        self.accepted_texts_of(&accepted.file_path, accepted.fingerprints.clone());
    }

    /// The same of a text that an agent's hook has proposed.
    pub(crate) fn accepted_for_hook(&mut self, file_path: &str, text: &Arc<String>) {
        let fingerprints = Fingerprints::of([Arc::clone(text)]);
        // Nobody else may ever do that: the agent's hook says itself what is written.
        fingerprints.compute();
        self.accepted_texts_of(file_path, fingerprints);
    }

    fn accepted_texts_of(&mut self, file_path: &str, fingerprints: Fingerprints) {
        self.accepted.retain(|it| it.file_path != file_path);
        self.accepted.truncate(MAX_TEXTS - 1);
        self.accepted.push_front(AcceptedText {
            file_path: file_path.to_owned(),
            fingerprints,
            is_written: Arc::default(),
        });
    }

    pub(crate) fn forget(&mut self, session: &SessionId) {
        if let Some(session) = self.sessions.remove(session) {
            let ended = session
                .turns
                .iter()
                .filter_map(|turn| turn.ended.max(turn.sign));
            self.left = self.left.max(ended.max());
        }
    }

    /// Returns true if what was written a moment ago counts as an agent's.
    pub(crate) fn is_agents(&self, now: Instant) -> bool {
        let is_late = |ended: Option<Instant>| ended.is_some_and(|at| now < at + LATE);
        is_late(self.left)
            || self.sessions.values().any(|session| {
                let limit = if session.tells_ends {
                    SILENT_AND_TOLD
                } else {
                    SILENT
                };
                let runs = |sign: Option<Instant>| sign.is_some_and(|sign| now < sign + limit);
                let mut turns = session.turns.iter();
                turns.any(|turn| runs(turn.sign) || is_late(turn.ended))
            })
    }

    /// Returns the texts that were accepted, to compare a file with.
    pub(crate) fn accepted_texts(&self) -> Vec<AcceptedText> {
        self.accepted.iter().cloned().collect()
    }

    fn session(&mut self, session: &SessionId) -> &mut Session {
        self.sessions.entry(session.clone()).or_default()
    }
}

impl AcceptedText {
    /// Returns true if the file at this real path is the one, and has the text. A file that is gone has the text of one that is
    /// to be deleted. Waits for the disk.
    pub(crate) fn is_in(&self, path: &Path) -> bool {
        self.real_path() == path && self.is_text_of(path)
    }

    /// Returns true if an agent has now written to this file what was accepted. It was accepted once: if an agent writes it
    /// again, perhaps over what the person has since made of the file, nobody has seen that. Waits for the disk.
    pub(crate) fn is_written_to(&self, path: &Path) -> bool {
        self.is_text_of(path) && !self.is_written.swap(true, Ordering::Relaxed)
    }

    /// Returns the file's real path. Waits for the disk.
    pub(crate) fn real_path(&self) -> PathBuf {
        real_path(Path::new(&self.file_path))
    }

    /// Returns true if this file has the text. Waits for the disk.
    fn is_text_of(&self, path: &Path) -> bool {
        let text = match Original::read(path) {
            Ok(Original {
                text: Some(text), ..
            }) => text,
            _ if path.symlink_metadata().is_err() => Vec::new(),
            _ => return false,
        };
        let decoded = decoded(&text);
        let hash = fingerprint::hash(decoded.as_deref().map_or(&text, str::as_bytes));
        self.fingerprints.contains(&hash)
    }
}

#[cfg(test)]
mod tests {
    use pillion_protocol::Dialect;

    use super::*;

    const MOMENT: Duration = Duration::from_millis(1);

    fn session() -> SessionId {
        "s".into()
    }

    #[test]
    fn what_is_written_in_a_turn_is_the_agents_and_after_it_the_persons() {
        type Begin = fn(&mut Turns, &SessionId, Instant);
        let begins: [(Begin, bool); 4] = [
            (|turns, session, now| turns.begins(session, now), false),
            (
                |turns, session, now| turns.begins_and_ends_are_told(session, now),
                false,
            ),
            (
                |turns, session, now| turns.works(session, false, now),
                false,
            ),
            (|turns, session, now| turns.works(session, true, now), true),
        ];
        for (begin, is_subagent) in begins {
            let (mut turns, start) = (Turns::default(), Instant::now());
            assert!(!turns.is_agents(start), "nobody works");
            begin(&mut turns, &session(), start);
            assert!(turns.is_agents(start) && turns.is_agents(start + SILENT - MOMENT));
            let end = start + MOMENT;
            turns.ends(&session(), is_subagent, end);
            assert!(turns.is_agents(end + LATE - MOMENT), "heard of late");
            assert!(!turns.is_agents(end + LATE));
        }
    }

    #[test]
    fn a_turn_whose_end_is_not_told_ends_after_its_last_sign() {
        for (is_told, limit) in [(false, SILENT), (true, SILENT_AND_TOLD)] {
            let (mut turns, start) = (Turns::default(), Instant::now());
            match is_told {
                true => turns.begins_and_ends_are_told(&session(), start),
                false => turns.begins(&session(), start),
            }
            let sign = start + limit - MOMENT;
            turns.works(&session(), false, sign);
            assert!(turns.is_agents(start + limit + MOMENT));
            assert!(!turns.is_agents(sign + limit));
        }
    }

    #[test]
    fn one_agent_at_work_is_enough_and_one_that_is_gone_is_not_waited_for() {
        let (mut turns, start) = (Turns::default(), Instant::now());
        turns.begins(&"a".into(), start);
        turns.begins(&"b".into(), start);
        turns.ends(&"a".into(), false, start);
        assert!(turns.is_agents(start + LATE));
        // A subagent works on when the turn of the agent is over.
        turns.works(&"a".into(), true, start);
        turns.forget(&"b".into());
        assert!(turns.is_agents(start + LATE));
        turns.forget(&"a".into());
        assert!(turns.is_agents(start + LATE - MOMENT));
        assert!(!turns.is_agents(start + LATE));
    }

    fn accepted(path: &Path, content: &str, as_written: Option<&str>) -> Accepted {
        let content = Arc::new(content.to_owned());
        let as_written = as_written.map(|text| Arc::new(text.to_owned()));
        Accepted {
            id: pillion_view::DiffId(1),
            deletes: false,
            is_told: true,
            session: session(),
            proposer: Dialect::GeminiCli.into(),
            file_path: path.to_str().unwrap().to_owned(),
            fingerprints: Fingerprints::of([&content].into_iter().chain(&as_written).cloned()),
            content,
            as_written,
            is_edited: false,
            before: None,
        }
    }

    /// It needs a link, which Windows lets only administrators make.
    #[cfg(unix)]
    #[test]
    fn an_accepted_text_is_no_persons_in_whatever_form_it_is_written() {
        let folder = tempfile::tempdir().unwrap();
        let folder = real_path(folder.path());
        let (file, link) = (folder.join("a"), folder.join("link"));
        std::os::unix::fs::symlink("a", &link).unwrap();
        let mut turns = Turns::default();
        turns.accepted(&accepted(&file, "before", None));
        turns.accepted(&accepted(&link, "x\r\n", Some("x\n")));
        turns.accepted(&accepted(&folder.join("b"), "y", None));
        let is_agents = |text: &[u8]| {
            std::fs::write(&file, text).unwrap();
            let texts = turns.accepted_texts();
            texts.iter().any(|text| text.is_in(&file))
        };
        let utf_16: Vec<u8> = "\u{feff}x\n"
            .encode_utf16()
            .flat_map(u16::to_le_bytes)
            .collect();
        for (text, expected) in [
            (&b"x\r\n"[..], true),
            (b"x\n", true),
            (b"before", true),
            (b"y", false),
            (b"x\nmine\n", false),
            (&utf_16, false),
        ] {
            assert_eq!(is_agents(text), expected, "{text:?}");
        }
    }

    #[test]
    fn what_was_accepted_is_written_once() {
        let folder = tempfile::tempdir().unwrap();
        let file = real_path(folder.path()).join("a");
        let mut turns = Turns::default();
        let writes = |turns: &Turns, text: &str| {
            std::fs::write(&file, text).unwrap();
            let texts = turns.accepted_texts();
            texts.iter().any(|it| it.is_written_to(&file))
        };
        turns.accepted(&accepted(&file, "x", None));
        assert!(!writes(&turns, "mine"), "another text");
        assert!(writes(&turns, "x"));
        assert!(!writes(&turns, "mine"));
        assert!(!writes(&turns, "x"), "over the person's");
        let texts = turns.accepted_texts();
        assert!(texts[0].is_in(&file), "it is no person's all the same");
        turns.accepted(&accepted(&file, "x", None));
        assert!(writes(&turns, "x"), "accepted again");
    }

    #[test]
    fn no_more_texts_are_remembered_than_a_review_may_have() {
        let mut turns = Turns::default();
        for number in 0..3 * MAX_TEXTS {
            let path = format!("/{number}");
            for _ in 0..2 {
                turns.accepted(&accepted(Path::new(&path), "x", None));
            }
        }
        let texts = turns.accepted_texts();
        assert_eq!(texts.len(), MAX_TEXTS);
        assert_eq!(texts[0].file_path, format!("/{}", 3 * MAX_TEXTS - 1));
    }
}
