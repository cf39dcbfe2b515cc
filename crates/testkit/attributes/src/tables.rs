//! The meaning of each attribute: the names of its tests, their arguments, and the programs that they need.

/// An editor and its releases, the oldest first. Every run has the newest one.
pub struct Editor<'a> {
    /// As the reasons of ignored tests name it, by which `cargo xtask test` knows what to install.
    name: &'static str,
    /// The type of the releases in the testkit.
    version: &'static str,
    /// The name of the tests with a release, and its variant.
    releases: &'a [(&'static str, &'static str)],
}

pub const NEOVIM: Editor = Editor {
    name: "Neovim",
    version: "NvimVersion",
    releases: &[("neovim_0_10", "V0_10"), ("neovim_0_12", "V0_12")],
};

pub const VIM: Editor = Editor {
    name: "Vim",
    version: "VimVersion",
    releases: &[("vim_9_1", "V9_1"), ("vim_9_2", "V9_2")],
};

pub const EMACS: Editor = Editor {
    name: "Emacs",
    version: "EmacsVersion",
    releases: &[("emacs_29_3", "V29_3"), ("emacs_30_2", "V30_2")],
};

/// The releases that Debian has, with what it packages for them.
pub const DEBIANS_EMACS: Editor = Editor {
    releases: &[("emacs_30_1", "V30_1"), ("emacs_30_2", "V30_2")],
    ..EMACS
};

pub const KAKOUNE: Editor = Editor {
    name: "Kakoune",
    version: "KakouneVersion",
    releases: &[
        ("kakoune_2024_05", "V2024_05"),
        ("kakoune_2026_05", "V2026_05"),
    ],
};

pub const HELIX: Editor = Editor {
    name: "Helix",
    version: "HelixVersion",
    releases: &[("helix_25_01", "V25_01"), ("helix_25_07", "V25_07")],
};

pub const KATE: Editor = Editor {
    name: "Kate",
    version: "KateVersion",
    releases: &[("kate_25_04", "V25_04"), ("kate_26_08", "V26_08")],
};

/// The word of an attribute whose tests are all in the default set, those of older releases too: what a person does
/// each day.
pub const SMOKE: &str = "smoke";

/// The word of an attribute of which no test is in the default set.
pub const ALL: &str = "all";

/// Codex CLI, whose releases are treated as those of an editor are.
const CODEX: Editor = Editor {
    name: "the real agents and Codex CLI",
    version: "CodexRelease",
    releases: &[("codex_0_169", "V0_169"), ("codex_0_171", "V0_171")],
};

/// A word that an attribute takes, and what a test with it needs.
type Word = (&'static str, &'static str);

const WORDS: [Word; 5] = [
    ("agents", "the real agents"),
    ("claude_code", "the real agents, Claude Code"),
    ("conformance", "companion-conformance"),
    ("kakoune_lsp", "kakoune-lsp"),
    ("plugins", "Debian's plugins"),
];

/// The tests that an attribute makes of a function.
pub struct Table {
    pub attribute: &'static str,
    /// The name and the type of each parameter of the function. The types must be in scope under these names.
    pub parameters: Vec<(&'static str, &'static str)>,
    pub rows: Vec<Row>,
    /// The words that the attribute takes.
    pub words: &'static [Word],
}

/// One test.
pub struct Row {
    pub name: String,
    /// The arguments of the function: for each parameter a variant of its type.
    pub variants: Vec<String>,
    /// The programs that the test needs, whether the attribute has a word or not.
    pub needs: &'static str,
    /// True if it is not of the newest release.
    pub is_older: bool,
}

impl Editor<'_> {
    /// Returns true if the release is not the newest.
    fn is_older(&self, release: &str) -> bool {
        self.releases
            .last()
            .is_some_and(|(newest, _)| *newest != release)
    }
}

impl Table {
    pub fn of_releases(attribute: &'static str, editor: &Editor<'_>) -> Table {
        let row = |&(name, variant): &(&str, &str)| Row {
            name: name.to_owned(),
            variants: vec![variant.to_owned()],
            needs: editor.name,
            is_older: editor.is_older(name),
        };
        Table {
            attribute,
            parameters: vec![("version", editor.version)],
            rows: editor.releases.iter().map(row).collect(),
            words: &WORDS,
        }
    }

    pub fn of_codex() -> Table {
        Table {
            parameters: vec![("release", CODEX.version)],
            words: &[],
            ..Table::of_releases("each_codex", &CODEX)
        }
    }

    pub fn of_editors() -> Table {
        let rows = [NEOVIM, VIM, EMACS, KAKOUNE]
            .into_iter()
            .flat_map(|editor| {
                let Editor { name, version, .. } = editor;
                editor.releases.iter().map(move |(test, variant)| Row {
                    name: (*test).to_owned(),
                    variants: vec![format!("{name}(::pillion_testkit::{version}::{variant})")],
                    needs: name,
                    is_older: editor.is_older(test),
                })
            });
        Table {
            attribute: "each_editor",
            parameters: vec![("kind", "Kind")],
            rows: rows.collect(),
            words: &WORDS,
        }
    }

    pub fn of_emacs_clients() -> Table {
        let clients = [("eglot", "Eglot"), ("lsp_mode", "LspMode")];
        let rows = clients.into_iter().flat_map(|(client, client_variant)| {
            let releases = DEBIANS_EMACS.releases.iter();
            releases.map(move |(release, variant)| Row {
                name: format!("{client}_in_{release}"),
                variants: vec![client_variant.to_owned(), (*variant).to_owned()],
                needs: EMACS.name,
                is_older: DEBIANS_EMACS.is_older(release),
            })
        });
        Table {
            attribute: "each_emacs_client",
            parameters: vec![("client", "Client"), ("version", EMACS.version)],
            rows: rows.collect(),
            words: &WORDS,
        }
    }

    pub fn of_agents_in_neovim() -> Table {
        Table {
            attribute: "each_agent_in_neovim",
            parameters: vec![("kind", "AgentKind"), ("version", NEOVIM.version)],
            rows: pairs(
                "the real agents and Neovim",
                &[
                    ("gemini_neovim_0_12", "Gemini", "V0_12", false),
                    ("qwen_neovim_0_10", "Qwen", "V0_10", true),
                ],
            ),
            words: &[],
        }
    }

    pub fn of_claude_in_neovim() -> Table {
        Table {
            attribute: "each_claude_in_neovim",
            parameters: vec![("release", "ClaudeRelease"), ("version", NEOVIM.version)],
            rows: pairs(
                "the real agents, Claude Code and Neovim",
                &[
                    ("native_neovim_0_12", "Native", "V0_12", false),
                    ("node_neovim_0_10", "Node", "V0_10", true),
                ],
            ),
            words: &[],
        }
    }

    pub fn of_claude_in_helix() -> Table {
        Table {
            attribute: "each_claude_in_helix",
            parameters: vec![("release", "ClaudeRelease"), ("version", HELIX.version)],
            rows: pairs(
                "the real agents, Claude Code and Helix",
                &[
                    ("native_helix_25_07", "Native", "V25_07", false),
                    ("node_helix_25_01", "Node", "V25_01", true),
                ],
            ),
            words: &[],
        }
    }
}

/// A row for each name, the variants of its two parameters, and whether it is of older releases.
fn pairs(needs: &'static str, rows: &[(&str, &str, &str, bool)]) -> Vec<Row> {
    let row = |&(name, first, second, is_older): &(&str, &str, &str, bool)| Row {
        name: name.to_owned(),
        variants: vec![first.to_owned(), second.to_owned()],
        needs,
        is_older,
    };
    rows.iter().map(row).collect()
}
