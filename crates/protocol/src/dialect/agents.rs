//! The facts about each agent, as data: a file with one row each.

pub(crate) mod claude;
pub(crate) mod codex;
pub(crate) mod copilot;
pub(crate) mod gemini;
pub(crate) mod kimi;
pub(crate) mod opencode;
pub(crate) mod qwen;
pub(crate) mod vibe;

use crate::dialect::{Base, Dialect, FileName, Place, Protocol, Variables};

/// One agent.
pub(crate) struct Row {
    /// Its short name, which is also its command.
    pub(crate) name: &'static str,
    pub(crate) display_name: &'static str,
    /// The npm package that brings its command, if one does.
    pub(crate) package: Option<&'static str>,
    /// The command that installs it if none does.
    pub(crate) installer: &'static str,
    /// Every place where some release looks, the specified one first.
    pub(crate) places: &'static [Place],
    pub(crate) variables: Option<Variables>,
    /// The variable that it sets for the commands that it runs.
    pub(crate) shell_variable: Option<&'static str>,
    pub(crate) protocol: Protocol,
    /// The name by which it is known in `initialize`, where several agents present one token.
    pub(crate) client: Option<&'static str>,
    pub(crate) usual_command: &'static str,
    /// The agent whose discovery files it reads, having none of its own.
    pub(crate) follows: Option<Dialect>,
    /// The place where it does not look for those.
    pub(crate) overlooks: Option<Base>,
    pub(crate) ignores_empty_text: bool,
    pub(crate) unchanged_is_rejection: bool,
    pub(crate) refuses_changed_file: bool,
    /// The newest release that writes an accepted text without its last line feed.
    pub(crate) drops_last_line_feed: Option<(u32, u32, u32)>,
    pub(crate) misses_context_after_rejection: bool,
    pub(crate) proposes: bool,
    pub(crate) announces_writes: bool,
    pub(crate) writes_own_text: bool,
    pub(crate) connects_in_roots_only: bool,
    pub(crate) connects_when_told: bool,
    pub(crate) cuts_selection: Option<usize>,
}

impl Row {
    /// An agent of which nothing is known but its names and what its hooks tell.
    const PLAIN: Self = Self {
        name: "",
        display_name: "",
        package: None,
        installer: "",
        places: &[],
        variables: None,
        shell_variable: None,
        protocol: Protocol::Hooks,
        client: None,
        usual_command: "",
        follows: None,
        overlooks: None,
        ignores_empty_text: false,
        unchanged_is_rejection: false,
        refuses_changed_file: false,
        drops_last_line_feed: None,
        misses_context_after_rejection: false,
        proposes: false,
        announces_writes: false,
        writes_own_text: false,
        connects_in_roots_only: false,
        connects_when_told: false,
        cuts_selection: None,
    };
}

const fn in_tmp(folder: &'static [&'static str], name: FileName) -> Place {
    Place {
        base: Base::TmpDir,
        folder,
        name,
    }
}
