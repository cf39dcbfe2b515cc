//! Words as Kakoune reads and writes them: in single quotes, with those inside doubled. Nothing in such a word is
//! ever read as a command.

/// A text as one word.
pub fn word(text: &str) -> String {
    format!("'{}'", text.replace('\'', "''"))
}

/// The words of what Kakoune wrote with `-quoting kakoune`; nothing if a word is not whole.
pub fn words(mut text: &[u8]) -> Option<Vec<Vec<u8>>> {
    let mut words = Vec::new();
    while !text.is_empty() {
        let mut word = Vec::new();
        let mut rest = text.strip_prefix(b"'")?;
        loop {
            let end = rest.iter().position(|it| *it == b'\'')?;
            let (part, after) = rest.split_at(end);
            word.extend_from_slice(part);
            rest = after.get(1..)?;
            let Some(more) = rest.strip_prefix(b"'") else {
                break;
            };
            word.push(b'\'');
            rest = more;
        }
        words.push(word);
        text = match rest.strip_prefix(b" ") {
            Some(more) => more,
            None if rest.is_empty() => rest,
            None => return None,
        };
    }
    Some(words)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_read_as_they_were_written() {
        let texts = ["", "a b", "it's", "''", "%sh{x}", "$x\n\"", "\0é", "-x"];
        let quoted: Vec<_> = texts.iter().map(|text| word(text)).collect();
        assert_eq!(
            words(quoted.join(" ").as_bytes()).unwrap(),
            texts.map(str::as_bytes)
        );
    }

    #[test]
    fn what_is_not_whole_is_nothing() {
        for text in ["'a", "a", "'a'b'", "'a''", "'a'  'b'"] {
            assert_eq!(words(text.as_bytes()), None, "{text}");
        }
        assert_eq!(words(b"").unwrap(), Vec::<Vec<u8>>::new());
    }
}
