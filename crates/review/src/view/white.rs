//! Changes of whitespace only: between and within lines, also where lines are broken anew.

/// Returns true if two texts differ in nothing but whitespace.
pub fn is_same(one: &[u8], other: &[u8]) -> bool {
    one != other && solid(one).eq(solid(other))
}

fn solid(text: &[u8]) -> impl Iterator<Item = &u8> {
    text.iter().filter(|byte| !byte.is_ascii_whitespace())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn whitespace_is_all_that_may_differ() {
        for (one, other, expected) in [
            ("\ta\n", "    a\n", true),
            ("a b\n", "a\nb\n", true),
            ("a\r\n", "a\n", true),
            ("\n", "", true),
            ("a\n", "a\n", false),
            ("a b\n", "ab c\n", false),
            ("", "a\n", false),
        ] {
            let found = is_same(one.as_bytes(), other.as_bytes());
            assert_eq!(found, expected, "{one:?} {other:?}");
        }
    }
}
