//! The languages of settings files: each agent has one, and `settings` edits it.

/// The language of a settings file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Format {
    /// JSON, with comments.
    Json,
    /// JSON as it is defined, in a file that this program skips as a whole if it has comments.
    PlainJson(&'static str),
    /// TOML, with a list of hooks for each event.
    Toml,
    /// TOML, with one list of hooks, each of which names its event in this field.
    TomlList(&'static str),
    /// A program of the agent's own language, which is a hook as a whole: its text is in `agents`.
    Script,
}

/// The field of an entry that holds a whole [script](Format::Script).
pub(crate) const SOURCE: &str = "source";
