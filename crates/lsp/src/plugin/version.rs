//! Whether plugin and program speak the same version of the protocol.

/// The message to the person if the first or second numbers differ. A version that cannot be read
/// is nobody's mistake.
pub fn mismatch(plugin: &str, program: &str) -> Option<String> {
    let (theirs, ours) = (numbers(plugin)?, numbers(program)?);
    if theirs == ours {
        return None;
    }
    let (age, advice) = if theirs < ours {
        ("older", "update the plugin")
    } else {
        ("newer", "update the program")
    };
    let [first, second] = theirs;
    Some(format!(
        "Pillion: the plugin (version {first}.{second}) is {age} than the program `pillion` \
         (version {program}); {advice}"
    ))
}

fn numbers(version: &str) -> Option<[u32; 2]> {
    let mut parts = version.trim_start_matches('v').splitn(3, '.');
    let mut number = || parts.next()?.parse().ok();
    Some([number()?, number()?])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_first_two_numbers_matter_and_the_older_one_is_named() {
        for same in ["1.2.3", "1.2.9-dev", "v1.2", "", "next", "1"] {
            assert_eq!(mismatch(same, "1.2.3"), None, "{same}");
        }
        let older = mismatch("1.1.9", "1.2.0").unwrap();
        assert!(
            older.contains("1.1) is older") && older.contains("update the plugin"),
            "{older}"
        );
        let newer = mismatch("2.0.0", "1.2.0").unwrap();
        assert!(
            newer.contains("2.0) is newer") && newer.contains("update the program"),
            "{newer}"
        );
    }
}
