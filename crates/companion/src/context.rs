//! What agents are shown, and when (C4): collects what the front end and scripts report, waits for
//! a pause, and gives out the context that is to be sent. A state machine: time comes in, no I/O.

use std::sync::Arc;
use std::time::{Duration, Instant};

use pillion_protocol::context::MAX_FILES;
use pillion_protocol::{File, IdeContext};

/// How long the editor must be quiet before a change is sent (C4.2).
pub(crate) const DEBOUNCE: Duration = Duration::from_millis(50);

/// How long a change waits at most while the editor is never quiet, as with a key held down.
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
}

#[derive(Debug, Clone, Copy)]
struct Waiting {
    since: Instant,
    last: Instant,
}

impl Context {
    /// The front end's whole list of open files changed.
    pub(crate) fn report(&mut self, files: Vec<File>, is_trusted: Option<bool>, now: Instant) {
        self.reported = files;
        self.is_trusted = is_trusted;
        self.changed(now);
    }

    /// One file got the focus. A file that is focused again without a cursor keeps the one that
    /// it had: saving a file does not move in it.
    pub(crate) fn focus(&mut self, mut file: File, now: Instant) {
        if let Some(at) = self.focused.iter().position(|old| old.path == file.path) {
            let old = self.focused.remove(at);
            file.cursor = file.cursor.or(old.cursor);
        }
        self.focused.insert(0, file);
        self.focused.truncate(MAX_FILES);
        self.changed(now);
    }

    /// When [`Context::take`] wants to be called.
    pub(crate) fn due(&self) -> Option<Instant> {
        self.waiting
            .map(|waiting| (waiting.last + DEBOUNCE).min(waiting.since + LONGEST_WAIT))
    }

    /// The context to send now, if it is time and agents would see something new. `exists` says
    /// whether a path is a file on disk (C4.4).
    pub(crate) fn take(
        &mut self,
        now: Instant,
        exists: impl Fn(&str) -> bool,
    ) -> Option<Arc<IdeContext>> {
        if self.due()? > now {
            return None;
        }
        self.waiting = None;
        self.refresh(exists)
    }

    /// The context to send because files vanished from disk (C4.4), if any did.
    pub(crate) fn recheck(&mut self, exists: impl Fn(&str) -> bool) -> Option<Arc<IdeContext>> {
        if self.waiting.is_some() || self.current.files().iter().all(|file| exists(&file.path)) {
            return None;
        }
        self.refresh(exists)
    }

    /// What a session gets when its stream opens (C4.1).
    pub(crate) fn current(&self) -> Arc<IdeContext> {
        Arc::clone(&self.current)
    }

    /// When a file was focused last, in Unix milliseconds, also if agents are not told of it yet.
    pub(crate) fn last_focused(&self) -> Option<u64> {
        let files = self.focused.iter().chain(&self.reported);
        files.map(|file| file.timestamp).max()
    }

    fn changed(&mut self, now: Instant) {
        let since = self.waiting.map_or(now, |waiting| waiting.since);
        self.waiting = Some(Waiting { since, last: now });
    }

    fn refresh(&mut self, exists: impl Fn(&str) -> bool) -> Option<Arc<IdeContext>> {
        let mut files: Vec<File> = self.focused.iter().chain(&self.reported).cloned().collect();
        files.retain(|file| exists(&file.path));
        let new = IdeContext::for_agents(files, self.is_trusted);
        let is_news = !same_to_agents(&new, &self.current);
        // Whoever comes later is told the true times (C4.5).
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

    fn at(line: u32) -> File {
        File {
            cursor: Some(Cursor { line, character: 1 }),
            ..File::focused("/a", 1)
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
        assert_eq!(context.recheck(|_| true), None);
        let sent = context.recheck(|_| false).unwrap();
        assert_eq!(sent.files(), []);
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
