//! An agent's trust in a folder when it starts there: with it, it reads the folder's own files.
//!
//! An editor that says whether it trusts the folder overrules this (C4.9), but later.

use std::path::Path;

use pillion_agent::find::{Release, Version};
use pillion_discovery::Environment;
use pillion_protocol::Dialect;
use serde_json::Value;

use super::settings::{Scope, Settings};

/// Since this release, Gemini CLI takes a folder for untrusted until that is changed.
const DISTRUSTS: Version = Version::new(0, 28, 0);

/// An agent's trust in a folder.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Trust {
    /// It does.
    Trusted,
    /// The user turned it off.
    Distrusted,
    /// The agent asks.
    Unknown,
    /// The agent cannot read its list, and does not start.
    Unreadable,
}

impl Trust {
    /// Returns true if it reads the folder's own files.
    pub fn is_trusted(self) -> bool {
        self == Self::Trusted
    }
}

/// The trust in `folder`, by the agent's list and its settings.
pub fn trust(
    release: Release,
    environment: &Environment,
    settings: &Settings,
    folder: &Path,
) -> Trust {
    let is = |name: &str, value: &str| environment.filled(name).is_some_and(|is| is == value);
    let is_strict = release.agent == Dialect::GeminiCli && release.version >= DISTRUSTS;
    if is_strict {
        if is("GEMINI_RESTRICTED_MODE", "true") || is("GEMINI_CLI_TRUST_WORKSPACE", "false") {
            return Trust::Distrusted;
        }
        if is("GEMINI_CLI_TRUST_WORKSPACE", "true") {
            return Trust::Trusted;
        }
    }
    if !asks(settings, is_strict) {
        return Trust::Trusted;
    }
    if settings.trust.broken.is_some() && release.agent == Dialect::GeminiCli {
        return Trust::Unreadable;
    }
    let rules = settings.trust.rules.iter();
    let rules = rules.filter(|rule| folder.starts_with(&rule.folder));
    match rules.max_by_key(|rule| rule.length) {
        Some(rule) if rule.is_trusted => Trust::Trusted,
        Some(_) => Trust::Distrusted,
        None => Trust::Unknown,
    }
}

/// Returns true if trust is a matter at all. A folder's own settings have no say in it.
fn asks(settings: &Settings, is_default: bool) -> bool {
    let files = settings.files.iter().rev();
    let mut counting = files.filter(|file| file.scope != Scope::Project);
    let set = counting.find_map(|file| file.content.get(&["security", "folderTrust", "enabled"]));
    set.and_then(Value::as_bool).unwrap_or(is_default)
}
