//! What is peculiar to some language-server clients, known by the name that they give themselves.

/// How one client differs from what the specification lets expect.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Quirks {
    /// The name that the client gives itself, in lower case.
    client: &'static str,
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
    /// It opens a document with its server only once the person is in it.
    pub attaches_late: bool,
    /// Edits that come fast are sent in any order.
    pub mixes_up_edits: bool,
    /// It asks for the code actions of each line that the cursor comes to, and gives the line as the range.
    pub asks_for_each_line: bool,
}

/// A client without any.
const NONE: Quirks = Quirks {
    client: "",
    editor: None,
    has_block_cursor: false,
    misreads_take_focus: false,
    never_shows: false,
    shows_only_if_declared: false,
    attaches_late: false,
    mixes_up_edits: false,
    asks_for_each_line: false,
};

const KNOWN: [Quirks; 7] = [
    Quirks {
        client: "helix",
        has_block_cursor: true,
        mixes_up_edits: true,
        ..NONE
    },
    Quirks {
        client: "eglot",
        misreads_take_focus: true,
        attaches_late: true,
        ..of_editor("Emacs")
    },
    // lsp-mode: 8.0 leaves the question unanswered, and 9.0 declares that it can.
    Quirks {
        client: "emacs",
        shows_only_if_declared: true,
        ..of_editor("Emacs")
    },
    Quirks {
        client: "vim-lsp",
        never_shows: true,
        asks_for_each_line: true,
        ..of_editor("Vim")
    },
    Quirks {
        client: "kak-lsp",
        ..of_editor("Kakoune")
    },
    Quirks {
        client: "kakoune-lsp",
        ..of_editor("Kakoune")
    },
    Quirks {
        client: "sublime text lsp",
        ..of_editor("Sublime Text")
    },
];

const fn of_editor(editor: &'static str) -> Quirks {
    Quirks {
        editor: Some(editor),
        ..NONE
    }
}

impl Quirks {
    /// Those of the client with this name.
    pub fn of(client: &str) -> Self {
        let client = client.trim().to_lowercase();
        let mut known = KNOWN.into_iter();
        known.find(|known| known.client == client).unwrap_or(NONE)
    }
}
