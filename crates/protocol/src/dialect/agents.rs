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

/// One home for each fact about agents: its meaning, its type, and what it is of an agent of which nothing is known but its names
/// and what its hooks tell. Those that are not `inner` can be asked of a [`Dialect`].
macro_rules! facts {
    (
        $($(#[$doc:meta])* pub $name:ident: $type:ty = $plain:expr,)*
        inner { $($(#[$own_doc:meta])* $own:ident: $own_type:ty = $own_plain:expr,)* }
    ) => {
        /// One agent.
        pub(crate) struct Row {
            $($(#[$doc])* pub(crate) $name: $type,)*
            $($(#[$own_doc])* pub(crate) $own: $own_type,)*
        }

        impl Row {
            const PLAIN: Self = Self { $($name: $plain,)* $($own: $own_plain,)* };
        }

        impl Dialect {
            $($(#[$doc])* pub fn $name(self) -> $type {
                self.row().$name
            })*
        }
    };
}

facts! {
    /// The agent's short name, which is also its command: `gemini`, `qwen`.
    pub name: &'static str = "",
    /// The agent's name for people.
    pub display_name: &'static str = "",
    /// The npm package that brings the agent's command.
    pub package: Option<&'static str> = None,
    /// The name of its maker's extension for VS Code, to which it connects in a terminal of a window that has it.
    pub extension: Option<&'static str> = None,
    /// The variable that it sets for the commands that it runs, and nobody else sets.
    pub shell_variable: Option<&'static str> = None,
    /// Its protocol towards a companion.
    pub protocol: Protocol = Protocol::Hooks,
    /// Every place where some release looks, the specified one first.
    pub places: &'static [Place] = &[],
    /// The words that people type after `pillion run` so that it asks before it changes files.
    pub usual_command: &'static str = "",
    /// The names, in small letters, of the folders and files in which it keeps settings, hooks, servers and instructions of a project or a user.
    pub keeps_settings_in: &'static [&'static str] = &[],
    /// Returns true if it takes an accepted text that is empty for none, and writes its own
    /// proposal.
    pub ignores_empty_text: bool = false,
    /// Returns true if there are texts that it [takes for a rejection](Dialect::takes_for_rejection).
    pub unchanged_is_rejection: bool = false,
    /// Returns true if it writes nothing, whatever is accepted, if the file is not as it was when it
    /// read it.
    pub refuses_changed_file: bool = false,
    /// Returns true if it adds no context to the prompt right after a rejection.
    pub misses_context_after_rejection: bool = false,
    /// Returns true if it shows what it wants to change: opencode only reads which files are open.
    pub proposes: bool = false,
    /// Returns true if it asks for the diagnostics of a file just before it writes it, in every
    /// mode.
    pub announces_writes: bool = false,
    /// Returns true if it writes the text that it proposed, whatever was accepted: a decision is a yes or a no.
    pub writes_own_text: bool = false,
    /// Returns true if it asks about several changes of a file at once, makes the first, and does not find the text then that it would
    /// replace as a whole by an edited second one.
    pub loses_later_edits: bool = false,
    /// Returns true if its hooks are called once its own question about a change was answered with yes, in the modes in which it asks.
    pub asks_before_hooks: bool = false,
    /// Returns true if it connects by itself only where its folder is a workspace root, and not below one.
    pub connects_in_roots_only: bool = false,
    /// Returns true if it looks for a companion only at its start, and later when the person tells it to.
    pub connects_when_told: bool = false,
    /// The number of characters after which it cuts what is selected, if it adds that to every prompt and never says that one was
    /// sent.
    pub cuts_selection: Option<usize> = None,
    /// The folder below which it keeps a record of each session, in which its prompts stand, if it never says that it has sent one.
    pub records: Option<Base> = None,
    inner {
        /// The command that installs it if none does.
        installer: &'static str = "",
        variables: Option<Variables> = None,
        /// The name by which it is known in `initialize`, where several agents present one token.
        client: Option<&'static str> = None,
        /// The agent whose discovery files it reads, having none of its own.
        follows: Option<Dialect> = None,
        /// The place where it does not look for those.
        overlooks: Option<Base> = None,
        /// The newest release that writes an accepted text without its last line feed.
        drops_last_line_feed: Option<(u32, u32, u32)> = None,
    }
}

const fn in_tmp(folder: &'static [&'static str], name: FileName) -> Place {
    Place {
        base: Base::TmpDir,
        folder,
        name,
    }
}
