//! The versions of the parts of Pillion that work together: the comparison, and the message to people.

use std::cmp::Ordering;

/// The version of this program.
pub const VERSION: &str = env!("CARGO_PKG_VERSION");

/// Two parts of Pillion are not of the same version.
#[derive(Debug, Clone, PartialEq, Eq, derive_more::Display)]
#[display("{what}; {advice}")]
pub struct Mismatch {
    /// The older part, as a sentence without its period.
    pub what: String,
    /// The remedy, as the end of that sentence.
    pub advice: &'static str,
}

/// A plugin and the program that serves it: the first two numbers count. A version that cannot be read is nobody's
/// mistake.
pub fn of_plugin(plugin: &str, program: &str) -> Option<Mismatch> {
    let (theirs, ours) = (numbers::<2>(plugin)?, numbers::<2>(program)?);
    let (age, advice) = match theirs.cmp(&ours) {
        Ordering::Equal => return None,
        Ordering::Less => ("older", "update the plugin"),
        Ordering::Greater => ("newer", "update the program"),
    };
    let [first, second] = theirs;
    let what = format!(
        "the plugin (version {first}.{second}) is {age} than the program `pillion` (version {program})"
    );
    Some(Mismatch { what, advice })
}

/// The process that hosts companions, and a program that uses it: all three numbers count, because the hub does most of
/// the work.
pub fn of_hub(hub: &str, program: &str) -> Option<Mismatch> {
    let (age, advice) = match numbers::<3>(hub)?.cmp(&numbers::<3>(program)?) {
        Ordering::Equal => return None,
        Ordering::Less => (
            "older",
            "quit all your editors and reviews, then start again: the hub ends with the last of them",
        ),
        Ordering::Greater => (
            "newer",
            "update this program, quit all your editors and reviews, then start again: the hub ends with the last of them",
        ),
    };
    let what = format!(
        "Pillion's hub (version {hub}), which all editors share, is {age} than this program (version {program})"
    );
    Some(Mismatch { what, advice })
}

fn numbers<const COUNT: usize>(version: &str) -> Option<[u32; COUNT]> {
    let release = version.trim_start_matches('v').split(['-', '+']).next()?;
    let mut parts = release.split('.');
    let mut numbers = [0; COUNT];
    for number in &mut numbers {
        *number = parts.next()?.parse().ok()?;
    }
    Some(numbers)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn of_a_plugin_only_the_first_two_numbers_matter() {
        for same in ["1.2.3", "1.2.9-dev", "v1.2", "", "next", "1"] {
            assert_eq!(of_plugin(same, "1.2.3"), None, "{same}");
        }
        let older = of_plugin("1.1.9", "1.2.0").unwrap();
        assert_eq!(
            older.to_string(),
            "the plugin (version 1.1) is older than the program `pillion` (version 1.2.0); update the plugin"
        );
        let newer = of_plugin("2.0.0", "1.2.0").unwrap();
        assert!(newer.what.contains("2.0) is newer"), "{newer}");
        assert_eq!(newer.advice, "update the program");
    }

    #[test]
    fn of_the_hub_every_number_matters() {
        for same in ["1.2.3", "v1.2.3", "1.2.3-dev", "1.2", "", "next"] {
            assert_eq!(of_hub(same, "1.2.3"), None, "{same}");
        }
        let older = of_hub("1.2.3", "1.10.0").unwrap();
        assert!(older.what.contains("1.2.3), which"), "{older}");
        assert!(older.what.contains("older than this program"), "{older}");
        assert!(older.advice.starts_with("quit all"), "{older}");
        let newer = of_hub("1.2.4", "1.2.3").unwrap();
        assert!(newer.what.contains("newer than this program"), "{newer}");
        assert!(newer.advice.starts_with("update"), "{newer}");
    }
}
