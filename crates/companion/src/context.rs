//! Owns the context that agents are shown (C4): collects what the front end and scripts report, waits for
//! a pause, has the files checked, and returns the context that is to be sent. A state machine:
//! time and what is on disk come in, no I/O.
//!
//! Front ends report more files than agents get, and check none: the files are checked in the order in which agents
//! get them, until there are enough. A context that agents could not distinguish from the last one is not sent.
//! `pillion focus` is answered once agents have been shown the file, so that an agent that connects later sees it,
//! too.

mod on_disk;

use std::sync::Arc;
use std::time::{Duration, Instant};

use pillion_protocol::context::{MAX_FILES, in_agents_order};
use pillion_protocol::{File, IdeContext};

use self::on_disk::OnDisk;

/// The time for which the editor must be quiet before a change is sent (C4.2).
pub(crate) const DEBOUNCE: Duration = Duration::from_millis(50);

/// The longest wait of a change while the editor is never quiet, as with a key held down.
const LONGEST_WAIT: Duration = Duration::from_millis(200);

#[derive(Debug, Default)]
pub(crate) struct Context {
    /// The front end's own list, replaced as a whole.
    reported: Vec<File>,
    is_trusted: Option<bool>,
    /// Files focused one by one, newest first: by `pillion focus`, or saved.
    focused: Vec<File>,
    current: Arc<IdeContext>,
    waiting: Option<Waiting>,
    on_disk: OnDisk,
    /// While the files are checked: when to go on without those whose disk does not respond.
    checking: Option<Instant>,
}

#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Steps {
    /// Check whether these are files; the results go to [`Context::checked`].
    pub(crate) check: Vec<String>,
    pub(crate) send: Option<Arc<IdeContext>>,
}

#[derive(Debug, Clone, Copy)]
struct Waiting {
    since: Instant,
    last: Instant,
}

impl Context {
    /// The front end's whole list of open files changed. If the person moved in it, they are there, and no more where a file got
    /// the focus by itself.
    pub(crate) fn report(&mut self, files: Vec<File>, is_trusted: Option<bool>, now: Instant) {
        let active = files.iter().find(|it| it.is_focused());
        let before = self.reported.iter().find(|it| it.is_focused());
        if let Some(active) = active.filter(|it| !it.is_same_place(before)) {
            self.focused.retain(|it| it.path != active.path);
            self.focused.iter_mut().for_each(File::lose_focus);
        }
        self.reported = files;
        self.is_trusted = is_trusted;
        self.changed(now);
    }

    /// One file got the focus. Without a cursor it keeps the one that it had, and what is selected: saving a file does not move
    /// in it.
    pub(crate) fn focus(&mut self, mut file: File, now: Instant) {
        if file.cursor.is_none() {
            let old = self.files().find(|old| old.path == file.path).cloned();
            file = File {
                timestamp: file.timestamp,
                is_active: file.is_active,
                ..old.unwrap_or(file)
            };
        }
        self.focused.retain(|old| old.path != file.path);
        self.focused.insert(0, file);
        self.focused.truncate(MAX_FILES);
        self.changed(now);
    }

    /// Returns the time at which [`Context::elapse`] wants to be called.
    pub(crate) fn due(&self) -> Option<Instant> {
        self.pause_ends().into_iter().chain(self.checking).min()
    }

    /// Returns true if agents have been shown everything, as far as it is news to them.
    pub(crate) fn is_settled(&self) -> bool {
        self.due().is_none()
    }

    /// Time has passed, or a file was checked. Only files on disk are sent (C4.4); of one that
    /// does not answer counts what was seen last.
    pub(crate) fn elapse(&mut self, now: Instant) -> Steps {
        if self.pause_ends().is_some_and(|due| due <= now) {
            self.waiting = None;
            self.recheck(now);
        }
        if self.checking.is_none() {
            return Steps::default();
        }
        // Without what may be long.
        let files = self.files().map(|file| File {
            is_active: file.is_active,
            ..File::open(file.path.as_str(), file.timestamp)
        });
        let files = in_agents_order(files.collect());
        let found = self.on_disk.find(&files, MAX_FILES, now);
        self.checking = found.due;
        let is_complete = found.due.is_none();
        Steps {
            check: found.check,
            send: is_complete.then(|| self.refresh()).flatten(),
        }
    }

    /// Takes what was seen of a file; nothing if there was no answer.
    pub(crate) fn checked(&mut self, path: &str, is_file: Option<bool>, now: Instant) {
        let is_news = self.on_disk.checked(path, is_file);
        if is_news || self.checking.is_some() {
            self.checking = Some(now);
        }
    }

    /// Files may have vanished from disk (C4.4): they are checked again.
    pub(crate) fn recheck(&mut self, now: Instant) {
        self.on_disk.outdate();
        self.checking = Some(now);
    }

    /// Returns the context that a session gets when its stream opens (C4.1).
    pub(crate) fn current(&self) -> Arc<IdeContext> {
        Arc::clone(&self.current)
    }

    /// Returns when a file was focused last, in Unix milliseconds, also if agents have not received it yet.
    pub(crate) fn last_focused(&self) -> Option<u64> {
        self.files().map(|file| file.timestamp).max()
    }

    /// Everything that may be shown. Of one path what was focused by name comes first.
    fn files(&self) -> impl Iterator<Item = &File> {
        self.focused.iter().chain(&self.reported)
    }

    /// Returns the time at which a change that waits is to be sent.
    fn pause_ends(&self) -> Option<Instant> {
        self.waiting
            .map(|waiting| (waiting.last + DEBOUNCE).min(waiting.since + LONGEST_WAIT))
    }

    fn changed(&mut self, now: Instant) {
        let since = self.waiting.map_or(now, |waiting| waiting.since);
        self.waiting = Some(Waiting { since, last: now });
    }

    fn refresh(&mut self) -> Option<Arc<IdeContext>> {
        let there = self.files().filter(|file| self.on_disk.has(&file.path));
        let new = IdeContext::for_agents(there.cloned().collect(), self.is_trusted);
        let is_news = !same_to_agents(&new, &self.current);
        // Later sessions get the true times (C4.5).
        self.current = Arc::new(new);
        is_news.then(|| self.current())
    }
}

/// Agents only order by time stamps, and the order shows in the list.
fn same_to_agents(a: &IdeContext, b: &IdeContext) -> bool {
    let trust = |context: &IdeContext| {
        let state = context.workspace_state.as_ref();
        state.map(|state| state.is_trusted)
    };
    trust(a) == trust(b)
        && a.files().len() == b.files().len()
        && a.files().iter().zip(b.files()).all(|(a, b)| {
            let timestamp = b.timestamp;
            let a = File {
                timestamp,
                ..a.clone()
            };
            a == *b
        })
}

#[cfg(test)]
mod tests {
    use pillion_protocol::Cursor;

    use super::*;
    use crate::disk::CHECK_TIMEOUT;

    fn at(line: u32) -> File {
        File {
            cursor: Some(Cursor { line, character: 1 }),
            ..File::focused("/a", 1)
        }
    }

    impl Context {
        /// Returns the context that is sent now, where every file answers at once.
        fn take(&mut self, now: Instant, exists: impl Fn(&str) -> bool) -> Option<Arc<IdeContext>> {
            loop {
                let steps = self.elapse(now);
                if steps.check.is_empty() {
                    return steps.send;
                }
                for path in steps.check {
                    self.checked(&path, Some(exists(&path)), now);
                }
            }
        }
    }

    fn line(context: &IdeContext) -> u32 {
        context.active_file().unwrap().cursor.unwrap().line
    }

    #[test]
    fn a_file_that_is_focused_again_is_no_news_but_its_time_is_kept() {
        let (mut context, start) = (Context::default(), Instant::now());
        let again = |timestamp| File { timestamp, ..at(1) };
        context.focus(again(1), start);
        assert_eq!(context.last_focused(), Some(1));
        assert!(context.take(start + DEBOUNCE, |_| true).is_some());
        context.focus(again(9), start);
        assert_eq!(context.last_focused(), Some(9));
        assert_eq!(context.take(start + DEBOUNCE, |_| true), None);
        assert_eq!(context.current().files()[0].timestamp, 9);
    }

    #[test]
    fn a_burst_is_sent_once_with_its_last_state() {
        let (mut context, start) = (Context::default(), Instant::now());
        for line in 1..=3 {
            context.report(vec![at(line)], None, start);
        }
        assert_eq!(context.due(), Some(start + DEBOUNCE));
        assert_eq!(context.take(start, |_| true), None);
        let sent = context.take(start + DEBOUNCE, |_| true).unwrap();
        assert_eq!(line(&sent), 3);
        assert_eq!(context.due(), None);
    }

    #[test]
    fn a_key_held_down_does_not_starve_the_agent() {
        let (mut context, start) = (Context::default(), Instant::now());
        let (mut now, mut sent) = (start, 0);
        for line in 1..=100 {
            context.report(vec![at(line)], None, now);
            sent += u32::from(context.take(now, |_| true).is_some());
            now += Duration::from_millis(10);
        }
        assert_eq!(sent, 4, "one second of moves");
    }

    #[test]
    fn an_unchanged_context_is_not_sent() {
        let (mut context, start) = (Context::default(), Instant::now());
        context.report(vec![at(1)], None, start);
        assert!(context.take(start + DEBOUNCE, |_| true).is_some());
        let later = File {
            timestamp: 9,
            ..at(1)
        };
        context.report(vec![later], None, start + DEBOUNCE);
        assert_eq!(context.take(start + DEBOUNCE * 2, |_| true), None);
    }

    #[test]
    fn an_empty_context_is_news_to_nobody_but_a_first_report() {
        let (mut context, start) = (Context::default(), Instant::now());
        context.report(vec![], None, start);
        assert!(context.take(start + DEBOUNCE, |_| true).is_some());
        context.report(vec![], None, start + DEBOUNCE);
        assert_eq!(context.take(start + DEBOUNCE * 2, |_| true), None);
    }

    #[test]
    fn files_that_are_not_on_disk_are_left_out_and_dropped_when_they_vanish() {
        let (mut context, start) = (Context::default(), Instant::now());
        context.report(vec![at(1), File::open("/gone", 5)], None, start);
        let sent = context.take(start + DEBOUNCE, |path| path == "/a").unwrap();
        assert_eq!(sent.files().len(), 1);
        context.recheck(start);
        assert_eq!(context.take(start, |path| path == "/a"), None);
        context.recheck(start);
        let sent = context.take(start, |_| false).unwrap();
        assert_eq!(sent.files(), []);
    }

    #[test]
    fn a_file_that_does_not_answer_is_waited_for_once_and_holds_up_nothing_later() {
        let (mut context, start) = (Context::default(), Instant::now());
        let far = File::open("/far", 9);
        context.report(vec![far.clone(), at(1)], None, start);
        let asked = context.elapse(start + DEBOUNCE).check;
        assert_eq!(asked.len(), 2);
        context.checked("/a", Some(true), start + DEBOUNCE);
        assert_eq!(context.elapse(start + DEBOUNCE), Steps::default());
        let late = context.due().unwrap();
        assert_eq!(late, start + DEBOUNCE + CHECK_TIMEOUT);
        let sent = context.elapse(late).send.unwrap();
        assert_eq!(sent.files().len(), 1, "nobody knows whether it is there");
        context.report(vec![far, at(2)], None, late);
        let now = late + DEBOUNCE;
        assert_eq!(
            context.elapse(now).check,
            ["/a"],
            "the other is being checked"
        );
        context.checked("/a", Some(true), now);
        assert_eq!(line(&context.elapse(now).send.unwrap()), 2);
        assert!(context.is_settled());
        context.checked("/far", Some(true), now);
        let sent = context.take(now, |_| true).unwrap();
        assert_eq!(sent.files().len(), 2, "it answers after all");
    }

    #[test]
    fn a_file_that_was_there_stays_while_it_does_not_answer() {
        let (mut context, start) = (Context::default(), Instant::now());
        context.report(vec![at(1)], None, start);
        assert!(context.take(start + DEBOUNCE, |_| true).is_some());
        context.recheck(start + DEBOUNCE);
        assert_eq!(context.elapse(start + DEBOUNCE).check, ["/a"]);
        let late = context.due().unwrap();
        assert_eq!(context.elapse(late), Steps::default());
        assert!(context.is_settled() && context.current().files().len() == 1);
        context.checked("/a", Some(false), late);
        let sent = context.elapse(late).send.unwrap();
        assert_eq!(sent.files(), []);
    }

    #[test]
    fn no_more_files_are_looked_at_than_agents_are_told_of() {
        let (mut context, start) = (Context::default(), Instant::now());
        let path = |number| format!("/{number}");
        let files = (0..1000).map(|number| File::open(path(number), 1000 - number));
        context.report(files.collect(), None, start);
        let now = start + DEBOUNCE;
        let asked = context.elapse(now).check;
        assert_eq!(asked, (0..10).map(path).collect::<Vec<_>>());
        for (number, path) in asked.iter().enumerate() {
            context.checked(path, Some(number > 1), now);
        }
        assert_eq!(context.elapse(now).check, ["/10", "/11"]);
        for path in ["/10", "/11"] {
            context.checked(path, Some(true), now);
        }
        let sent = context.elapse(now).send.unwrap();
        assert_eq!(sent.files()[0].path, "/2");
        assert_eq!(sent.files()[9].path, "/11");
    }

    #[test]
    fn a_script_focuses_a_file_among_those_of_the_editor() {
        let (mut context, start) = (Context::default(), Instant::now());
        context.report(vec![at(1)], None, start);
        context.focus(File::focused("/b", 7), start);
        let sent = context.take(start + DEBOUNCE, |_| true).unwrap();
        assert_eq!(sent.active_file().unwrap().path, "/b");
        assert_eq!(sent.files()[1], File::open("/a", 1));
    }

    /// A review sees that a file was saved which is open in an editor.
    #[test]
    fn a_saved_file_keeps_the_cursor_of_the_editor_which_moves_on() {
        let (mut context, start) = (Context::default(), Instant::now());
        let selected = |line| File {
            selected_text: Some("text".to_owned()),
            ..at(line)
        };
        context.report(vec![selected(4), File::open("/b", 0)], None, start);
        context.focus(File::focused("/a", 9), start);
        let sent = context.take(start + DEBOUNCE, |_| true).unwrap();
        assert_eq!(line(&sent), 4);
        assert_eq!(sent.files()[0].selected_text.as_deref(), Some("text"));
        context.report(vec![at(5), File::open("/b", 0)], None, start);
        let sent = context.take(start + DEBOUNCE, |_| true).unwrap();
        assert_eq!(line(&sent), 5);
        assert_eq!(sent.files()[0].selected_text, None);
        // Another one is saved; then the person goes on in theirs.
        context.focus(File::focused("/b", 9), start);
        let sent = context.take(start + DEBOUNCE, |_| true).unwrap();
        assert_eq!(sent.active_file().unwrap().path, "/b");
        context.report(vec![at(6), File::open("/b", 0)], None, start);
        let sent = context.take(start + DEBOUNCE, |_| true).unwrap();
        assert_eq!(sent.active_file().unwrap().path, "/a");
        assert_eq!(line(&sent), 6);
    }

    #[test]
    fn a_saved_file_keeps_the_cursor_that_a_script_gave() {
        let (mut context, start) = (Context::default(), Instant::now());
        context.focus(at(4), start);
        context.focus(File::focused("/b", 2), start);
        context.focus(File::focused("/a", 3), start);
        let sent = context.take(start + DEBOUNCE, |_| true).unwrap();
        assert_eq!(line(&sent), 4);
        assert_eq!(sent.files().len(), 2);
    }
}
