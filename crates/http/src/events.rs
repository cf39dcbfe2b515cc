//! Server-sent events: takes bytes as they come, gives out whole events.

use crate::{Body, Error};

/// One event.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Event {
    /// Its data; empty for a priming event.
    pub data: String,
    /// True if it carries an id.
    pub has_id: bool,
    /// True if it has a name that is not that of messages.
    pub is_other: bool,
}

/// An event stream.
#[derive(Debug)]
pub struct Events {
    body: Body,
    parser: Parser,
}

/// A parser for one stream.
#[derive(Debug, Default)]
struct Parser {
    /// The most bytes that an event may have.
    limit: usize,
    /// A line of which the end has not come.
    line: Vec<u8>,
    /// The last line ended with a carriage return: a line feed right after it belongs to it.
    after_return: bool,
    is_behind_first_line: bool,
    /// The part that has come of the event under way.
    event: Event,
    data: Option<String>,
}

impl Body {
    /// It as an event stream, no event of which is longer than `limit` bytes.
    pub fn events(self, limit: usize) -> Events {
        let parser = Parser::new(limit);
        Events { body: self, parser }
    }
}

impl Events {
    /// The events that the next bytes complete, often none; nothing at the end. Comments, other fields
    /// and events with neither data nor an id are skipped. Cancel-safe.
    ///
    /// # Errors
    /// When the connection broke, or an event is too long. Nothing can be read after it.
    pub async fn next(&mut self) -> Result<Option<Vec<Event>>, Error> {
        let bytes = self.body.next().await?;
        bytes.map(|bytes| self.parser.push(&bytes)).transpose()
    }
}

impl Event {
    /// Returns true if it is one of those that agents read: a message with something in it.
    pub fn is_message(&self) -> bool {
        !self.is_other && !self.data.is_empty()
    }
}

impl Parser {
    fn new(limit: usize) -> Self {
        Self {
            limit,
            ..Self::default()
        }
    }

    /// The events that `bytes` complete.
    ///
    /// # Errors
    /// When one is too long.
    fn push(&mut self, bytes: &[u8]) -> Result<Vec<Event>, Error> {
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
                return Err(Error::TooLong(self.limit));
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

    fn take_line(&mut self, line: &[u8]) -> Option<Event> {
        let line = String::from_utf8_lossy(line);
        let mut line = line.as_ref();
        if !std::mem::replace(&mut self.is_behind_first_line, true) {
            line = line.strip_prefix('\u{feff}').unwrap_or(line);
        }
        if line.is_empty() {
            let event = std::mem::take(&mut self.event);
            let data = self.data.take();
            let is_event = data.is_some() || event.has_id;
            let data = data.unwrap_or_default();
            return is_event.then_some(Event { data, ..event });
        }
        let (field, value) = line.split_once(':').unwrap_or((line, ""));
        let value = value.strip_prefix(' ').unwrap_or(value);
        match (field, &mut self.data) {
            ("data", Some(data)) => {
                data.push('\n');
                data.push_str(value);
            }
            ("data", data) => *data = Some(value.to_owned()),
            ("event", _) => self.event.is_other = !matches!(value, "" | "message"),
            ("id", _) => self.event.has_id = true,
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

    fn events(pieces: &[&[u8]]) -> Vec<Event> {
        let mut parser = Parser::new(1 << 20);
        let events = pieces.iter().flat_map(|piece| parser.push(piece).unwrap());
        events.collect()
    }

    fn messages(pieces: &[&[u8]]) -> Vec<String> {
        let events = events(pieces).into_iter();
        let messages = events.filter(Event::is_message);
        messages.map(|event| event.data).collect()
    }

    #[test]
    fn events_come_out_whole_however_they_arrive() {
        let text = "data: {\"a\":1}\n\n: ping\n\nid: 1\ndata: x\r\ndata: é\r\n\r\ndata:\n\n";
        let expected = ["{\"a\":1}", "x\né"];
        assert_eq!(messages(&[text.as_bytes()]), expected);
        let bytes: Vec<_> = text.as_bytes().chunks(1).collect();
        assert_eq!(messages(&bytes), expected);
    }

    #[test]
    fn what_agents_skip_is_an_event_too() {
        let text =
            "id: 1\ndata:\n\n: ping\n\ndata: {\"a\":1}\r\n\r\nevent: x\ndata: é\ndata: y\n\n";
        let event = |data: &str, has_id, is_other| Event {
            data: data.to_owned(),
            has_id,
            is_other,
        };
        let expected = [
            event("", true, false),
            event("{\"a\":1}", false, false),
            event("é\ny", false, true),
        ];
        assert_eq!(events(&[text.as_bytes()]), expected);
        let bytes: Vec<_> = text.as_bytes().chunks(1).collect();
        assert_eq!(events(&bytes), expected);
    }

    #[test]
    fn every_line_end_of_the_format_ends_a_line() {
        for text in [
            "data:a\rdata:b\r\rdata:c\r\r",
            "data:a\r\ndata:b\r\n\r\ndata:c\n\n",
            "\u{feff}data:a\ndata\t\ndata:b\n\ndata:c\r\n\n",
        ] {
            assert_eq!(messages(&[text.as_bytes()]), ["a\nb", "c"], "{text:?}");
        }
    }

    #[test]
    fn only_messages_are_for_agents() {
        let text =
            "event: other\ndata: a\n\nevent: message\ndata: b\n\nevent\ndata: c\n\nretry: 1\n\n";
        assert_eq!(messages(&[text.as_bytes()]), ["b", "c"]);
    }

    #[test]
    fn an_event_that_does_not_end_is_given_up() {
        let is_too_long = |error| matches!(error, Error::TooLong(10));
        let mut parser = Parser::new(10);
        assert_eq!(parser.push(b"data: 1234").unwrap(), []);
        assert!(parser.push(b"5").is_err_and(is_too_long));
        let mut parser = Parser::new(10);
        let lines = [b"data: 123\n"; 5];
        let first = lines.iter().find_map(|line| parser.push(*line).err());
        let is_given_up = first.is_some_and(is_too_long);
        assert!(is_given_up, "many short lines are one long event");
    }

    proptest! {
        #[test]
        fn no_bytes_break_it_and_no_cut_changes_what_they_say(
            bytes in vec(prop_oneof![Just(b'\n'), Just(b'\r'), Just(b':'), Just(b'd'), any::<u8>()], 0..200),
            words in vec(prop_oneof![Just("data:"), Just("id"), Just("\n"), Just("\r\n"), Just("\r"), Just("x"), Just(": ")], 0..60),
            cut in 0_usize..400,
        ) {
            let mut text = words.concat().into_bytes();
            text.extend(bytes);
            let cut = cut.min(text.len());
            let whole = events(&[&text]);
            prop_assert_eq!(&events(&[&text[..cut], &text[cut..]]), &whole);
            let single: Vec<_> = text.chunks(1).collect();
            prop_assert_eq!(&events(&single), &whole);
        }
    }
}
