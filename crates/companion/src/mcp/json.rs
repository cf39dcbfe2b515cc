//! Reads and writes texts in JSON sixteen bytes at a time: agents send and receive whole files, with an
//! escape every few bytes.

use serde_json::{Deserializer, Map, Value};

/// How deep objects are read here: a message, its parameters, and their arguments.
const DEPTH: u32 = 3;

/// From this length on, memory is taken for all that may follow in a text.
const LONG: usize = 64 * 1024;

/// How many bytes are examined together.
pub(super) const WORD: usize = size_of::<u128>();

/// How many of these bytes come before the first that JSON writes in another way.
pub(super) fn plain_bytes(word: [u8; WORD]) -> usize {
    const ONES: u128 = u128::MAX / 0xff;
    // Of the highest bits that are set, the lowest is that of the first byte below `limit`; those above it
    // may be wrong.
    let below = |word: u128, limit: u128| word.wrapping_sub(ONES * limit) & !word & (ONES << 7);
    let word = u128::from_le_bytes(word);
    let is = |byte: u8| below(word ^ (ONES * u128::from(byte)), 1);
    let escaped = below(word, 0x20) | is(b'"') | is(b'\\');
    escaped.trailing_zeros() as usize / 8
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
        loop {
            if let Some(word) = self.rest.first_chunk() {
                if text.len() >= LONG && text.capacity() < text.len() + WORD {
                    text.reserve_exact(self.rest.len());
                }
                let plain = plain_bytes(*word);
                append(&mut text, word, plain);
                self.rest = &self.rest[plain..];
                if plain == WORD {
                    continue;
                }
            }
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

/// What each byte after a backslash stands for: looked up, for a branch would be mispredicted.
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
    fn a_whole_file_is_read() {
        let text = "\tlet a = \"é\";\r\n".repeat(LONG / 10);
        let json = serde_json::to_vec(&text).unwrap();
        assert_eq!(read(&json), Some(Value::String(text)));
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
