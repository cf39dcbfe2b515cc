//! One message of the base protocol, read from a stream or written to one. The library's own reader
//! believes any `Content-Length` and quotes whole messages in its errors, and its writer holds a
//! second copy of each in memory; these do neither.
//!
//! The library's reader also refuses an answer that says `"error": null`, which some clients send.

use std::io::{self, BufRead, BufWriter, Read, Write};

use crossbeam_channel::Receiver;
use lsp_server::Message;
use pillion_protocol::json;
use pillion_text::fingerprint::Sum;
use serde::Serialize;
use serde_json::Value;

/// More than any text that can be reviewed, escaped.
const MAX_MESSAGE: u64 = 2 << 30;

/// All header lines of one message together.
const MAX_HEADER: u64 = 8 << 10;

/// The result of a read.
#[derive(Debug)]
pub enum Frame {
    /// A message, and how many bytes it has.
    Message(Message, usize),
    /// JSON that is not a request, a response or a notification.
    Other,
}

/// Why nothing that comes after can be trusted.
#[derive(Debug, thiserror::Error)]
pub enum Malformed {
    /// No `Name: value`, or too much of it.
    #[error("a header line of a message cannot be read")]
    Header,
    /// The header has no length.
    #[error("a message has no Content-Length")]
    NoLength,
    /// A message of this size does not exist.
    #[error("a message announces {0} bytes, more than the limit")]
    TooLong(u64),
    /// It is not UTF-8.
    #[error("a message is not UTF-8")]
    NotUtf8,
    /// It is not JSON. The content may be anything, so only the place is reported.
    #[error("a message is not JSON, starting at line {line}, column {column}")]
    NotJson {
        /// Counted from 1.
        line: usize,
        /// Counted from 1.
        column: usize,
    },
    /// The stream broke.
    #[error("cannot read what the editor sends")]
    Io(#[from] io::Error),
}

/// Reads one message; `None` at the end of the input, also in the middle of a message: that is
/// how an editor ends that is killed.
pub fn read(input: &mut impl BufRead) -> Result<Option<Frame>, Malformed> {
    let Some(length) = read_header(input)? else {
        return Ok(None);
    };
    // Memory is taken as bytes arrive, not as a header promises them.
    let mut body = Vec::new();
    input.take(length).read_to_end(&mut body)?;
    if (body.len() as u64) < length {
        return Ok(None);
    }
    parse(&body).map(Some)
}

/// Writes one message. It is quoted twice, once to learn its length: as text it may take six times
/// the memory that it has. With its sum, if whoever reads cannot know that nobody else has read some of it.
pub fn write(output: &mut impl Write, message: &Message, is_summed: bool) -> io::Result<()> {
    #[derive(Serialize)]
    struct JsonRpc<'a> {
        jsonrpc: &'static str,
        #[serde(flatten)]
        message: &'a Message,
    }
    let jsonrpc = "2.0";
    let message = JsonRpc { jsonrpc, message };
    let mut measure = Measure {
        length: 0,
        sum: is_summed.then(Sum::default),
    };
    serde_json::to_writer(&mut measure, &message)?;
    let Measure { length, sum } = measure;
    write!(output, "Content-Length: {length}\r\n")?;
    if let Some(sum) = sum {
        write!(output, "Content-Sum: {}\r\n", sum.hash())?;
    }
    output.write_all(b"\r\n")?;
    serde_json::to_writer(&mut *output, &message)?;
    output.flush()
}

/// Writes messages until nobody can send any more.
pub fn write_all(
    output: impl Write,
    messages: &Receiver<Message>,
    is_summed: bool,
) -> io::Result<()> {
    let mut output = BufWriter::new(output);
    messages
        .iter()
        .try_for_each(|message| write(&mut output, &message, is_summed))
}

/// Counts what is written to it, and sums it up.
struct Measure {
    length: usize,
    sum: Option<Sum>,
}

impl Write for Measure {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.length += bytes.len();
        if let Some(sum) = &mut self.sum {
            sum.add(bytes);
        }
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

fn read_header(input: &mut impl BufRead) -> Result<Option<u64>, Malformed> {
    let mut header = input.take(MAX_HEADER);
    let mut length = None;
    loop {
        let mut line = Vec::new();
        header.read_until(b'\n', &mut line)?;
        if line.pop() != Some(b'\n') {
            let is_end = header.limit() > 0;
            return is_end.then_some(None).ok_or(Malformed::Header);
        }
        let line = str::from_utf8(&line).map_err(|_| Malformed::Header)?;
        let line = line.strip_suffix('\r').unwrap_or(line);
        if line.is_empty() {
            return length.map(Some).ok_or(Malformed::NoLength);
        }
        let (name, value) = line.split_once(':').ok_or(Malformed::Header)?;
        if name.eq_ignore_ascii_case("Content-Length") {
            let value = value.trim().parse().map_err(|_| Malformed::Header)?;
            if value > MAX_MESSAGE {
                return Err(Malformed::TooLong(value));
            }
            length = Some(value);
        }
    }
}

fn parse(body: &[u8]) -> Result<Frame, Malformed> {
    let text = str::from_utf8(body).map_err(|_| Malformed::NotUtf8)?;
    match serde_json::from_str(text) {
        Ok(message) if !may_be_an_error(&message) => Ok(Frame::Message(message, text.len())),
        _ => parse_leniently(text),
    }
}

/// An answer without a result, which the library also makes of `"result": null` with an error.
fn may_be_an_error(message: &Message) -> bool {
    matches!(message, Message::Response(response)
        if matches!(&response.response_result, Ok(result) if result.is_null()))
}

fn parse_leniently(text: &str) -> Result<Frame, Malformed> {
    let value = json::of_others(text.as_bytes());
    let mut value: Value = value.map_err(|error| Malformed::NotJson {
        line: error.line(),
        column: error.column(),
    })?;
    // Some clients send `null` for the error, or the result, that they do not have.
    if let Some(fields) = value.as_object_mut() {
        fields.retain(|name, value| name != "error" || !value.is_null());
        let is_error = fields.contains_key("error");
        fields.retain(|name, value| name != "result" || !is_error || !value.is_null());
    }
    Ok(match serde_json::from_value(value) {
        Ok(message) => Frame::Message(message, text.len()),
        Err(_) => Frame::Other,
    })
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn read_all(mut bytes: &[u8]) -> Result<Vec<Frame>, Malformed> {
        let mut frames = Vec::new();
        while let Some(frame) = read(&mut bytes)? {
            frames.push(frame);
        }
        Ok(frames)
    }

    fn framed(body: &str) -> String {
        format!("Content-Length: {}\r\n\r\n{body}", body.len())
    }

    const NOTIFICATION: &str = r#"{"jsonrpc":"2.0","method":"é"}"#;

    #[test]
    fn messages_are_read_one_after_the_other() {
        let body = NOTIFICATION;
        let length = body.len();
        let input = format!(
            "{}content-length:{length}\nContent-Type: application/json\n\n{body}",
            framed(body)
        );
        let frames = read_all(input.as_bytes()).unwrap();
        assert_eq!(frames.len(), 2);
        for frame in frames {
            let Frame::Message(Message::Notification(notification), bytes) = frame else {
                panic!("{frame:?}");
            };
            assert_eq!((notification.method.as_str(), bytes), ("é", length));
        }
    }

    #[test]
    fn what_is_written_is_read_again() {
        let params = serde_json::json!({"text": "é\0\"\n\u{2028}"});
        let notification = lsp_server::Notification::new("m".to_owned(), &params);
        let mut written = Vec::new();
        write(&mut written, &notification.into(), false).unwrap();
        let frames = read_all(&written).unwrap();
        let [Frame::Message(Message::Notification(read), _)] = &frames[..] else {
            panic!("{frames:?}");
        };
        assert_eq!((read.method.as_str(), &read.params), ("m", &params));
        assert!(written.ends_with(b"}") && written.starts_with(b"Content-Length: "));
    }

    #[test]
    fn json_that_is_no_message_is_distinguished() {
        for body in [
            "[]",
            "5",
            "{}",
            r#"{"id":null,"error":{"code":1,"message":""}}"#,
        ] {
            let frames = read_all(framed(body).as_bytes()).unwrap();
            assert!(matches!(frames[..], [Frame::Other]), "{body}");
        }
    }

    #[test]
    fn an_answer_may_say_that_it_has_no_error() {
        let body = r#"{"error":null,"id":1,"jsonrpc":"2.0","result":{"content":""}}"#;
        let frames = read_all(framed(body).as_bytes()).unwrap();
        let [Frame::Message(Message::Response(response), _)] = &frames[..] else {
            panic!("{frames:?}");
        };
        assert!(response.response_result.is_ok());
    }

    #[test]
    fn an_error_is_one_also_with_a_result_of_null() {
        for body in [
            r#"{"id":1,"result":null,"error":{"code":1,"message":"no"}}"#,
            r#"{"error":{"code":1,"message":"no"},"id":1,"result":null}"#,
        ] {
            let frames = read_all(framed(body).as_bytes()).unwrap();
            let [Frame::Message(Message::Response(response), _)] = &frames[..] else {
                panic!("{frames:?}");
            };
            let error = response.response_result.as_ref().unwrap_err();
            assert_eq!(error.message, "no", "{body}");
        }
        let body = r#"{"id":1,"result":null,"error":null}"#;
        let frames = read_all(framed(body).as_bytes()).unwrap();
        assert!(
            matches!(&frames[..], [Frame::Message(Message::Response(response), _)]
            if response.response_result.is_ok())
        );
    }

    #[test]
    fn half_a_character_is_shown_as_one_that_cannot_be_read() {
        for (escaped, expected) in [
            (r"a\ud83d", "a\u{fffd}"),
            (r"\ude00\ud83d\ud83d\ude00z", "\u{fffd}\u{fffd}\u{1f600}z"),
            (r"\ud83dé\ud83d\n", "\u{fffd}é\u{fffd}\n"),
            (r"\\ud83d\uD83D", "\\ud83d\u{fffd}"),
        ] {
            let body = format!(r#"{{"method":"m","params":["{escaped}"]}}"#);
            let frames = read_all(framed(&body).as_bytes()).unwrap();
            let [Frame::Message(Message::Notification(notification), _)] = &frames[..] else {
                panic!("{frames:?}");
            };
            assert_eq!(notification.params[0], expected, "{body}");
        }
    }

    #[test]
    fn what_cannot_be_trusted_is_refused_without_quoting_it() {
        for (input, reason) in [
            ("hello\r\n\r\n".to_owned(), "header line"),
            ("Content-Length: x\r\n\r\n".to_owned(), "header line"),
            ("Content-Length: -1\r\n\r\n".to_owned(), "header line"),
            ("Content-Type: a\r\n\r\n{}".to_owned(), "no Content-Length"),
            ("\r\n".to_owned(), "no Content-Length"),
            (format!("A: {}", "b".repeat(9000)), "header line"),
            (
                "Content-Length: 99999999999999\r\n\r\n".to_owned(),
                "99999999999999 bytes",
            ),
            (framed("{\"secret\": secret}"), "line 1, column 12"),
            (framed(""), "not JSON"),
            (framed(&"[".repeat(100_000)), "not JSON"),
        ] {
            let error = read_all(input.as_bytes()).unwrap_err().to_string();
            assert!(error.contains(reason), "{error}");
            assert!(!error.contains("secret"), "{error}");
        }
        let error = read_all(b"Content-Length: 3\r\n\r\n\"\xff\"").unwrap_err();
        assert!(matches!(error, Malformed::NotUtf8));
    }

    #[test]
    fn an_end_anywhere_is_an_end() {
        let input = framed(NOTIFICATION);
        for end in 0..input.len() {
            let read = read(&mut &input.as_bytes()[..end]);
            assert!(matches!(read, Ok(None)), "{end}: {read:?}");
        }
        let promised = b"Content-Length: 2000000000\r\n\r\n{}";
        assert!(matches!(read(&mut &promised[..]), Ok(None)));
    }

    proptest! {
        #[test]
        fn no_input_panics(bytes: Vec<u8>) {
            let _ = read_all(&bytes);
        }

        #[test]
        fn nothing_but_halves_of_characters_is_fixed(text: String, json in r#"[\\u"0-9d-fD-F{}é]{0,40}"#) {
            let whole = Value::String(text).to_string();
            prop_assert_eq!(json::replace_lone_surrogates(&whole), whole);
            json::replace_lone_surrogates(&json);
        }
    }
}
