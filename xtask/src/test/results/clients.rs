//! Editors without a plugin, by their language-server clients: what was seen to work in each, and what it was seen
//! not to do. A test says so by its name, which starts with `cannot` then.

use std::collections::BTreeSet;
use std::fmt::Write as _;

/// The start of the titles of their tests.
const SUITE: &str = "pillion/lsp ";

/// The modules of these tests, or what the rest of a name has to hold, and the editor.
const CLIENTS: [(&str, &str, &str); 5] = [
    ("helix", "", "Helix 25.01 and 25.07"),
    ("kate", "", "Kate 25.04 and 26.08"),
    (
        "emacs",
        "lsp_mode",
        "Emacs 30.1 with lsp-mode 9.0, Emacs 30.2 with lsp-mode 10.0",
    ),
    ("emacs", "", "Emacs 30.1 and 30.2 with eglot"),
    (
        "kakoune",
        "",
        "Kakoune 2024.05 and 2026.05 with kakoune-lsp 22.0",
    ),
];

/// The starts of parts of names that are not sentences: which release, which client, or which build of an agent.
const VARIANTS: [&str; 7] = [
    "eglot_in_",
    "helix_2",
    "kakoune_2",
    "kate_2",
    "lsp_mode_in_",
    "native_",
    "node_",
];

const CANNOT: &str = "cannot";

/// The names of the tests that passed, by the place of their client in the list.
#[derive(Debug, Default)]
pub struct Clients(BTreeSet<(usize, bool, String)>);

impl Clients {
    /// Notes a test that passed, if it is one of these.
    pub fn passed(&mut self, title: &str) {
        let Some((module, rest)) = title
            .strip_prefix(SUITE)
            .and_then(|test| test.split_once("::"))
        else {
            return;
        };
        let is_of = |(of, part, _): &(&str, &str, &str)| *of == module && rest.contains(part);
        let Some(client) = CLIENTS.iter().position(is_of) else {
            return;
        };
        let mut parts = rest.rsplit("::");
        let is_variant = |part: &str| VARIANTS.iter().any(|it| part.starts_with(it));
        if let Some(test) = parts.find(|part| !is_variant(part)) {
            let is_limit = test.starts_with(CANNOT);
            self.0.insert((client, is_limit, test.replace('_', " ")));
        }
    }

    /// A list for each client, first of what works.
    pub fn lists(&self) -> String {
        let mut lists = String::new();
        let mut last = None;
        for (client, _, test) in &self.0 {
            if last != Some(client) {
                let break_before = if last.is_some() { "\n" } else { "" };
                let (.., name) = CLIENTS[*client];
                let _ = writeln!(lists, "{break_before}**{name}**\n");
                last = Some(client);
            }
            let _ = writeln!(lists, "- {test}");
        }
        lists
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_client_has_a_list_and_what_it_cannot_do_comes_last() {
        let mut clients = Clients::default();
        for title in [
            "pillion/lsp kate::cannot_show_a_selection::kate_25_04",
            "pillion/lsp kate::two_agents_get_an_outcome_each::kate_26_08",
            "pillion/lsp emacs::review::a_proposal_is_decided::lsp_mode_in_emacs_30_1",
            "pillion/lsp emacs::review::a_proposal_is_decided::eglot_in_emacs_30_2",
            "pillion/lsp helix::claude::claude_writes_it::node_helix_25_01",
            "pillion/lsp helix::claude::claude_writes_it::native_helix_25_07",
            "pillion/lsp framing::a_long_header_is_refused",
            "pillion/nvim helix::x",
        ] {
            clients.passed(title);
        }
        assert_eq!(
            clients.lists(),
            "**Helix 25.01 and 25.07**\n\n- claude writes it\n\n\
             **Kate 25.04 and 26.08**\n\n- two agents get an outcome each\n- cannot show a selection\n\n\
             **Emacs 30.1 with lsp-mode 9.0, Emacs 30.2 with lsp-mode 10.0**\n\n- a proposal is decided\n\n\
             **Emacs 30.1 and 30.2 with eglot**\n\n- a proposal is decided\n"
        );
    }
}
