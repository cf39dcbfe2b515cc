//! The part of an environment that another process of this user gets: only what it reads, because many variables hold secrets.

use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};
use std::path::PathBuf;

use pillion_protocol::Dialect;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use super::Environment;

/// The variables that a companion reads, apart from those by which it knows whose command it is.
const PLACES: [&str; 14] = [
    "TMPDIR",
    "TMP",
    "TEMP",
    "SystemRoot",
    "windir",
    "HOME",
    "USERPROFILE",
    "QWEN_HOME",
    "CLAUDE_CONFIG_DIR",
    "COPILOT_HOME",
    "CODEX_HOME",
    "XDG_RUNTIME_DIR",
    "XDG_STATE_HOME",
    "LOCALAPPDATA",
];

/// The variables by which a person configures a companion.
const SETTINGS: [&str; 3] = ["PILLION_CHANGES", "PILLION_CHANGES_LIMIT", "PILLION_LIMIT"];

fn is_shared(name: &str) -> bool {
    let mut agents = Dialect::ALL.into_iter().filter_map(Dialect::shell_variable);
    PLACES.contains(&name) || SETTINGS.contains(&name) || agents.any(|variable| variable == name)
}

/// An environment on its way to another process of this user. Values need not be Unicode.
#[derive(Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Shared {
    variables: BTreeMap<String, OsString>,
    current_dir: OsString,
    account_home: Option<OsString>,
}

/// Only what a companion reads.
impl Serialize for Environment {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let variables = self.variables.iter().filter(|(name, _)| is_shared(name));
        let shared = Shared {
            variables: variables
                .map(|(name, value)| (name.clone(), value.clone()))
                .collect(),
            current_dir: self.current_dir.clone().into(),
            account_home: self.account_home.clone().map(OsString::from),
        };
        shared.serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for Environment {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let mut shared = Shared::deserialize(deserializer)?;
        shared.variables.retain(|name, _| is_shared(name));
        Ok(Self {
            variables: shared.variables,
            current_dir: shared.current_dir.into(),
            account_home: shared.account_home.map(PathBuf::from),
        })
    }
}

impl Environment {
    /// The same environment without the variables by which a person configures a companion, and with the places of another one.
    #[must_use]
    pub fn in_places_of(mut self, other: &Self) -> Self {
        self.variables.retain(|name, _| {
            !SETTINGS.contains(&name.as_str()) && !PLACES.contains(&name.as_str())
        });
        let places = other.places();
        let places = places.map(|(name, value)| (name.to_owned(), value.to_owned()));
        self.variables.extend(places);
        self.account_home.clone_from(&other.account_home);
        self
    }

    /// The variables that decide where files are: what a program needs that works for this one.
    pub fn places(&self) -> impl Iterator<Item = (&str, &OsStr)> {
        let variables = self.variables.iter();
        let variables = variables.map(|(name, value)| (name.as_str(), value.as_os_str()));
        variables.filter(|(name, _)| PLACES.contains(name))
    }
}

#[cfg(all(test, unix))]
mod tests {
    use std::path::Path;

    use super::*;

    #[test]
    fn another_process_gets_what_a_companion_reads_and_no_secret() {
        use std::os::unix::ffi::OsStrExt;
        let raw = OsStr::from_bytes(b"/t\xff/");
        let state = OsStr::new("/state");
        let off = OsStr::new("off");
        let read = [
            ("TMPDIR", raw),
            ("CLAUDECODE", OsStr::new("1")),
            ("XDG_STATE_HOME", state),
            ("PILLION_CHANGES", off),
            ("PILLION_LIMIT", OsStr::new("60")),
        ];
        let read =
            Environment::from_pairs(read).with_current_dir(Path::new(OsStr::from_bytes(b"/w\xff")));
        let all = read.clone().with("ANTHROPIC_API_KEY", Some("secret"));
        let text = serde_json::to_string(&all).unwrap();
        assert!(!text.contains("ANTHROPIC") && !text.contains("secret"));
        assert_eq!(serde_json::from_str::<Environment>(&text).unwrap(), read);
        let foreign = text.replace("CLAUDECODE", "LD_PRELOAD");
        let foreign: Environment = serde_json::from_str(&foreign).unwrap();
        assert_eq!(foreign.value("LD_PRELOAD"), None);
        assert_eq!(foreign.state_dirs(), read.state_dirs());
    }
}
