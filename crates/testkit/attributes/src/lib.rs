//! Attributes that make one function a test with each release of an editor, or with each agent.
//!
//! ```text
//! /// A mode of its own keeps the view.
//! #[each_neovim]
//! fn it_does_something(version: NvimVersion) { … }
//!
//! #[each_neovim(agents)]
//! fn it_does_something_with_real_agents(version: NvimVersion) { … }
//!
//! #[each_neovim(smoke, agents)]
//! fn an_old_release_does_it_too(version: NvimVersion) { … }
//! ```
//!
//! The function stays as it is. Beside it is a module of the same name with one test for each row of the
//! attribute's table: `it_does_something::neovim_0_10` and so on. The tests are ignored, and the reason says what
//! they need; a word in parentheses stands for something that they need beside the editor. A run has the tests of the
//! newest releases; those of older ones are only in `cargo xtask test --all`, unless the attribute says `smoke`. Where it
//! says `all`, the newest are only there too. The tables, the releases and the words are in `tables.rs`.

mod expansion;
mod tables;

use proc_macro::TokenStream;

use self::expansion::expand;
use self::tables::{DEBIANS_EMACS, EMACS, HELIX, KAKOUNE, KATE, NEOVIM, Table, VIM};

/// A test in each Neovim: `fn name(version: NvimVersion)`.
#[proc_macro_attribute]
pub fn each_neovim(word: TokenStream, test: TokenStream) -> TokenStream {
    attribute(&Table::of_releases("each_neovim", &NEOVIM), word, test)
}

/// A test in each Vim: `fn name(version: VimVersion)`.
#[proc_macro_attribute]
pub fn each_vim(word: TokenStream, test: TokenStream) -> TokenStream {
    attribute(&Table::of_releases("each_vim", &VIM), word, test)
}

/// A test in the oldest Emacs and the newest: `fn name(version: EmacsVersion)`.
#[proc_macro_attribute]
pub fn each_emacs(word: TokenStream, test: TokenStream) -> TokenStream {
    attribute(&Table::of_releases("each_emacs", &EMACS), word, test)
}

/// A test in each Emacs that Debian has, beside what it packages for it: `fn name(version: EmacsVersion)`.
#[proc_macro_attribute]
pub fn each_newer_emacs(word: TokenStream, test: TokenStream) -> TokenStream {
    let table = Table::of_releases("each_newer_emacs", &DEBIANS_EMACS);
    attribute(&table, word, test)
}

/// A test in each Kakoune: `fn name(version: KakouneVersion)`.
#[proc_macro_attribute]
pub fn each_kakoune(word: TokenStream, test: TokenStream) -> TokenStream {
    attribute(&Table::of_releases("each_kakoune", &KAKOUNE), word, test)
}

/// A test in each Helix: `fn name(version: HelixVersion)`.
#[proc_macro_attribute]
pub fn each_helix(word: TokenStream, test: TokenStream) -> TokenStream {
    attribute(&Table::of_releases("each_helix", &HELIX), word, test)
}

/// A test in each Kate: `fn name(version: KateVersion)`.
#[proc_macro_attribute]
pub fn each_kate(word: TokenStream, test: TokenStream) -> TokenStream {
    attribute(&Table::of_releases("each_kate", &KATE), word, test)
}

/// A test with each Codex CLI: `fn name(release: CodexRelease)`.
#[proc_macro_attribute]
pub fn each_codex(word: TokenStream, test: TokenStream) -> TokenStream {
    attribute(&Table::of_codex(), word, test)
}

/// A test in each release of each editor that has a plugin: `fn name(kind: Kind)`.
#[proc_macro_attribute]
pub fn each_editor(word: TokenStream, test: TokenStream) -> TokenStream {
    attribute(&Table::of_editors(), word, test)
}

/// A test with each language-server client in each Emacs that Debian has:
/// `fn name(client: Client, version: EmacsVersion)`.
#[proc_macro_attribute]
pub fn each_emacs_client(word: TokenStream, test: TokenStream) -> TokenStream {
    attribute(&Table::of_emacs_clients(), word, test)
}

/// A test with Gemini CLI in the newer Neovim, and with Qwen Code in the older one:
/// `fn name(kind: AgentKind, version: NvimVersion)`.
#[proc_macro_attribute]
pub fn each_agent_in_neovim(word: TokenStream, test: TokenStream) -> TokenStream {
    attribute(&Table::of_agents_in_neovim(), word, test)
}

/// A test with the newer Claude Code in the newer Neovim, and with the older ones of both:
/// `fn name(release: ClaudeRelease, version: NvimVersion)`.
#[proc_macro_attribute]
pub fn each_claude_in_neovim(word: TokenStream, test: TokenStream) -> TokenStream {
    attribute(&Table::of_claude_in_neovim(), word, test)
}

/// A test with the newer Claude Code and the newer Helix, and with the older ones of both:
/// `fn name(release: ClaudeRelease, version: HelixVersion)`.
#[proc_macro_attribute]
pub fn each_claude_in_helix(word: TokenStream, test: TokenStream) -> TokenStream {
    attribute(&Table::of_claude_in_helix(), word, test)
}

fn attribute(table: &Table, word: TokenStream, test: TokenStream) -> TokenStream {
    expand(table, word.into(), test.into()).into()
}
