//! The peculiarities of some language-server clients, known by the name that they give themselves.
//!
//! A client that may send fast edits out of order (Helix 25.01) is asked for whole texts, of which the newest
//! version counts.

/// One client's differences from the specification.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Quirks {
    /// The editor that it belongs to, if the name is not the editor's.
    pub editor: Option<&'static str>,
    /// The cursor lies on a character, which requests give as a range.
    pub has_block_cursor: bool,
    /// `window/showDocument` takes the focus if `takeFocus` is there, whatever its value.
    pub misreads_take_focus: bool,
    /// It never answers `window/showDocument`.
    pub never_shows: bool,
    /// The same of releases that do not declare `window.showDocument`. Others can, and do not declare it.
    pub shows_only_if_declared: bool,
    /// The keys that decide, said with each proposal: others that close a window may end the editor.
    pub how_to_decide: Option<&'static str>,
    /// It opens a document with its server only once the person is in it.
    pub attaches_late: bool,
    /// Edits that come fast are sent in any order.
    pub mixes_up_edits: bool,
    /// It asks for the code actions of each line that the cursor comes to, and gives the line as the range.
    pub asks_for_each_line: bool,
}

impl Quirks {
    /// Those of the client with this name.
    pub fn of(client: &str) -> Self {
        let none = Self::default();
        let of_editor = |editor| Self {
            editor: Some(editor),
            ..none
        };
        match client.trim().to_lowercase().as_str() {
            "helix" => Self {
                has_block_cursor: true,
                mixes_up_edits: true,
                how_to_decide: Some("`space a` decides, `:bc` rejects, and `:q` may quit Helix"),
                ..none
            },
            "eglot" => Self {
                misreads_take_focus: true,
                attaches_late: true,
                ..of_editor("Emacs")
            },
            // lsp-mode: 8.0 leaves the question unanswered, and 9.0 declares that it can.
            "emacs" => Self {
                shows_only_if_declared: true,
                ..of_editor("Emacs")
            },
            "vim-lsp" => Self {
                never_shows: true,
                asks_for_each_line: true,
                ..of_editor("Vim")
            },
            "kak-lsp" | "kakoune-lsp" => of_editor("Kakoune"),
            "sublime text lsp" => of_editor("Sublime Text"),
            _ => none,
        }
    }
}
