//! Words as Kakoune reads and writes them: in single quotes, with those inside doubled. Nothing in such a word is
//! ever read as a command.

/// A text as one word.
pub fn word(text: &str) -> String {
    format!("'{}'", text.replace('\'', "''"))
}

/// The words of what Kakoune wrote with `-quoting kakoune`; nothing if a word is not whole.
pub fn words(mut text: &str) -> Option<Vec<String>> {
    let mut words = Vec::new();
    while !text.is_empty() {
        let mut word = String::new();
        let mut rest = text.strip_prefix('\'')?;
        loop {
            let (part, after) = rest.split_once('\'')?;
            word.push_str(part);
            rest = after;
            let Some(more) = rest.strip_prefix('\'') else {
                break;
            };
            word.push('\'');
            rest = more;
        }
        words.push(word);
        text = match rest.strip_prefix(' ') {
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
        assert_eq!(words(&quoted.join(" ")).unwrap(), texts);
    }

    #[test]
    fn what_is_not_whole_is_nothing() {
        for text in ["'a", "a", "'a'b'", "'a''", "'a'  'b'"] {
            assert_eq!(words(text), None, "{text}");
        }
        assert_eq!(words("").unwrap(), Vec::<String>::new());
    }
}
