//! Editors without a plugin, by their language-server clients: what was seen to work in each, and what it was seen
//! not to do. A test says so by its name, which starts with `cannot` then.

use std::collections::BTreeSet;
use std::fmt::Write as _;

/// How the titles of their tests start.
const SUITE: &str = "pillion/lsp ";

/// The modules of these tests, or what the rest of a name has to hold, and the editor.
const CLIENTS: [(&str, &str, &str); 5] = [
    ("helix", "", "Helix 25.01"),
    ("kate", "", "Kate 25.04"),
    ("emacs", "lsp_mode", "Emacs 30.1 with lsp-mode 9.0"),
    ("emacs", "", "Emacs 30.1 with eglot"),
    (
        "kakoune",
        "",
        "Kakoune 2022.10 and 2024.05 with kakoune-lsp 22.0",
    ),
];

/// Parts of names that are not sentences: which client, or which build of an agent.
const VARIANTS: [&str; 4] = ["eglot", "lsp_mode", "native", "node"];

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
        if let Some(test) = parts.find(|part| !VARIANTS.contains(part)) {
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
            "pillion/lsp kate::cannot_show_a_selection",
            "pillion/lsp kate::two_agents_get_an_outcome_each",
            "pillion/lsp emacs::review::a_proposal_is_decided::lsp_mode",
            "pillion/lsp emacs::review::a_proposal_is_decided::eglot",
            "pillion/lsp helix::claude::claude_writes_it::node",
            "pillion/lsp helix::claude::claude_writes_it::native",
            "pillion/lsp framing::a_long_header_is_refused",
            "pillion/nvim helix::x",
        ] {
            clients.passed(title);
        }
        assert_eq!(
            clients.lists(),
            "**Helix 25.01**\n\n- claude writes it\n\n\
             **Kate 25.04**\n\n- two agents get an outcome each\n- cannot show a selection\n\n\
             **Emacs 30.1 with lsp-mode 9.0**\n\n- a proposal is decided\n\n\
             **Emacs 30.1 with eglot**\n\n- a proposal is decided\n"
        );
    }
}
