//! Server-sent events: takes bytes as they come, gives out the data of whole events.

/// A parser for one stream.
#[derive(Debug, Default)]
pub(crate) struct Parser {
    buffer: Vec<u8>,
    /// How much of the buffer is known to hold no line end.
    searched: usize,
    data: Option<String>,
}

impl Parser {
    /// The data of every event that `bytes` completes. Comments and other fields are skipped.
    pub(crate) fn push(&mut self, bytes: &[u8]) -> Vec<String> {
        self.buffer.extend_from_slice(bytes);
        let mut events = Vec::new();
        let mut start = 0;
        while let Some(length) = self.buffer[self.searched..]
            .iter()
            .position(|byte| *byte == b'\n')
        {
            let end = self.searched + length;
            let line = String::from_utf8_lossy(&self.buffer[start..end]);
            let line = line.strip_suffix('\r').unwrap_or(&line);
            events.extend(take_line(&mut self.data, line));
            start = end + 1;
            self.searched = start;
        }
        self.buffer.drain(..start);
        self.searched = self.buffer.len();
        events
    }
}

fn take_line(data: &mut Option<String>, line: &str) -> Option<String> {
    if line.is_empty() {
        return data.take().filter(|data| !data.is_empty());
    }
    if let Some(value) = line.strip_prefix("data:") {
        let value = value.strip_prefix(' ').unwrap_or(value);
        match data {
            Some(data) => {
                data.push('\n');
                data.push_str(value);
            }
            None => *data = Some(value.to_owned()),
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn events_come_out_whole_however_they_arrive() {
        let text = "data: {\"a\":1}\n\n: ping\n\nid: 1\ndata: x\r\ndata: é\r\n\r\ndata:\n\n";
        let mut whole = Parser::default();
        let expected = ["{\"a\":1}", "x\né"];
        assert_eq!(whole.push(text.as_bytes()), expected);
        let mut pieces = Parser::default();
        let events: Vec<_> = text.bytes().flat_map(|byte| pieces.push(&[byte])).collect();
        assert_eq!(events, expected);
    }
}
