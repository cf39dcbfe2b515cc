//! The bytes of a terminal as keys and answers. Our own, because crossterm's reader drops the answers that say what
//! was on the screen. A state machine, without a terminal.

use std::time::Duration;

use crossterm::event::{
    Event, KeyCode, KeyEvent, KeyEventKind, KeyModifiers, MouseButton, MouseEvent, MouseEventKind,
};

use super::TOGETHER;

/// The rest of a key that began with an escape comes within this time.
pub const ESCAPE_TIMEOUT: Duration = Duration::from_millis(25);

/// No key and no answer has more bytes than this.
const MAX_SEQUENCE: usize = 64;

/// No more bytes of a paste are taken in: more than the words for an agent may have.
const MAX_PASTE: usize = 64 * 1_024;

/// The bits for Shift, Alt and Control beside a button of the mouse.
const MOUSE_KEYS: u16 = 4 | 8 | 16;

/// The end of a paste that the terminal marks.
const PASTE_END: &[u8] = b"\x1b[201~";

/// Input that a terminal sends.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Read {
    /// A key, a paste or another size.
    Event(Event),
    /// The cursor is in this row and column, from 1.
    Cursor(u16, u16),
    /// The terminal can report when keys are released.
    KnowsReleases,
}

/// Turns bytes into what they mean.
#[derive(Debug, Default)]
pub struct Decoder {
    bytes: Vec<u8>,
    /// What was pasted so far, as long as the paste has not ended.
    paste: Option<Vec<u8>>,
    /// An escape came alone: what follows may be the rest of an answer.
    is_split: bool,
}

/// The meaning of the beginning of some bytes.
enum Step {
    /// More bytes are needed to tell.
    Wait,
    /// So many bytes mean this, or nothing.
    Take(usize, Option<Read>),
}

impl Decoder {
    /// More bytes came.
    pub fn push(&mut self, bytes: &[u8]) {
        self.bytes.extend_from_slice(bytes);
    }

    /// Returns true if it waits for the rest of something.
    pub fn is_waiting(&self) -> bool {
        (!self.bytes.is_empty() || self.is_split) && self.paste.is_none()
    }

    /// The next thing, after nothing has followed for so long.
    pub fn next(&mut self, silence: Duration) -> Option<Read> {
        self.is_split &= silence < TOGETHER;
        loop {
            if let Some(paste) = &mut self.paste {
                let at = find(&self.bytes, PASTE_END);
                // The last bytes may be the beginning of its end.
                let unclear = self.bytes.len().saturating_sub(PASTE_END.len() - 1);
                let pasted = self.bytes.drain(..at.unwrap_or(unclear));
                let room = MAX_PASTE - paste.len();
                paste.extend(pasted.take(room));
                at?;
                let text = String::from_utf8_lossy(paste).into_owned();
                self.bytes.drain(..PASTE_END.len());
                self.paste = None;
                return Some(Read::Event(Event::Paste(text)));
            }
            if self.bytes.is_empty() {
                return None;
            }
            if std::mem::take(&mut self.is_split) && self.bytes[0] == b'[' {
                self.bytes.insert(0, b'\x1b');
            }
            let is_escape = self.bytes == b"\x1b";
            let Step::Take(count, read) = step(&self.bytes, silence) else {
                return None;
            };
            let is_paste = self.bytes.starts_with(b"\x1b[200~");
            self.paste = is_paste.then(Vec::new);
            self.is_split = is_escape;
            self.bytes.drain(..count);
            if read.is_some() {
                return read;
            }
        }
    }
}

fn find(bytes: &[u8], what: &[u8]) -> Option<usize> {
    bytes.windows(what.len()).position(|part| part == what)
}

fn step(bytes: &[u8], silence: Duration) -> Step {
    let is_over = silence >= ESCAPE_TIMEOUT;
    match bytes {
        [b'\x1b'] if is_over => key(1, KeyCode::Esc),
        [b'\x1b'] => Step::Wait,
        [b'\x1b', b'O'] if !is_over => Step::Wait,
        [b'\x1b', b'[', rest @ ..] => match sequence(rest) {
            // An answer would have gone on: it was a person's `[` with Alt.
            Step::Wait if silence >= TOGETHER => with_alt(b"[", is_over),
            step => step,
        },
        [b'\x1b', b'O', code, ..] => Step::Take(3, named(*code).map(pressed)),
        [b'\x1b', b'\x1b', ..] => key(1, KeyCode::Esc),
        [b'\x1b', rest @ ..] => with_alt(rest, is_over),
        _ => plain(bytes, is_over),
    }
}

/// A key that follows an escape.
fn with_alt(rest: &[u8], is_over: bool) -> Step {
    match plain(rest, is_over) {
        Step::Take(count, Some(Read::Event(Event::Key(mut key)))) => {
            key.modifiers |= KeyModifiers::ALT;
            Step::Take(count + 1, Some(Read::Event(Event::Key(key))))
        }
        Step::Take(count, read) => Step::Take(count + 1, read),
        Step::Wait => Step::Wait,
    }
}

fn key(count: usize, code: KeyCode) -> Step {
    Step::Take(count, Some(pressed(code)))
}

fn pressed(code: KeyCode) -> Read {
    Read::Event(Event::Key(code.into()))
}

/// A key that sends one character.
fn plain(bytes: &[u8], is_over: bool) -> Step {
    let control = |char: u8| {
        let key = KeyEvent::new(KeyCode::Char(char.into()), KeyModifiers::CONTROL);
        Step::Take(1, Some(Read::Event(Event::Key(key))))
    };
    match bytes[0] {
        b'\r' => key(1, KeyCode::Enter),
        b'\t' => key(1, KeyCode::Tab),
        b'\x7f' => key(1, KeyCode::Backspace),
        0 => control(b' '),
        byte @ 1..=26 => control(byte - 1 + b'a'),
        byte @ 0x1c..=0x1f => control(byte - 0x1c + b'4'),
        _ => character(bytes, is_over),
    }
}

fn character(bytes: &[u8], is_over: bool) -> Step {
    let head = &bytes[..bytes.len().min(4)];
    let valid = match std::str::from_utf8(head) {
        Ok(text) => text,
        Err(error) => {
            if error.valid_up_to() == 0 && error.error_len().is_none() && !is_over {
                return Step::Wait;
            }
            std::str::from_utf8(&head[..error.valid_up_to()]).unwrap_or_default()
        }
    };
    match valid.chars().next() {
        Some(char) => {
            let read = Read::Event(Event::Key(typed(char, KeyModifiers::NONE)));
            Step::Take(char.len_utf8(), Some(read))
        }
        None => Step::Take(1, None),
    }
}

fn typed(char: char, mut modifiers: KeyModifiers) -> KeyEvent {
    // What a terminal reports with the key's own character is not what the key types.
    let char = match modifiers.contains(KeyModifiers::SHIFT) {
        true => char.to_ascii_uppercase(),
        false => char,
    };
    modifiers.set(KeyModifiers::SHIFT, char.is_uppercase());
    KeyEvent::new(KeyCode::Char(char), modifiers)
}

/// The meaning of what follows `ESC [`.
fn sequence(rest: &[u8]) -> Step {
    if let [b'[', code, ..] = rest {
        // Function keys of the Linux console.
        let number = code.checked_sub(b'A').filter(|number| *number < 5);
        return Step::Take(4, number.map(|number| pressed(KeyCode::F(1 + number))));
    }
    let is_inner = |byte: &u8| (0x20..0x40).contains(byte);
    let inner = rest.iter().take_while(|byte| is_inner(byte)).count();
    let Some(last) = rest.get(inner).filter(|_| rest != b"[") else {
        return match rest.len() < MAX_SEQUENCE {
            true => Step::Wait,
            false => Step::Take(2 + rest.len(), None),
        };
    };
    if !(0x40..0x7f).contains(last) {
        // Something else begins here.
        return Step::Take(2 + inner, None);
    }
    Step::Take(3 + inner, meaning(&rest[..inner], *last))
}

fn meaning(inner: &[u8], last: u8) -> Option<Read> {
    let inner = std::str::from_utf8(inner).ok()?;
    if inner.starts_with('?') {
        return (last == b'u').then_some(Read::KnowsReleases);
    }
    if let Some(mouse) = inner.strip_prefix('<') {
        return of_mouse(mouse, last == b'M').map(|mouse| Read::Event(Event::Mouse(mouse)));
    }
    let mut numbers = inner.split(';');
    let first: u32 = numbers
        .next()
        .and_then(|number| number.split(':').next())
        .and_then(|number| number.parse().ok())
        .unwrap_or(1);
    let second = numbers.next().unwrap_or_default();
    if last == b'R' {
        return Some(Read::Cursor(first.try_into().ok()?, second.parse().ok()?));
    }
    let (mask, kind) = second.split_once(':').unwrap_or((second, "1"));
    let modifiers = modifiers(mask.parse::<u8>().unwrap_or(1).saturating_sub(1));
    let key = match last {
        b'u' => of_code(char::from_u32(first)?, modifiers)?,
        b'~' => KeyEvent::new(numbered(first)?, modifiers),
        b'Z' => KeyEvent::new(KeyCode::BackTab, KeyModifiers::SHIFT),
        _ => KeyEvent::new(named(last)?, modifiers),
    };
    let kind = match kind {
        "2" => KeyEventKind::Repeat,
        "3" => KeyEventKind::Release,
        _ => KeyEventKind::Press,
    };
    Some(Read::Event(Event::Key(KeyEvent { kind, ..key })))
}

/// What the mouse did: its button, with bits for movement and keys, and the column and row from 1.
fn of_mouse(inner: &str, is_pressed: bool) -> Option<MouseEvent> {
    let mut numbers = inner.split(';').map(|number| number.parse::<u16>().ok());
    let (button, column, row) = (numbers.next()??, numbers.next()??, numbers.next()??);
    let left = MouseButton::Left;
    let kind = match (button & !MOUSE_KEYS, is_pressed) {
        (0, true) => MouseEventKind::Down(left),
        (0 | 32, false) => MouseEventKind::Up(left),
        (32, true) => MouseEventKind::Drag(left),
        (64, true) => MouseEventKind::ScrollUp,
        (65, true) => MouseEventKind::ScrollDown,
        (66, true) => MouseEventKind::ScrollLeft,
        (67, true) => MouseEventKind::ScrollRight,
        _ => return None,
    };
    Some(MouseEvent {
        kind,
        column: column.checked_sub(1)?,
        row: row.checked_sub(1)?,
        modifiers: KeyModifiers::NONE,
    })
}

/// The modifiers of a sequence.
fn modifiers(mask: u8) -> KeyModifiers {
    let pairs = [
        (1, KeyModifiers::SHIFT),
        (2, KeyModifiers::ALT),
        (4, KeyModifiers::CONTROL),
        (8, KeyModifiers::SUPER),
    ];
    let set = pairs.into_iter().filter(|(bit, _)| mask & bit != 0);
    set.map(|(_, one)| one).collect()
}

/// A key that is reported with the number of its character.
fn of_code(char: char, modifiers: KeyModifiers) -> Option<KeyEvent> {
    let code = match char {
        '\u{1b}' => KeyCode::Esc,
        '\r' => KeyCode::Enter,
        '\t' if modifiers.contains(KeyModifiers::SHIFT) => KeyCode::BackTab,
        '\t' => KeyCode::Tab,
        '\u{7f}' => KeyCode::Backspace,
        // Keys without a character, such as Shift alone.
        '\u{e000}'..='\u{f8ff}' => return None,
        char => return Some(typed(char, modifiers)),
    };
    Some(KeyEvent::new(code, modifiers))
}

fn named(code: u8) -> Option<KeyCode> {
    Some(match code {
        b'A' => KeyCode::Up,
        b'B' => KeyCode::Down,
        b'C' => KeyCode::Right,
        b'D' => KeyCode::Left,
        b'F' => KeyCode::End,
        b'H' => KeyCode::Home,
        b'P'..=b'S' => KeyCode::F(1 + code - b'P'),
        _ => return None,
    })
}

fn numbered(number: u32) -> Option<KeyCode> {
    Some(match number {
        1 | 7 => KeyCode::Home,
        2 => KeyCode::Insert,
        3 => KeyCode::Delete,
        4 | 8 => KeyCode::End,
        5 => KeyCode::PageUp,
        6 => KeyCode::PageDown,
        11 => KeyCode::F(1),
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The outcome of these parts, each of which is followed by a silence.
    fn read(parts: &[&[u8]]) -> Vec<Read> {
        read_after(ESCAPE_TIMEOUT, parts)
    }

    fn read_after(silence: Duration, parts: &[&[u8]]) -> Vec<Read> {
        let mut decoder = Decoder::default();
        let mut all = Vec::new();
        for part in parts {
            decoder.push(part);
            while let Some(read) = decoder.next(Duration::ZERO) {
                all.push(read);
            }
            while let Some(read) = decoder.next(silence) {
                all.push(read);
            }
        }
        all
    }

    fn keys(codes: &[KeyCode]) -> Vec<Read> {
        codes.iter().copied().map(pressed).collect()
    }

    fn of(char: char, kind: KeyEventKind) -> Read {
        let key = KeyEvent::new_with_kind(KeyCode::Char(char), KeyModifiers::NONE, kind);
        Read::Event(Event::Key(key))
    }

    #[test]
    fn keys_of_all_terminals_are_read() {
        use KeyCode::{Char, Down, End, Enter, Esc, F, Home, Left, PageDown, PageUp, Tab, Up};
        let bytes = b"a\r\t\x1bOA\x1b[B\x1b[5~\x1b[6~\x1b[H\x1b[4~\x1b[[A\x1b[11~\x1bOD \xc3\xa9";
        let codes = [
            Char('a'),
            Enter,
            Tab,
            Up,
            Down,
            PageUp,
            PageDown,
            Home,
            End,
            F(1),
            F(1),
            Left,
            Char(' '),
            Char('é'),
        ];
        assert_eq!(read(&[bytes]), keys(&codes));
        assert_eq!(read(&[b"\x1b"]), keys(&[Esc]));
        assert_eq!(read(&[b"\x1b\x1b", b"n"]), keys(&[Esc, Esc, Char('n')]));
        let with = |char, modifiers| {
            vec![Read::Event(Event::Key(KeyEvent::new(
                Char(char),
                modifiers,
            )))]
        };
        assert_eq!(read(&[b"\x03"]), with('c', KeyModifiers::CONTROL));
        assert_eq!(read(&[b"\x1b]"]), with(']', KeyModifiers::ALT));
        assert_eq!(read(&[b"G"]), with('G', KeyModifiers::SHIFT));
        assert_eq!(read(&[b"\x1b[103;2u"]), with('G', KeyModifiers::SHIFT));
        assert_eq!(read(&[b"\x1b[99;5u"]), with('c', KeyModifiers::CONTROL));
    }

    #[test]
    fn an_answer_is_no_key_however_it_is_split() {
        let bytes = b"\x1b[7;31Ra\x1b[?0u\x1b[0n";
        let expected = vec![
            Read::Cursor(7, 31),
            of('a', KeyEventKind::Press),
            Read::KnowsReleases,
        ];
        assert_eq!(read(&[bytes]), expected);
        for at in 2..bytes.len() {
            let (one, other) = bytes.split_at(at);
            if one.ends_with(b"\x1b") {
                continue;
            }
            assert_eq!(read(&[one, other]), expected, "{at}");
        }
        // An escape that came alone is a key; the rest is still an answer.
        let split = read(&[b"\x1b", b"[7;31R"]);
        assert_eq!(split, [pressed(KeyCode::Esc), Read::Cursor(7, 31)]);
    }

    #[test]
    fn what_is_typed_a_pause_after_a_bracket_with_alt_is_not_eaten() {
        let bracket = KeyEvent::new(KeyCode::Char('['), KeyModifiers::ALT);
        let with_alt = Read::Event(Event::Key(bracket));
        let and = |text: &str| {
            let typed = text.chars().map(|char| of(char, KeyEventKind::Press));
            std::iter::once(with_alt.clone())
                .chain(typed)
                .collect::<Vec<_>>()
        };
        for (parts, text) in [
            (&[&b"\x1b["[..], b"abc"][..], "abc"),
            (&[b"\x1b[12", b" apples"], "12 apples"),
            (&[b"\x1b[[", b"A"], "[A"),
        ] {
            assert_eq!(read_after(TOGETHER, parts), and(text));
        }
        // Nor is what follows an escape.
        let mut after_escape = keys(&[KeyCode::Esc]);
        after_escape.extend("[abc".chars().map(|char| of(char, KeyEventKind::Press)));
        assert_eq!(read_after(TOGETHER, &[b"\x1b", b"[abc"]), after_escape);
    }

    #[test]
    fn the_mouse_is_no_key() {
        let bytes = b"\x1b[<0;3;2Ma\x1b[<32;4;2M\x1b[<0;4;2m\x1b[<65;1;1M\x1b[<35;1;1M\x1b[<0;0;1M\x1b[<;1;1M";
        let mouse = |kind, column, row| {
            Read::Event(Event::Mouse(MouseEvent {
                kind,
                column,
                row,
                modifiers: KeyModifiers::NONE,
            }))
        };
        let left = MouseButton::Left;
        let expected = [
            mouse(MouseEventKind::Down(left), 2, 1),
            of('a', KeyEventKind::Press),
            mouse(MouseEventKind::Drag(left), 3, 1),
            mouse(MouseEventKind::Up(left), 3, 1),
            mouse(MouseEventKind::ScrollDown, 0, 0),
        ];
        assert_eq!(read(&[bytes]), expected);
    }

    #[test]
    fn a_key_says_whether_it_is_pressed_held_or_released() {
        let bytes = b" \x1b[32;1:2u\x1b[32;1:3u\x1b[57441;2:3u";
        let expected = [
            of(' ', KeyEventKind::Press),
            of(' ', KeyEventKind::Repeat),
            of(' ', KeyEventKind::Release),
        ];
        assert_eq!(read(&[bytes]), expected);
    }

    #[test]
    fn a_paste_is_one_thing_whatever_is_in_it() {
        let paste = |text: &str| Read::Event(Event::Paste(text.to_owned()));
        let expected = [
            paste("v[0]; é\r\x1b[Arrr"),
            paste(""),
            of('n', KeyEventKind::Press),
        ];
        let bytes = "\x1b[200~v[0]; é\r\x1b[Arrr\x1b[201~\x1b[200~\x1b[201~n".as_bytes();
        assert_eq!(read(&[bytes]), expected);
        for at in 2..bytes.len() {
            let (one, other) = bytes.split_at(at);
            let is_cut = one.ends_with(b"\x1b") && other.starts_with(b"[200~");
            let expected = match is_cut {
                // What comes alone is a key.
                true => [&expected[..1], &[pressed(KeyCode::Esc)], &expected[1..]].concat(),
                false => expected.to_vec(),
            };
            assert_eq!(read(&[one, other]), expected, "{at}");
        }
    }

    #[test]
    fn a_paste_without_an_end_fills_no_memory() {
        let mut decoder = Decoder::default();
        decoder.push(b"\x1b[200~");
        for _ in 0..100 {
            decoder.push(&[b'x'; 4_096]);
            assert_eq!(decoder.next(Duration::ZERO), None);
        }
        assert!(decoder.bytes.len() < PASTE_END.len());
        decoder.push(PASTE_END);
        let text = "x".repeat(MAX_PASTE);
        assert_eq!(
            decoder.next(Duration::ZERO),
            Some(Read::Event(Event::Paste(text)))
        );
    }

    #[test]
    fn bytes_of_any_kind_do_no_harm() {
        let mut decoder = Decoder::default();
        let mut seed = 1_u32;
        for _ in 0..200_000 {
            seed = seed.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            let byte = (seed >> 24) as u8;
            let byte = if byte < 0x60 {
                b"\x1b[[O?;:019u~R\xc3\xe2"[usize::from(byte) % 15]
            } else {
                byte
            };
            decoder.push(&[byte]);
            let silence = [Duration::ZERO, ESCAPE_TIMEOUT, TOGETHER][seed as usize % 3];
            while decoder.next(silence).is_some() {}
            assert!(decoder.bytes.len() <= 2 * MAX_SEQUENCE);
        }
    }
}
