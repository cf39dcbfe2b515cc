//! Server-sent events: takes bytes as they come, gives out the data of whole events.

/// A parser for one stream.
#[derive(Debug)]
pub(crate) struct Parser {
    /// The most bytes that an event may have.
    limit: usize,
    /// A line of which the end has not come.
    line: Vec<u8>,
    /// The last line ended with a carriage return: a line feed right after it belongs to it.
    after_return: bool,
    is_first_line: bool,
    data: Option<String>,
    /// The event has a name that is not that of messages.
    is_other: bool,
}

/// An event is longer than the limit. Nothing can be read after it.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct TooLong;

impl Parser {
    /// A parser that gives up on an event of more than `limit` bytes.
    pub(crate) fn new(limit: usize) -> Self {
        Self {
            limit,
            line: Vec::new(),
            after_return: false,
            is_first_line: true,
            data: None,
            is_other: false,
        }
    }

    /// The data of every message that `bytes` completes. Comments, other fields, other kinds of
    /// events and events without data are skipped.
    ///
    /// # Errors
    /// When an event is too long.
    pub(crate) fn push(&mut self, bytes: &[u8]) -> Result<Vec<String>, TooLong> {
        let mut events = Vec::new();
        let mut rest = bytes;
        while !rest.is_empty() {
            if std::mem::take(&mut self.after_return) && rest[0] == b'\n' {
                rest = &rest[1..];
                continue;
            }
            let end = rest.iter().position(|byte| matches!(byte, b'\n' | b'\r'));
            let part = &rest[..end.unwrap_or(rest.len())];
            let data = self.data.as_ref().map_or(0, String::len);
            if data + self.line.len() + part.len() > self.limit {
                return Err(TooLong);
            }
            self.line.extend_from_slice(part);
            let Some(end) = end else { break };
            self.after_return = rest[end] == b'\r';
            rest = &rest[end + 1..];
            let line = std::mem::take(&mut self.line);
            events.extend(self.take_line(&line));
        }
        Ok(events)
    }

    fn take_line(&mut self, line: &[u8]) -> Option<String> {
        let line = String::from_utf8_lossy(line);
        let mut line = line.as_ref();
        if std::mem::take(&mut self.is_first_line) {
            line = line.strip_prefix('\u{feff}').unwrap_or(line);
        }
        if line.is_empty() {
            let is_message = !std::mem::take(&mut self.is_other);
            let data = self.data.take();
            return data.filter(|data| is_message && !data.is_empty());
        }
        let (field, value) = line.split_once(':').unwrap_or((line, ""));
        let value = value.strip_prefix(' ').unwrap_or(value);
        match (field, &mut self.data) {
            ("data", Some(data)) => {
                data.push('\n');
                data.push_str(value);
            }
            ("data", data) => *data = Some(value.to_owned()),
            ("event", _) => self.is_other = !matches!(value, "" | "message"),
            _ => {}
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use proptest::collection::vec;
    use proptest::prelude::*;

    use super::*;

    fn parsed(pieces: &[&[u8]]) -> Vec<String> {
        let mut parser = Parser::new(1 << 20);
        let events = pieces.iter().flat_map(|piece| parser.push(piece).unwrap());
        events.collect()
    }

    #[test]
    fn events_come_out_whole_however_they_arrive() {
        let text = "data: {\"a\":1}\n\n: ping\n\nid: 1\ndata: x\r\ndata: é\r\n\r\ndata:\n\n";
        let expected = ["{\"a\":1}", "x\né"];
        assert_eq!(parsed(&[text.as_bytes()]), expected);
        let bytes: Vec<_> = text.as_bytes().chunks(1).collect();
        assert_eq!(parsed(&bytes), expected);
    }

    #[test]
    fn every_line_end_of_the_format_ends_a_line() {
        for text in [
            "data:a\rdata:b\r\rdata:c\r\r",
            "data:a\r\ndata:b\r\n\r\ndata:c\n\n",
            "\u{feff}data:a\ndata\t\ndata:b\n\ndata:c\r\n\n",
        ] {
            assert_eq!(parsed(&[text.as_bytes()]), ["a\nb", "c"], "{text:?}");
        }
    }

    #[test]
    fn only_messages_are_given_out() {
        let text =
            "event: other\ndata: a\n\nevent: message\ndata: b\n\nevent\ndata: c\n\nretry: 1\n\n";
        assert_eq!(parsed(&[text.as_bytes()]), ["b", "c"]);
    }

    #[test]
    fn an_event_that_does_not_end_is_given_up() {
        let mut parser = Parser::new(10);
        assert_eq!(parser.push(b"data: 1234"), Ok(vec![]));
        assert_eq!(parser.push(b"5"), Err(TooLong));
        let mut parser = Parser::new(10);
        let lines = [b"data: 123\n"; 5];
        let first = lines.iter().find_map(|line| parser.push(*line).err());
        assert_eq!(first, Some(TooLong), "many short lines are one long event");
    }

    proptest! {
        #[test]
        fn no_bytes_break_it_and_no_cut_changes_what_they_say(
            bytes in vec(prop_oneof![Just(b'\n'), Just(b'\r'), Just(b':'), Just(b'd'), any::<u8>()], 0..200),
            words in vec(prop_oneof![Just("data:"), Just("\n"), Just("\r\n"), Just("\r"), Just("x"), Just(": ")], 0..60),
            cut in 0_usize..400,
        ) {
            let mut text = words.concat().into_bytes();
            text.extend(bytes);
            let cut = cut.min(text.len());
            let whole = parsed(&[&text]);
            prop_assert_eq!(&parsed(&[&text[..cut], &text[cut..]]), &whole);
            let single: Vec<_> = text.chunks(1).collect();
            prop_assert_eq!(&parsed(&single), &whole);
        }
    }
}
