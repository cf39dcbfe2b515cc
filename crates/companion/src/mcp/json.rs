//! Reads and writes texts in JSON a block of bytes at a time: agents send and receive whole files, with an
//! escape every few bytes.

use std::array;

use serde_json::{Deserializer, Map, Value};

/// The depth to which objects are read here: a message, its parameters, and their arguments.
const DEPTH: u32 = 3;

/// From this length on, memory is taken for all that may follow in a text.
const LONG: usize = 64 * 1024;

/// The number of bytes that are examined together.
pub(super) const BLOCK: usize = 64;

/// Most runs between two escapes are no longer than this.
const SHORT: usize = BLOCK / 2;

/// A block that is examined, and enough after it to copy as many bytes from any place in it.
pub(super) type Window = [u8; 2 * BLOCK];

/// Marks the bytes of the block that JSON writes in another way, the first in the lowest bit. Counting its zeros leads to them
/// one by one, where a branch for each byte would be mispredicted.
pub(super) fn escaped_bytes(window: &Window) -> u64 {
    /// Moves the lowest bit of each byte into the highest byte.
    const GATHER: u64 = 0x0102_0408_1020_4080;
    let is_escaped: [u8; BLOCK] = array::from_fn(|at| {
        let byte = window[at];
        u8::from((byte < b' ') | (byte == b'"') | (byte == b'\\'))
    });
    let (words, _) = is_escaped.as_chunks();
    words.iter().enumerate().fold(0, |bits, (at, word)| {
        bits | (u64::from_le_bytes(*word).wrapping_mul(GATHER) >> 56) << (8 * at)
    })
}

/// Appends the bytes from `start` up to `end` to `out`: each is a place in the block, or its end.
pub(super) fn append_plain(out: &mut Vec<u8>, window: &Window, start: usize, end: usize) {
    let block: &[u8; BLOCK] = window[start..]
        .first_chunk()
        .expect("a block follows each byte of a block");
    let length = end - start;
    match block.first_chunk::<SHORT>() {
        Some(short) if length <= SHORT => append(out, short, length),
        _ => append(out, block, length),
    }
}

/// Writes the first bytes of these to the end of `out`: quicker than writing no others.
pub(super) fn append<const N: usize>(out: &mut Vec<u8>, bytes: &[u8; N], length: usize) {
    out.extend_from_slice(bytes);
    out.truncate(out.len() - N + length);
}

/// Reads one value, as agents usually write it: without `\u`, and with no name twice. Nothing otherwise:
/// `serde_json` knows what it is, or what is wrong with it.
pub(super) fn read(json: &[u8]) -> Option<Value> {
    let mut reader = Reader { rest: json };
    let value = reader.value(DEPTH)?;
    reader.peek().is_none().then_some(value)
}

struct Reader<'a> {
    rest: &'a [u8],
}

impl Reader<'_> {
    /// The next byte that is not white space.
    fn peek(&mut self) -> Option<u8> {
        while let [b' ' | b'\n' | b'\r' | b'\t', rest @ ..] = self.rest {
            self.rest = rest;
        }
        self.rest.first().copied()
    }

    /// Takes this byte, which has to come next.
    fn expect(&mut self, byte: u8) -> Option<()> {
        let is_next = self.peek()? == byte;
        self.rest = &self.rest[1..];
        is_next.then_some(())
    }

    fn value(&mut self, depth: u32) -> Option<Value> {
        match self.peek()? {
            b'"' => self.text().map(Value::String),
            b'{' if depth > 0 => self.object(depth - 1).map(Value::Object),
            _ => {
                let mut values = Deserializer::from_slice(self.rest).into_iter();
                let value = values.next()?.ok()?;
                self.rest = &self.rest[values.byte_offset()..];
                Some(value)
            }
        }
    }

    fn object(&mut self, depth: u32) -> Option<Map<String, Value>> {
        let mut object = Map::new();
        self.expect(b'{')?;
        if self.peek()? != b'}' {
            loop {
                let name = self.text()?;
                self.expect(b':')?;
                let is_new = object.insert(name, self.value(depth)?).is_none();
                if !is_new {
                    return None;
                }
                if self.peek()? == b'}' {
                    break;
                }
                self.expect(b',')?;
            }
        }
        self.expect(b'}')?;
        Some(object)
    }

    fn text(&mut self) -> Option<String> {
        self.expect(b'"')?;
        let mut text = Vec::new();
        while let Some(window) = self.rest.first_chunk() {
            if text.len() >= LONG && text.capacity() < text.len() + size_of::<Window>() {
                text.reserve_exact(self.rest.len());
            }
            let read = append_unescaped(&mut text, window)?;
            self.rest = &self.rest[read..];
            if read < BLOCK {
                break;
            }
        }
        loop {
            let (byte, rest) = match self.rest {
                [b'"', rest @ ..] => {
                    self.rest = rest;
                    break;
                }
                [b'\\', escaped, rest @ ..] => (UNESCAPED[usize::from(*escaped)]?, rest),
                [byte @ b' '..=0xff, rest @ ..] => (*byte, rest),
                _ => return None,
            };
            text.push(byte);
            self.rest = rest;
        }
        text.shrink_to_fit();
        String::from_utf8(text).ok()
    }
}

/// Appends what the block stands for to `text`. Returns how many bytes were read: a block, one more if an escape crosses
/// its end, fewer where the text ends; nothing if `serde_json` has to read it.
fn append_unescaped(text: &mut Vec<u8>, window: &Window) -> Option<usize> {
    let mut escaped = escaped_bytes(window);
    let mut read = 0;
    while escaped != 0 {
        let next = escaped.trailing_zeros() as usize;
        append_plain(text, window, read, next);
        match window[next] {
            b'"' => return Some(next),
            b'\\' => text.push(UNESCAPED[usize::from(window[next + 1])]?),
            _ => return None,
        }
        read = next + 2;
        if read >= BLOCK {
            return Some(read);
        }
        escaped &= u64::MAX << read;
    }
    append_plain(text, window, read, BLOCK);
    Some(BLOCK)
}

/// The byte that each byte after a backslash stands for: looked up, for a branch would be mispredicted.
static UNESCAPED: [Option<u8>; 256] = {
    let mut table = [None; 256];
    let escapes = [
        (b'"', b'"'),
        (b'\\', b'\\'),
        (b'/', b'/'),
        (b'b', 0x08),
        (b'f', 0x0c),
        (b'n', b'\n'),
        (b'r', b'\r'),
        (b't', b'\t'),
    ];
    let mut at = 0;
    while at < escapes.len() {
        let (escaped, byte) = escapes[at];
        table[escaped as usize] = Some(byte);
        at += 1;
    }
    table
};

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn what_is_read_is_what_serde_json_reads(json in "([{}\\[\\]:, \n\u{c}]|\"([ -!#-~é\u{1f600}]|\\\\[\"\\\\/bfnrtu])*\"|\"[ab]\"|-?[0-9.e]{1,3}|true|null)*") {
            if let Some(value) = read(json.as_bytes()) {
                prop_assert_eq!(serde_json::from_str::<Value>(&json).unwrap(), value);
            }
        }

        #[test]
        fn messages_are_read(text in "(\\PC|[\u{7f}\n\r\t\u{8}\u{c}\"\\\\\u{2028}]|[a-z]{12,40})*", number: i32) {
            let message = serde_json::json!({
                "jsonrpc": "2.0", "id": number, "params": {"arguments": {&text: &text, "list": [&text, null, {}]}, "none": {}},
            });
            for json in [serde_json::to_vec(&message), serde_json::to_vec_pretty(&message)] {
                prop_assert_eq!(read(&json.unwrap()), Some(message.clone()));
            }
        }
    }

    #[test]
    fn an_escape_is_read_and_the_text_ends_anywhere_in_a_block() {
        for escape in ["\"", "\\", "\n", "\\\"", "é\t"] {
            for before in 0..2 * BLOCK {
                for after in [0, 1, BLOCK - 1, BLOCK, 3 * BLOCK] {
                    let text = "a".repeat(before) + escape + &"b".repeat(after);
                    for follows in ["", &"n".repeat(3 * BLOCK)] {
                        let json = serde_json::to_vec(&[&text, follows]).unwrap();
                        let mut reader = Reader { rest: &json[1..] };
                        assert_eq!(reader.text().as_deref(), Some(&*text));
                        assert_eq!(reader.rest, format!(",\"{follows}\"]").as_bytes());
                    }
                }
            }
        }
    }

    #[test]
    fn a_whole_file_is_read() {
        let text = "\tlet a = \"é\";\r\n".repeat(LONG / 10);
        let json = serde_json::to_vec(&text).unwrap();
        assert_eq!(read(&json), Some(Value::String(text)));
    }

    #[test]
    fn what_is_unusual_or_wrong_is_left_to_serde_json_anywhere_in_a_block() {
        for bad in ["\n", "\u{1f}", "\\x", "\\u0041"] {
            for before in [0, BLOCK - 2, BLOCK - 1, BLOCK] {
                let json = format!("\"{}{bad}{}\"", "a".repeat(before), "b".repeat(3 * BLOCK));
                assert_eq!(read(json.as_bytes()), None, "{json:?}");
            }
        }
    }

    #[test]
    fn what_is_unusual_or_wrong_is_left_to_serde_json() {
        for json in [
            &b""[..],
            b"{",
            b"\"",
            b"\"\\",
            b"\"\\\"",
            b"{\"a\"}",
            b"{\"a\":1,}",
            b"{,}",
            b"{}{}",
            b"\x0c{}",
            b"\"\n\"",
            b"\"12345678\x1f\"",
            b"\"\xff\"",
            b"\"12345678\xc3\"",
            br#""\x""#,
            br#""\u0041""#,
            br#"{"a":1,"a":2}"#,
            br#"{"a":01}"#,
            br#"{"a":[}"#,
        ] {
            assert_eq!(read(json), None, "{}", json.escape_ascii());
        }
    }
}
