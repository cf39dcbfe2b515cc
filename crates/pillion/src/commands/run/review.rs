//! Makes Claude Code ask before each change: by hooks in `--settings`, which add to the person's own. They call the
//! companion that it is connected to, or where that cannot be, `pillion hook`.

use std::ffi::{OsStr, OsString};
use std::fs;
use std::path::Path;

use pillion_agent::find::Release;
use pillion_doctor::setup::Setup;
use pillion_hooks::settings::CommandLine;
use pillion_protocol::claude::hooks;
use pillion_protocol::claude::hooks::CommandsBeside;
use pillion_protocol::{Dialect, ReviewMode};
use serde_json::{Value, json};

use crate::failure::Failure;

const OPTION: &str = "--settings";

/// With this option it connects to the companion of its folder that it finds within half a minute.
const LOOKS: &str = "--ide";

/// Linux starts no program with a longer argument.
const MAX_ARGUMENT: usize = 128 << 10;

/// With this setting it runs no hooks.
const NO_HOOKS: &str = "disableAllHooks";

/// When Claude Code is to ask.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub enum Review {
    /// Before each Edit and Write, in every permission mode
    Always,
    /// As its permission mode has it
    Asked,
    /// Not about files in the workspace: you look at its changes after the write
    After,
}

impl From<Review> for ReviewMode {
    fn from(review: Review) -> Self {
        match review {
            Review::Always => Self::Always,
            Review::Asked => Self::Asked,
            Review::After => Self::After,
        }
    }
}

/// The person's own settings for hooks.
#[derive(Debug, Default)]
pub struct OwnHooks {
    /// True if they disable all.
    pub are_disabled: bool,
    /// True if `pillion hook` is one of them.
    pub has_ours: bool,
}

/// Reads what the person's settings say about hooks.
pub fn own_hooks(setup: &Setup) -> OwnHooks {
    let mut files = setup.settings.counting();
    let said = files.find_map(|file| file.content.get(&[NO_HOOKS])?.as_bool());
    OwnHooks {
        are_disabled: said == Some(true),
        has_ours: !setup.hooks.ours.is_empty(),
    }
}

/// The agent's arguments with the hooks, and what the person should know. `command` is the command line of our hook where
/// it is the only one, and `beside` are those beside hooks that call the companion. Another's arguments stay as they are.
pub fn arguments(
    release: Release,
    own: &[OsString],
    folder: &Path,
    review: Review,
    command: impl FnOnce() -> Result<CommandLine, Failure>,
    beside: Option<&CommandsBeside>,
    own_hooks: &OwnHooks,
) -> (Vec<OsString>, Option<String>) {
    let unchanged = |note| (own.to_vec(), note);
    if release.agent != Dialect::ClaudeCode {
        let note = format!(
            "{release} asks as its own settings say: only Claude Code can be looked at after the write"
        );
        return unchanged((review == Review::After).then_some(note));
    }
    let unrecorded = (review == Review::After).then(|| {
        "`claude -p` connects to no editor or review, so that nothing of it is recorded: every change is shown first"
            .to_owned()
    });
    let hooks = match (prints(own), review) {
        (false, _) => Ok(hooks::hooks(review.into(), beside)),
        // It connects to no companion that hooks could call.
        (true, Review::Asked) => return unchanged(None),
        // It would be asked twice.
        (true, _) if own_hooks.has_ours => return unchanged(unrecorded),
        (true, _) => command()
            .map(|command| command_hooks(&command.to_string()))
            .map_err(|why| why.to_string()),
    };
    // What one that is too old does not know is said elsewhere; of an unknown one, the review says it when a turn begins
    // without a hook.
    if !prints(own) && (!release.is_known() || release.too_old().is_some()) {
        return unchanged(None);
    }
    let (mut rest, given) = take_settings(own);
    let settings = match given {
        None => Ok(json!({})),
        Some(given) => read(&given, folder),
    };
    let settings = settings.and_then(|settings| hooks::add(settings, hooks?));
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
            let is_disabled = disables.unwrap_or(own_hooks.are_disabled) && review != Review::Asked;
            let note = match review {
                Review::After => format!(
                    "`{NO_HOOKS}` in your settings keeps Claude Code from telling Pillion what it changes: nothing of it is \
                     recorded, and it asks as its permission mode has it"
                ),
                _ => format!(
                    "`{NO_HOOKS}` in your settings keeps Claude Code from asking before each change: in its modes auto, \
                     acceptEdits and bypassPermissions it shows no diffs"
                ),
            };
            let unrecorded = unrecorded.filter(|_| prints(own));
            (rest, is_disabled.then_some(note).or(unrecorded))
        }
        // The agent says what is wrong with them.
        Err(why) => unchanged(Some(format!(
            "your {OPTION} are passed on as they are, without what makes Claude Code ask before each change: {why}"
        ))),
    }
}

/// The arguments of one that starts before the editor or review, and looks for it by itself.
pub fn looking(mut arguments: Vec<OsString>) -> Vec<OsString> {
    if !prints(&arguments) && !arguments.iter().any(|word| word == LOOKS) {
        arguments.insert(0, LOOKS.into());
    }
    arguments
}

/// The hooks that run this command line before each change.
fn command_hooks(command: &str) -> Value {
    let mut hooks = json!({});
    for entry in pillion_hooks::of(Dialect::ClaudeCode).entries(command) {
        match &mut hooks[entry.event] {
            Value::Array(list) => list.push(entry.item),
            none => *none = json!([entry.item]),
        }
    }
    hooks
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
    use pillion_agent::find::Version;

    use super::*;

    fn with(version: Version, own: &[&str], folder: &Path) -> (Vec<String>, Option<String>) {
        with_own_hooks(version, own, folder, Review::Always, &OwnHooks::default())
    }

    fn with_own_hooks(
        version: Version,
        own: &[&str],
        folder: &Path,
        review: Review,
        own_hooks: &OwnHooks,
    ) -> (Vec<String>, Option<String>) {
        let release = Release {
            agent: Dialect::ClaudeCode,
            version,
        };
        let own: Vec<_> = own.iter().map(OsString::from).collect();
        let command = || Ok(CommandLine::parse("pillion hook claude", "claude").unwrap());
        let beside = CommandsBeside {
            wait: "exec pillion hook wait claude".to_owned(),
            guard: "exec pillion hook guard claude".to_owned(),
        };
        let (all, note) = arguments(
            release,
            &own,
            folder,
            review,
            command,
            Some(&beside),
            own_hooks,
        );
        let all = all.into_iter().map(|word| word.into_string().unwrap());
        (all.collect(), note)
    }

    #[test]
    fn only_releases_that_take_the_hooks_get_them_and_those_that_print_run_the_command() {
        let folder = Path::new("/");
        let unknown = Release::newest(Dialect::ClaudeCode).version;
        for (version, own, expected) in [
            (Version::new(2, 1, 153), &["-c"][..], false),
            (Version::new(3, 0, 0), &["-c"], false),
            (Version::new(2, 1, 112), &["-p", "x"], true),
            (unknown, &["-p", "x"], true),
            (Version::new(2, 1, 153), &["-p", "x"], true),
            (Version::new(2, 1, 153), &["x", "--print"], true),
            (Version::new(2, 1, 153), &["--", "-p"], false),
        ] {
            let (all, note) = with(version, own, folder);
            assert_eq!(note, None);
            assert_eq!(all[2..], *own);
            let settings: Value = serde_json::from_str(&all[1]).unwrap();
            let hooks = &settings["hooks"]["PreToolUse"][0]["hooks"];
            let kind = if expected { "command" } else { "mcp_tool" };
            assert_eq!(hooks[0]["type"], kind, "{version} {own:?}");
            assert!(settings["hooks"]["PermissionRequest"].is_array());
            for beside in ["pillion hook wait claude", "pillion hook guard claude"] {
                let is_there = all[1].contains(beside);
                assert_eq!(is_there, !expected, "one that prints has neither: {beside}");
            }
        }
        let (all, note) = with(Version::new(2, 1, 152), &["-c"], folder);
        assert_eq!((all, note), (vec!["-c".to_owned()], None));
        assert_eq!(
            with(unknown, &["-c"], folder),
            (vec!["-c".to_owned()], None)
        );
    }

    #[test]
    fn a_command_is_not_added_to_one_that_is_there_nor_where_its_modes_decide() {
        let folder = Path::new("/");
        let installed = OwnHooks {
            has_ours: true,
            ..OwnHooks::default()
        };
        let old = Version::new(2, 1, 112);
        for (version, own, review, own_hooks) in [
            (old, "-c", Review::Always, &installed),
            (Version::new(2, 1, 332), "-p", Review::Always, &installed),
            (old, "-c", Review::Asked, &OwnHooks::default()),
        ] {
            let (all, note) = with_own_hooks(version, &[own], folder, review, own_hooks);
            assert_eq!((all, note), (vec![own.to_owned()], None));
        }
        let newest = Version::new(2, 1, 332);
        let (all, _) = with_own_hooks(newest, &["-c"], folder, Review::Always, &installed);
        assert!(all[1].contains("mcp_tool"), "the companion shows it once");
    }

    #[test]
    fn what_cannot_be_looked_at_after_the_write_is_said() {
        let folder = Path::new("/");
        let newest = Version::new(2, 1, 332);
        let disabled = OwnHooks {
            are_disabled: true,
            ..OwnHooks::default()
        };
        let own = OwnHooks::default();
        for (version, word, own_hooks, hook, said) in [
            (newest, "-c", &own, Some("mcp_tool"), None),
            (
                newest,
                "-p",
                &own,
                Some("command"),
                Some("every change is shown first"),
            ),
            (
                newest,
                "-c",
                &disabled,
                Some("mcp_tool"),
                Some("`disableAllHooks`"),
            ),
            (Version::new(2, 1, 112), "-c", &own, None, None),
        ] {
            let (all, note) = with_own_hooks(version, &[word], folder, Review::After, own_hooks);
            assert_eq!(all.last().map(String::as_str), Some(word));
            let kind = (all.len() > 1).then(|| {
                let settings: Value = serde_json::from_str(&all[1]).unwrap();
                let hook = &settings["hooks"]["PreToolUse"][0]["hooks"][0];
                hook["type"].as_str().unwrap().to_owned()
            });
            assert_eq!(kind.as_deref(), hook, "{version} {word}");
            match (note, said) {
                (Some(note), Some(said)) => assert!(note.contains(said), "{note}"),
                (note, said) => assert_eq!(note.as_deref(), said, "{version} {word}"),
            }
        }
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
