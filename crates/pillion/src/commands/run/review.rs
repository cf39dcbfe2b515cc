//! What makes Claude Code ask before each change: hooks in `--settings`, which add to the person's own.

use std::ffi::{OsStr, OsString};
use std::fs;
use std::path::Path;

use pillion_agent::find::{Release, Version};
use pillion_protocol::claude::{TAKES_TOOL_HOOKS, hooks};
use pillion_protocol::{Dialect, ReviewMode};
use serde_json::{Value, json};

const OPTION: &str = "--settings";

/// Linux starts no program with a longer argument.
const MAX_ARGUMENT: usize = 128 << 10;

/// What the person should know of one that prints its answer.
const PRINTS: &str = "with -p, Claude Code connects to no editor or review: no change is shown here before it is written, and \
                      only its permission mode and rules decide whether it is made";

/// With this setting it runs no hooks.
pub const NO_HOOKS: &str = "disableAllHooks";

/// When Claude Code is to ask.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub enum Review {
    /// Before each Edit and Write, in every permission mode
    Always,
    /// As its permission mode has it
    Asked,
}

impl From<Review> for ReviewMode {
    fn from(review: Review) -> Self {
        match review {
            Review::Always => Self::Always,
            Review::Asked => Self::Asked,
        }
    }
}

/// The agent's arguments with the hooks, and what the person should know; `has_no_hooks`: their settings disable
/// all. Another's arguments stay as they are.
pub fn arguments(
    release: Release,
    own: &[OsString],
    folder: &Path,
    review: Review,
    has_no_hooks: bool,
) -> (Vec<OsString>, Option<String>) {
    let unchanged = |note| (own.to_vec(), note);
    if release.agent != Dialect::ClaudeCode {
        return unchanged(None);
    }
    // Without a terminal it connects to no companion that hooks of this kind could ask.
    if prints(own) {
        return unchanged(Some(PRINTS.to_owned()));
    }
    let oldest = Version::from_numbers(TAKES_TOOL_HOOKS);
    if !release.is_known() || release.version < oldest {
        let note = format!(
            "{release} cannot be made to ask before each change: in its modes auto, acceptEdits and \
             bypassPermissions it shows no diffs. `pillion run claude` with {oldest} or later does"
        );
        // Of an unknown one, the review says it when a turn begins without a hook.
        let is_old = release.is_known() && review == Review::Always;
        return unchanged(is_old.then_some(note));
    }
    let (mut rest, given) = take_settings(own);
    let settings = match given {
        None => Ok(json!({})),
        Some(given) => read(&given, folder),
    };
    let settings = settings.and_then(|settings| hooks::settings(settings, review.into()));
    let settings = settings.and_then(|settings| {
        let is_short = settings.to_string().len() < MAX_ARGUMENT;
        is_short
            .then_some(settings)
            .ok_or("they are too long".to_owned())
    });
    match settings {
        Ok(settings) => {
            let disables = settings.get(NO_HOOKS).and_then(Value::as_bool);
            rest.splice(0..0, [OPTION.into(), settings.to_string().into()]);
            let is_disabled = disables.unwrap_or(has_no_hooks) && review == Review::Always;
            let note = format!(
                "`{NO_HOOKS}` in your settings keeps Claude Code from asking before each change: in its modes auto, \
                 acceptEdits and bypassPermissions it shows no diffs"
            );
            (rest, is_disabled.then_some(note))
        }
        // The agent says what is wrong with them.
        Err(why) => unchanged(Some(format!(
            "your {OPTION} are passed on as they are, without what makes Claude Code ask before each change: {why}"
        ))),
    }
}

/// Returns true if it is to print an answer and to end.
fn prints(own: &[OsString]) -> bool {
    let options = own.iter().take_while(|word| *word != "--");
    options
        .into_iter()
        .any(|word| word == "-p" || word == "--print")
}

/// The arguments without `--settings`, and its last value, which is the one that counts.
fn take_settings(own: &[OsString]) -> (Vec<OsString>, Option<OsString>) {
    let (mut rest, mut given) = (Vec::new(), None);
    let mut words = own.iter();
    while let Some(word) = words.next() {
        let value = word
            .to_str()
            .and_then(|word| word.strip_prefix("--settings="));
        if let Some(value) = value {
            given = Some(value.into());
        } else if word == OPTION {
            given = words.next().cloned();
        } else {
            rest.push(word.clone());
            // What follows is a prompt.
            if word == "--" {
                rest.extend(words.by_ref().cloned());
            }
        }
    }
    (rest, given)
}

/// A text in JSON, or the file of that name.
fn read(given: &OsStr, folder: &Path) -> Result<Value, String> {
    let text = given
        .to_str()
        .filter(|text| text.trim_start().starts_with('{'));
    let text = match text {
        Some(text) => text.to_owned(),
        None => fs::read_to_string(folder.join(given))
            .map_err(|error| format!("cannot read {}: {error}", Path::new(given).display()))?,
    };
    serde_json::from_str(&text).map_err(|error| format!("they are not JSON: {error}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn with(version: Version, own: &[&str], folder: &Path) -> (Vec<String>, Option<String>) {
        let release = Release {
            agent: Dialect::ClaudeCode,
            version,
        };
        let own: Vec<_> = own.iter().map(OsString::from).collect();
        let (all, note) = arguments(release, &own, folder, Review::Always, false);
        let all = all.into_iter().map(|word| word.into_string().unwrap());
        (all.collect(), note)
    }

    #[test]
    fn only_releases_that_take_the_hooks_get_them() {
        let folder = Path::new("/");
        for (version, expected) in [
            (Version::new(2, 1, 117), false),
            (Version::new(2, 1, 118), true),
            (Version::new(3, 0, 0), true),
        ] {
            let (all, note) = with(version, &["-c"], folder);
            assert_eq!(all.len() == 3, expected, "{version}");
            assert_eq!(note.is_none(), expected, "{version}");
            assert_eq!(all.last().unwrap(), "-c");
        }
        for own in [&["-p", "x"][..], &["x", "--print"]] {
            let (all, note) = with(Version::new(2, 1, 118), own, folder);
            assert_eq!(all, own);
            assert!(note.unwrap().contains("no change is shown here"));
        }
        let (all, _) = with(Version::new(2, 1, 118), &["--", "-p"], folder);
        assert_eq!(all.len(), 4);
        let unknown = Release::newest(Dialect::ClaudeCode).version;
        assert_eq!(
            with(unknown, &["-c"], folder),
            (vec!["-c".to_owned()], None)
        );
    }

    #[test]
    fn settings_of_the_person_stay() {
        let folder = tempfile::tempdir().unwrap();
        fs::write(folder.path().join("s.json"), r#"{"model": "x"}"#).unwrap();
        let newest = Version::new(2, 1, 332);
        for own in [
            &["--settings", r#"{"model": "x"}"#, "hello"][..],
            &[r#"--settings={"model": "x"}"#, "hello"],
            &["hello", "--settings", "s.json"],
        ] {
            let (all, note) = with(newest, own, folder.path());
            assert_eq!(note, None);
            let [option, settings, prompt] = &all[..] else {
                panic!("{all:?}");
            };
            let settings: Value = serde_json::from_str(settings).unwrap();
            assert_eq!((&**option, &**prompt), (OPTION, "hello"));
            assert_eq!(settings["model"], "x");
            assert!(settings["hooks"]["PreToolUse"].is_array());
        }
        let long = format!(r#"{{"x": "{}"}}"#, "x".repeat(MAX_ARGUMENT));
        fs::write(folder.path().join("long.json"), long).unwrap();
        for own in [
            &["--settings", "no-such.json"][..],
            &["--settings", "{"],
            &["--settings", "[]"],
            &["--settings", r#"{"hooks": {"PreToolUse": 1}}"#],
            &["--settings", "long.json"],
        ] {
            let (all, note) = with(newest, own, folder.path());
            assert_eq!(all, own);
            assert!(note.unwrap().contains("passed on as they are"));
        }
        let settings = r#"{"disableAllHooks": true}"#;
        let (all, note) = with(newest, &["--settings", settings], folder.path());
        assert!(all[1].contains("pillionBeforeWrite"));
        assert!(note.unwrap().contains("`disableAllHooks`"));
        let (all, _) = with(newest, &["--", "--settings"], folder.path());
        assert_eq!(all[2..], ["--", "--settings"]);
    }
}
