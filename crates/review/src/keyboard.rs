//! The thread that reads the keyboard: reports when each key was pressed, which arrived together, and which are held
//! down.

mod answers;
mod decode;
mod meaning;
mod tty;

use std::collections::VecDeque;
use std::io;
use std::time::{Duration, Instant};

use crossterm::event::{Event, KeyCode, KeyEvent, KeyEventKind, KeyModifiers};
use pillion_judge::act::Act;
use pillion_judge::keys::Keys;
use pillion_system::spawn;

use crate::Input;
use crate::app::{self, HELD, HeldKey, LOOK, Mark, Press};
use answers::Answers;
use decode::Read;
use tty::Tty;

pub use meaning::{chord, meaning};

pub use tty::ANSWERS;

/// Keys that arrive closer to each other are a paste, which some terminals do not mark as one.
/// Nobody types two keys so fast, and no keyboard's repeats are so fast unless one asked for it.
const BURST_INTERVAL: Duration = Duration::from_millis(20);

/// What a terminal sends at once, such as an answer, has no such silence in it, and nobody presses a key so soon after a
/// paste.
const TOGETHER: Duration = HELD;

/// The keys. Nothing reads from the terminal after a key that may hand it to another program, until
/// the review goes on.
pub struct Keyboard {
    go_on: crossbeam_channel::Sender<()>,
}

impl Keyboard {
    /// Reads, on a thread of its own.
    ///
    /// # Errors
    /// When there can be no thread.
    pub fn start(inputs: crossbeam_channel::Sender<Input>, keys: Keys) -> io::Result<Self> {
        let (go_on, wait) = crossbeam_channel::unbounded();
        #[cfg(unix)]
        let (resized, resumed) = (inputs.clone(), inputs.clone());
        spawn("keys", move || {
            let mut reader = Reader::new(Tty::default(), keys.clone());
            loop {
                let Ok(input) = reader.next() else {
                    let _ = inputs.send(Input::Stop);
                    return;
                };
                let waits = matches!(&input, Input::Key(key, _) if hands_over(&keys, key));
                if inputs.send(input).is_err() || (waits && wait.recv().is_err()) {
                    return;
                }
            }
        })?;
        #[cfg(unix)]
        pillion_system::signals::on_resize(move || {
            let size = crossterm::terminal::size();
            size.is_ok_and(|(width, height)| {
                let event = Event::Resize(width, height);
                resized.send(Input::Terminal(event)).is_ok()
            })
        })?;
        #[cfg(unix)]
        pillion_system::signals::on_continue(move || resumed.send(Input::Resumed).is_ok())?;
        Ok(Self { go_on })
    }

    /// Reads lines, on a thread of its own, as the terminal hands them over: each key of them was edited there.
    ///
    /// # Errors
    /// When there can be no thread.
    pub fn lines(inputs: crossbeam_channel::Sender<Input>, keys: Keys) -> io::Result<Self> {
        let (go_on, wait) = crossbeam_channel::unbounded();
        let (read, lines) = crossbeam_channel::unbounded();
        spawn("lines", move || {
            for line in io::stdin().lines() {
                let Ok(line) = line else { break };
                let waits = line_hands_over(&keys, &line);
                let sent = read.send((line, Instant::now()));
                if sent.is_err() || (waits && wait.recv().is_err()) {
                    return;
                }
            }
        })?;
        spawn("pace", move || {
            pace(&lines, |line, press| {
                inputs.send(Input::Line(line, press)).is_ok()
            });
            let _ = inputs.send(Input::Stop);
        })?;
        Ok(Self { go_on })
    }

    /// Reads on. To be called once for every key that [`hands_over`] the terminal.
    pub fn go_on(&self) {
        // The thread is gone only when the terminal is, which it has reported.
        let _ = self.go_on.send(());
    }

    /// Forgets what was typed and not yet read.
    pub fn discard() {
        Tty::discard();
    }
}

/// Passes lines on until there are no more: those that come together, which nobody types, as parts of a paste.
fn pace(
    lines: &crossbeam_channel::Receiver<(String, Instant)>,
    mut pass_on: impl FnMut(String, Press) -> bool,
) {
    let (mut next, mut last): (_, Option<Instant>) = (lines.recv().ok(), None);
    while let Some((line, at)) = next {
        let follows = last.is_some_and(|last| at.saturating_duration_since(last) < TOGETHER);
        let soon = lines.recv_timeout(TOGETHER).ok();
        let is_together = |it: &(_, Instant)| it.1.saturating_duration_since(at) < TOGETHER;
        let press = Press {
            is_in_burst: follows || soon.as_ref().is_some_and(is_together),
            ..Press::alone(at)
        };
        if !pass_on(line, press) {
            return;
        }
        last = Some(at);
        next = soon.or_else(|| lines.recv().ok());
    }
}

/// The commands that open an editor, which reads from the terminal then.
const OPEN_EDITOR: [Act; 3] = [Act::Edit, Act::OpenFile, Act::EditWords];

/// Returns true if another program may read from the terminal after this key.
pub fn hands_over(keys: &Keys, key: &KeyEvent) -> bool {
    let mut acts = OPEN_EDITOR.into_iter().chain([Act::Suspend]);
    chord(key).is_some_and(|chord| acts.any(|act| keys.is_for(chord, act)))
}

/// As [`hands_over`], of a line.
pub fn line_hands_over(keys: &Keys, line: &str) -> bool {
    let chord = line.trim().parse();
    chord.is_ok_and(|chord| OPEN_EDITOR.iter().any(|act| keys.is_for(chord, *act)))
}

/// The text that a key stands for where it is part of a paste.
fn pasted(key: &KeyEvent) -> Option<Event> {
    let is_plain = KeyModifiers::SHIFT.contains(key.modifiers);
    let char = match key.code {
        _ if key.kind == KeyEventKind::Release => return None,
        KeyCode::Char(char) if is_plain => char,
        KeyCode::Enter => '\n',
        KeyCode::Tab => '\t',
        _ => return None,
    };
    Some(Event::Paste(char.into()))
}

/// The source of keys, and its clock.
trait Source {
    /// The next input; `None` when `timeout` passed without anything.
    fn next(&mut self, timeout: Option<Duration>) -> io::Result<Option<Read>>;

    fn now(&self) -> Instant;
}

impl Source for Tty {
    fn next(&mut self, timeout: Option<Duration>) -> io::Result<Option<Read>> {
        self.read(timeout)
    }

    fn now(&self) -> Instant {
        Instant::now()
    }
}

/// Turns what the terminal sends into input.
struct Reader<S> {
    source: S,
    keys: Keys,
    /// Input that was read to find out whether it follows at once.
    ahead: VecDeque<(Read, Instant)>,
    answers: Answers,
    /// What looks like the beginning of an answer.
    withheld: VecDeque<(KeyEvent, Instant)>,
    /// What looked like one, and was none.
    given_back: VecDeque<(KeyEvent, Instant)>,
    /// A paste has ended, and there was no silence since: its text may have had the mark of its end in it.
    is_in_paste: bool,
    /// The key that was pressed last, and when.
    last: Option<(KeyCode, Instant)>,
    /// The same key.
    held: HeldKey,
    /// The terminal reports releases, and so names every repeat.
    knows_releases: bool,
}

impl<S: Source> Reader<S> {
    fn new(source: S, keys: Keys) -> Self {
        Self {
            source,
            keys,
            ahead: VecDeque::new(),
            answers: Answers::default(),
            withheld: VecDeque::new(),
            given_back: VecDeque::new(),
            is_in_paste: false,
            last: None,
            held: HeldKey::default(),
            knows_releases: false,
        }
    }

    fn next(&mut self) -> io::Result<Input> {
        loop {
            if let Some((key, at)) = self.given_back.pop_front() {
                if let Some(input) = self.pressed(key, at, true)? {
                    return Ok(input);
                }
                continue;
            }
            let (read, at) = match self.ahead.pop_front() {
                Some(read) => read,
                None => {
                    let is_within = self.is_in_paste || self.answers.is_waiting();
                    match self.source.next(is_within.then_some(TOGETHER))? {
                        Some(read) => (read, self.source.now()),
                        None => {
                            self.is_in_paste &= !self.withheld.is_empty();
                            self.give_back();
                            continue;
                        }
                    }
                }
            };
            let event = match read {
                Read::Event(event) => event,
                Read::KnowsReleases => return Ok(Input::KnowsReleases),
                Read::Cursor(row, column) => match Mark::at(row, column) {
                    Some(mark) => return Ok(Input::Event(app::Event::Answered(mark, at))),
                    None => continue,
                },
            };
            if self.answers.holds(&event) {
                match event {
                    _ if !self.answers.is_open() => self.withheld.clear(),
                    Event::Key(key) if key.code.as_char().is_some() => {
                        self.withheld.push_back((key, at));
                    }
                    _ => {}
                }
                continue;
            }
            if !self.withheld.is_empty() {
                self.give_back();
                self.ahead.push_front((Read::Event(event), at));
                continue;
            }
            if self.is_in_paste && matches!(event, Event::Mouse(_)) {
                continue;
            }
            let Event::Key(key) = event else {
                self.is_in_paste |= matches!(event, Event::Paste(_));
                return Ok(Input::Terminal(event));
            };
            if let Some(input) = self.pressed(key, at, false)? {
                return Ok(input);
            }
        }
    }

    /// What was withheld is no answer: it counts as typed, all of it at once.
    fn give_back(&mut self) {
        self.answers = Answers::default();
        self.given_back.append(&mut self.withheld);
    }

    /// The input that a key is, if it is any.
    fn pressed(&mut self, key: KeyEvent, at: Instant, is_late: bool) -> io::Result<Option<Input>> {
        if self.is_in_paste {
            self.last = None;
            return Ok(pasted(&key).map(Input::Terminal));
        }
        if key.kind == KeyEventKind::Release {
            self.knows_releases = true;
            return Ok(None);
        }
        let last = self.last.replace((key.code, at));
        let since = last.map(|(code, last)| (code, at.duration_since(last)));
        let follows_another = since.is_some_and(|(_, since)| since < BURST_INTERVAL);
        // Only these are worth waiting for.
        let is_in_burst = is_late
            || follows_another
            || (self.decides(&key) && self.is_followed(at, BURST_INTERVAL, None)?);
        let is_held = self.is_held(&key, at, since)?;
        let press = Press {
            at,
            is_in_burst,
            is_held,
        };
        Ok(Some(Input::Key(key, press)))
    }

    /// Returns true if a key may change what an agent gets: only a person may press it, not a paste.
    fn decides(&self, key: &KeyEvent) -> bool {
        let is_guarded = |chord| self.keys.is_guarded(chord);
        // Enter also ends words that are typed.
        key.code == KeyCode::Enter || chord(key).is_some_and(is_guarded)
    }

    /// Returns true if a key repeats because it is held down.
    fn is_held(
        &mut self,
        key: &KeyEvent,
        at: Instant,
        since: Option<(KeyCode, Duration)>,
    ) -> io::Result<bool> {
        if key.kind == KeyEventKind::Repeat {
            return Ok(true);
        }
        let same = since.filter(|(code, _)| *code == key.code && !self.knows_releases);
        let Some((_, since)) = same else {
            self.held = HeldKey::default();
            return Ok(false);
        };
        if self.held.is_held_after(since) {
            return Ok(true);
        }
        // A held key is silent before it begins to repeat: only the next one tells.
        Ok(since < 2 * LOOK && self.decides(key) && self.is_followed(at, HELD, Some(key.code))?)
    }

    /// Returns true if another key, or just this one, is pressed within `interval` of the one that was read at `at`.
    fn is_followed(
        &mut self,
        at: Instant,
        interval: Duration,
        by: Option<KeyCode>,
    ) -> io::Result<bool> {
        let pressed = |read: &Read| match read {
            Read::Event(Event::Key(key)) if key.kind != KeyEventKind::Release => Some(key.code),
            _ => None,
        };
        let is_it = |code: KeyCode| by.is_none_or(|by| by == code);
        let mut known = self.ahead.iter();
        if let Some((code, next)) = known.find_map(|(read, next)| Some((pressed(read)?, next))) {
            return Ok(is_it(code) && next.duration_since(at) < interval);
        }
        loop {
            // What waits in the terminal already is read even when the time is over.
            let left = (at + interval).saturating_duration_since(self.source.now());
            let Some(read) = self.source.next(Some(left))? else {
                return Ok(false);
            };
            let (code, next) = (pressed(&read), self.source.now());
            self.ahead.push_back((read, next));
            if let Some(code) = code {
                return Ok(is_it(code) && next.duration_since(at) < interval);
            }
            if left.is_zero() {
                return Ok(false);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use crossterm::event::KeyEvent;

    use super::*;

    /// Input, each with the milliseconds after what came before.
    struct Script {
        events: VecDeque<(u64, Read)>,
        now: Instant,
    }

    impl Source for Script {
        fn next(&mut self, timeout: Option<Duration>) -> io::Result<Option<Read>> {
            let Some((after, _)) = self.events.front_mut() else {
                return match timeout {
                    Some(_) => Ok(None),
                    None => Err(io::ErrorKind::UnexpectedEof.into()),
                };
            };
            let wait = Duration::from_millis(*after);
            if let Some(timeout) = timeout.filter(|timeout| *timeout < wait) {
                self.now += timeout;
                *after -= u64::try_from(timeout.as_millis()).unwrap();
                return Ok(None);
            }
            self.now += wait;
            Ok(self.events.pop_front().map(|(_, read)| read))
        }

        fn now(&self) -> Instant {
            self.now
        }
    }

    fn key(code: char, kind: KeyEventKind) -> Event {
        let key = KeyEvent::new_with_kind(KeyCode::Char(code), KeyModifiers::NONE, kind);
        Event::Key(key)
    }

    fn typed(keys: &str) -> VecDeque<Event> {
        keys.chars()
            .map(|code| key(code, KeyEventKind::Press))
            .collect()
    }

    /// The keys that come out, in upper case if they are part of a burst. Each group waits in the terminal as a whole.
    fn read(groups: Vec<VecDeque<Event>>) -> String {
        let events = groups.into_iter().flat_map(|group| {
            let first = [BURST_INTERVAL.as_millis()].into_iter();
            let after = first.chain(std::iter::repeat(0));
            let event = |(after, event)| (u64::try_from(after).unwrap(), Read::Event(event));
            after.zip(group).map(event).collect::<Vec<_>>()
        });
        out_of(events.collect())
    }

    /// The same, with `!` behind a key that is held.
    fn out_of(events: VecDeque<(u64, Read)>) -> String {
        let now = Instant::now();
        let mut reader = Reader::new(Script { events, now }, Keys::default());
        let mut out = String::new();
        while let Ok(input) = reader.next() {
            match input {
                Input::Key(key, press) => {
                    let code = key.code.as_char().unwrap();
                    out.push(if press.is_in_burst {
                        code.to_ascii_uppercase()
                    } else {
                        code
                    });
                    out.extend((press.is_held && !press.is_in_burst).then_some('!'));
                }
                Input::Terminal(_) => out.push('.'),
                other => panic!("{other:?}"),
            }
        }
        out
    }

    #[test]
    fn every_key_of_a_paste_is_known_as_one_also_the_first() {
        assert_eq!(read(vec![typed("aaaarrrr")]), "AAAARRRR");
        assert_eq!(read(vec![typed("ra"), typed("n")]), "RAn");
    }

    #[test]
    fn lines_that_come_together_are_a_paste_and_one_by_itself_is_none() {
        let (read, lines) = crossbeam_channel::unbounded();
        let began = Instant::now();
        for (line, after) in [("a", 0), ("y", 1), ("n", 1000), ("a", 2000), ("y", 2119)] {
            let at = began + Duration::from_millis(after);
            read.send((line.to_owned(), at)).unwrap();
        }
        drop(read);
        let mut out = String::new();
        pace(&lines, |line, press| {
            out += &match press.is_in_burst {
                true => line.to_uppercase(),
                false => line,
            };
            true
        });
        assert_eq!(out, "AYnAY");
    }

    #[test]
    fn the_first_key_of_a_paste_is_known_as_one_wherever_what_it_decides_is() {
        for (keys, is_known) in [
            ("", false),
            ("accept = \"ö\"", true),
            ("keep = \"ö\"", true),
        ] {
            let key = |after| (after, Read::Event(key('ö', KeyEventKind::Press)));
            let script = Script {
                events: [key(500), key(1)].into(),
                now: Instant::now(),
            };
            let mut reader = Reader::new(script, Keys::read(keys).unwrap());
            let first = reader.next().unwrap();
            let is_paste = matches!(first, Input::Key(_, press) if press.is_in_burst);
            assert_eq!(is_paste, is_known, "{keys}");
        }
    }

    #[test]
    fn keys_that_are_typed_one_after_the_other_are_none() {
        assert_eq!(read(vec![typed("a"), typed("r"), typed("n")]), "arn");
    }

    #[test]
    fn an_answer_of_the_terminal_is_no_key_and_makes_no_burst() {
        let bracket = KeyEvent::new(KeyCode::Char(']'), KeyModifiers::ALT);
        let mut events = VecDeque::from([Event::Key(bracket)]);
        events.extend(typed("11;rgb:1e1e/1e1e/1e1e\\"));
        events.extend(typed("a"));
        assert_eq!(read(vec![events]), "a");
    }

    #[test]
    fn no_character_of_an_answer_is_typed_however_late_its_parts_come() {
        for answer in [
            "\x1b]11;rgb:1e1e/1e1e/1e1e\x1b\\",
            "\x1b]10;rgb:ffff/ffff/ffff\x07\x1b]11;rgb:0000/0000/0000\x07",
            "\x1b[?62;22c",
            "\x1b[7;31R",
            "\x1b[?3u",
        ] {
            for (first, second) in
                (0..answer.len()).flat_map(|at| [(at, at + 1), (at, answer.len())])
            {
                let ends = [0, first, second.min(answer.len()), answer.len()];
                let mut decoder = decode::Decoder::default();
                let mut events = VecDeque::new();
                for part in ends.windows(2) {
                    decoder.push(&answer.as_bytes()[part[0]..part[1]]);
                    while let Some(read) = decoder.next(Duration::ZERO) {
                        events.push_back((0, read));
                    }
                    while let Some(read) = decoder.next(decode::ESCAPE_TIMEOUT) {
                        events.push_back((50, read));
                    }
                }
                events.push_back((500, Read::Event(key('x', KeyEventKind::Press))));
                let now = Instant::now();
                let mut reader = Reader::new(Script { events, now }, Keys::default());
                let mut keys = Vec::new();
                while let Ok(input) = reader.next() {
                    keys.extend(match input {
                        Input::Key(key, _) => Some(key.code),
                        _ => None,
                    });
                }
                // An escape that comes alone cannot be told from the key.
                keys.retain(|code| *code != KeyCode::Esc);
                assert_eq!(keys, [KeyCode::Char('x')], "{answer:?} {ends:?}");
            }
        }
    }

    /// What comes out: text that was pasted in `<>`, and keys, with `!` if they decide nothing.
    fn shown(events: impl IntoIterator<Item = (u64, Read)>) -> String {
        let events = events.into_iter().collect();
        let now = Instant::now();
        let mut reader = Reader::new(Script { events, now }, Keys::default());
        let mut out = String::new();
        while let Ok(input) = reader.next() {
            match input {
                Input::Terminal(Event::Paste(text)) => out += &format!("<{text}>"),
                Input::Key(key, press) => {
                    out.extend(key.code.as_char());
                    out.extend(press.is_no_decision().then_some('!'));
                }
                other => panic!("{other:?}"),
            }
        }
        out
    }

    fn each_after(pause: u64, keys: &str) -> Vec<(u64, Read)> {
        let keys = typed(keys).into_iter();
        keys.map(|key| (pause, Read::Event(key))).collect()
    }

    #[test]
    fn what_follows_the_mark_of_its_end_in_a_paste_is_pasted() {
        let bytes = b"\x1b[200~x\x1b[201~a\x1b\r\x1a\x1b[Be\x1b]1a\x1b[201~";
        for at in b"\x1b[200~x".len()..bytes.len() {
            let mut decoder = decode::Decoder::default();
            let mut events = Vec::new();
            for (after, part) in [(5_000, &bytes[..at]), (100, &bytes[at..])] {
                decoder.push(part);
                let mut after = after;
                while let Some(read) = decoder.next(Duration::ZERO) {
                    events.push((std::mem::take(&mut after), read));
                }
            }
            events.extend(each_after(121, "n"));
            events.extend(each_after(500, "a"));
            assert_eq!(shown(events), "<x><a><\n><e><1><a>na", "{at}");
        }
    }

    #[test]
    fn a_long_paste_hides_no_key_behind_the_mark_of_its_end_either() {
        let mut decoder = decode::Decoder::default();
        let text = "x".repeat(100_000);
        decoder.push(format!("\x1b[200~{text}\x1b[201~{text}a\x1b[201~").as_bytes());
        let reads = std::iter::from_fn(|| decoder.next(Duration::ZERO));
        let out = shown(reads.map(|read| (5, read)));
        assert!(out.ends_with("<x><x><a>") && !out.contains('!'));
    }

    #[test]
    fn what_is_typed_after_a_bracket_with_alt_is_not_eaten() {
        for text in ["12 apples", "0;def", "10; a bad face", "]10;abc", "abc"] {
            for pause in [121, 1_000] {
                let bracket = KeyEvent::new(KeyCode::Char(']'), KeyModifiers::ALT);
                let mut events = vec![(5_000, Read::Event(Event::Key(bracket)))];
                events.extend(each_after(pause, text));
                assert_eq!(shown(events), format!("]!{text}"), "{pause}");
            }
        }
        // Without a pause it may still be an answer, and so decides nothing.
        let quick = |keys: &str| {
            let bracket = KeyEvent::new(KeyCode::Char(']'), KeyModifiers::ALT);
            let mut events = vec![(5_000, Read::Event(Event::Key(bracket)))];
            events.extend(each_after(80, keys));
            shown(events)
        };
        assert_eq!(quick("12 oranges"), "]!1!2! oranges");
        assert_eq!(quick("10;a"), "]!1!0!;!a!");
        // What follows an escape is no answer a pause later.
        let mut events = vec![(5_000, Read::Event(Event::Key(KeyCode::Esc.into())))];
        events.extend(each_after(121, "]1"));
        assert_eq!(shown(events), "]1");
    }

    #[test]
    fn neither_the_release_of_a_key_nor_another_size_makes_a_burst() {
        let mut events = typed("a");
        events.push_back(key('n', KeyEventKind::Release));
        events.push_back(Event::Resize(80, 24));
        assert_eq!(read(vec![events]), "a.");
    }

    fn at(times: &[u64], kind: KeyEventKind) -> Vec<(u64, Read)> {
        let key = |after: &u64| (*after, Read::Event(key('a', kind)));
        times.iter().map(key).collect()
    }

    #[test]
    fn a_held_key_is_one_press_whenever_it_begins_to_repeat() {
        for silence in [200, 250, 500, 660, 1_000] {
            for interval in [25, 33, 100, 119] {
                let mut times = vec![5_000, silence];
                times.extend([interval; 8]);
                let out = out_of(at(&times, KeyEventKind::Press).into());
                assert_eq!(out, format!("a{}", "a!".repeat(9)), "{silence} {interval}");
            }
        }
    }

    #[test]
    fn a_held_key_stays_one_press_where_its_repeats_come_late() {
        for gap in [130, 400, 699] {
            let times = [5_000, 500, 30, 30, gap, 30, gap, gap];
            let out = out_of(at(&times, KeyEventKind::Press).into());
            assert_eq!(out, format!("a{}", "a!".repeat(7)), "{gap}");
        }
        let out = out_of(at(&[5_000, 30, 700, 900], KeyEventKind::Press).into());
        assert_eq!(out, "aa!aa", "released");
    }

    #[test]
    fn taps_are_presses_however_steady_they_are() {
        for interval in [120, 200, 400, 650, 900] {
            let out = out_of(at(&[interval; 9], KeyEventKind::Press).into());
            assert_eq!(out, "a".repeat(9), "{interval}");
        }
    }

    #[test]
    fn a_terminal_that_reports_releases_is_believed() {
        let mut events = VecDeque::new();
        for _ in 0..3 {
            events.extend(at(&[90], KeyEventKind::Press));
            events.extend(at(&[20], KeyEventKind::Release));
        }
        events.extend(at(&[90], KeyEventKind::Press));
        events.extend(at(&[500, 33, 33], KeyEventKind::Repeat));
        events.extend(at(&[20], KeyEventKind::Release));
        assert_eq!(out_of(events), "aaaaa!a!a!");
    }

    #[test]
    fn an_answer_about_the_cursor_is_no_key_and_makes_no_burst() {
        let mark = Mark::default();
        let (row, column) = mark.place();
        let mut reader = Reader::new(
            Script {
                events: [
                    (50, Read::Event(key('a', KeyEventKind::Press))),
                    (0, Read::Cursor(row, column)),
                ]
                .into(),
                now: Instant::now(),
            },
            Keys::default(),
        );
        let first = reader.next().unwrap();
        assert!(matches!(first, Input::Key(_, press) if !press.is_in_burst));
        let second = reader.next().unwrap();
        assert!(matches!(second, Input::Event(app::Event::Answered(of, _)) if of == mark));
    }
}
