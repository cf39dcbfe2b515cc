//! The file of an agent that has plugins in place of hooks: all of it is ours, or nothing.

use serde_json::{Map, Value, json};

use super::{CommandLine, Refused};

/// The beginning of the line by which a plugin of ours is known, of any version: it names the hook that it starts.
const HOOK: &str = "const HOOK = ";

/// Returns the hook that a plugin of ours starts, as settings in JSON would have it; none if there is no plugin.
///
/// # Errors
/// When the file is another's.
pub(super) fn values(text: &str) -> Result<Map<String, Value>, Refused> {
    let mut values = Map::new();
    if !text.trim().is_empty() {
        let command = hook(text).ok_or(Refused {
            why: "it is not Pillion's plugin".to_owned(),
            hint: "Give that file another name, and run this again.",
        })?;
        values.insert(
            "hooks".to_owned(),
            json!({"plugin": [{"command": command}]}),
        );
    }
    Ok(values)
}

/// The command line of the hook that a plugin of ours starts.
fn hook(text: &str) -> Option<String> {
    let words = text.lines().find_map(|line| line.strip_prefix(HOOK))?;
    let words: Vec<String> = serde_json::from_str(words).ok()?;
    let command = shell_words::join(&words);
    let agent = words.get(2)?;
    CommandLine::parse(&command, agent).map(|ours| ours.to_string())
}
