//! Server-sent events with all that a check may want to look at: ids, empty events, comments.

/// One event.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Event {
    /// Its data; empty for a priming event.
    pub(super) data: String,
    /// Whether it carries an id.
    pub(super) has_id: bool,
}

/// A parser for one stream.
#[derive(Debug, Default)]
pub(super) struct Events {
    line: Vec<u8>,
    /// The event under way.
    event: Option<Event>,
}

impl Events {
    /// The events that `bytes` complete.
    pub(super) fn push(&mut self, bytes: &[u8]) -> Vec<Event> {
        let mut events = Vec::new();
        let mut pieces = bytes.split(|byte| *byte == b'\n').peekable();
        while let Some(piece) = pieces.next() {
            self.line.extend_from_slice(piece);
            if pieces.peek().is_some() {
                let line = std::mem::take(&mut self.line);
                events.extend(self.take(&String::from_utf8_lossy(&line)));
            }
        }
        events
    }

    fn take(&mut self, line: &str) -> Option<Event> {
        let line = line.strip_suffix('\r').unwrap_or(line);
        if line.is_empty() {
            return self.event.take();
        }
        let (field, value) = line.split_once(':').unwrap_or((line, ""));
        let value = value.strip_prefix(' ').unwrap_or(value);
        match field {
            "data" => {
                let is_first = self.event.as_ref().is_none_or(|e| e.data.is_empty());
                let event = self.event.get_or_insert_default();
                if !is_first {
                    event.data.push('\n');
                }
                event.data.push_str(value);
            }
            "id" => self.event.get_or_insert_default().has_id = true,
            _ => {}
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_of_an_event_is_lost_however_it_arrives() {
        let text =
            "id: 1\ndata:\n\n: ping\n\ndata: {\"a\":1}\r\n\r\nevent: x\ndata: é\ndata: y\n\n";
        let event = |data: &str, has_id| Event {
            data: data.to_owned(),
            has_id,
        };
        let expected = [
            event("", true),
            event("{\"a\":1}", false),
            event("é\ny", false),
        ];
        assert_eq!(Events::default().push(text.as_bytes()), expected);
        let mut events = Events::default();
        let pieces: Vec<_> = text.bytes().flat_map(|byte| events.push(&[byte])).collect();
        assert_eq!(pieces, expected);
    }
}
