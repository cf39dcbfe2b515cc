//! The expansions of functions by the attributes, and the errors for those that they cannot use.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on says where")]

#[path = "../src/expansion.rs"]
mod expansion;
#[path = "../src/tables.rs"]
mod tables;

use proc_macro2::TokenStream;
use quote::quote;

use self::expansion::expand;
use self::tables::{DEBIANS_EMACS, HELIX, KAKOUNE, KATE, NEOVIM, Table, VIM};

/// The expansion without the function itself, which must stand at its start as it was.
fn tests(table: &Table, word: TokenStream, function: &TokenStream) -> String {
    let expanded = expand(table, word, function.clone()).to_string();
    let tests = expanded.strip_prefix(&function.to_string());
    tests
        .unwrap_or_else(|| panic!("{expanded}"))
        .trim()
        .to_owned()
}

/// The name, the reason and the argument of each test.
fn rows(table: &Table, word: TokenStream, function: &TokenStream) -> Vec<[String; 3]> {
    let expanded = tests(table, word, function).replace(' ', "");
    let tests = expanded.split("#[test]").skip(1).map(|test| {
        let between = |start: &str, end: &str| {
            let (_, rest) = test.split_once(start).unwrap();
            rest.split_once(end).unwrap().0.to_owned()
        };
        let reason = between("=\"", ":cargoxtasktest");
        [between("]fn", "("), reason, between("super::it(", ");")]
    });
    tests.collect()
}

#[test]
fn each_release_has_a_test_beside_the_function() {
    let function = quote! {
        /// What it is about.
        fn it_works(version: VimVersion) {
            let body = super::anything(version);
        }
    };
    let expected = quote! {
        mod it_works {
            #[test]
            #[ignore = "in --all: needs Vim: cargo xtask test --all"]
            fn vim_9_1() {
                super::it_works(super::VimVersion::V9_1);
            }
            #[test]
            #[ignore = "needs Vim: cargo xtask test"]
            fn vim_9_2() {
                super::it_works(super::VimVersion::V9_2);
            }
        }
    };
    let table = Table::of_releases("each_vim", &VIM);
    assert_eq!(tests(&table, quote!(), &function), expected.to_string());
}

#[test]
fn each_editor_needs_itself_and_what_the_word_says() {
    let function = quote!(
        fn it(kind: Kind) {}
    );
    let rows = rows(&Table::of_editors(), quote!(claude_code), &function);
    let names: Vec<_> = rows.iter().map(|[name, ..]| name.as_str()).collect();
    let expected = "neovim_0_10 neovim_0_12 vim_9_1 vim_9_2 emacs_29_3 emacs_30_2 \
        kakoune_2024_05 kakoune_2026_05";
    assert_eq!(names.join(" "), expected);
    let [_, reason, argument] = &rows[4];
    assert_eq!(reason, "in--all:needstherealagents,ClaudeCodeandEmacs");
    let version = "::pillion_testkit::EmacsVersion::V29_3";
    assert_eq!(*argument, format!("super::Kind::Emacs({version})"));
}

#[test]
fn each_client_is_in_each_newer_emacs() {
    let function = quote!(
        fn it(_client: Client, version: EmacsVersion) {}
    );
    let rows = rows(&Table::of_emacs_clients(), quote!(), &function);
    let names: Vec<_> = rows.iter().map(|[name, ..]| name.as_str()).collect();
    let expected = "eglot_in_emacs_30_1 eglot_in_emacs_30_2 lsp_mode_in_emacs_30_1 \
        lsp_mode_in_emacs_30_2";
    assert_eq!(names.join(" "), expected);
    let [_, reason, argument] = &rows[3];
    assert_eq!(reason, "needsEmacs");
    let arguments = "super::Client::LspMode,super::EmacsVersion::V30_2";
    assert_eq!(argument, arguments);
}

#[test]
fn agents_have_their_own_editors() {
    for (table, kind, version, expected) in [
        (
            Table::of_agents_in_neovim(),
            quote!(AgentKind),
            quote!(NvimVersion),
            [
                "qwen_neovim_0_10",
                "in--all:needstherealagentsandNeovim",
                "super::AgentKind::Qwen,super::NvimVersion::V0_10",
            ],
        ),
        (
            Table::of_claude_in_neovim(),
            quote!(ClaudeRelease),
            quote!(NvimVersion),
            [
                "node_neovim_0_10",
                "in--all:needstherealagents,ClaudeCodeandNeovim",
                "super::ClaudeRelease::Node,super::NvimVersion::V0_10",
            ],
        ),
        (
            Table::of_claude_in_helix(),
            quote!(ClaudeRelease),
            quote!(HelixVersion),
            [
                "node_helix_25_01",
                "in--all:needstherealagents,ClaudeCodeandHelix",
                "super::ClaudeRelease::Node,super::HelixVersion::V25_01",
            ],
        ),
    ] {
        let function = quote!(
            fn it(with: #kind, version: #version) {}
        );
        assert_eq!(rows(&table, quote!(), &function)[1], expected);
    }
}

/// The last test is the one of the newest release, with or without the oldest.
#[test]
fn each_word_is_in_the_reason() {
    for (table, word, version, reason, last) in [
        (
            Table::of_releases("each_kakoune", &KAKOUNE),
            quote!(kakoune_lsp),
            quote!(KakouneVersion),
            "needskakoune-lspandKakoune",
            "kakoune_2026_05",
        ),
        (
            Table::of_releases("each_helix", &HELIX),
            quote!(plugins),
            quote!(HelixVersion),
            "needsDebian'spluginsandHelix",
            "helix_25_07",
        ),
        (
            Table::of_releases("each_newer_emacs", &DEBIANS_EMACS),
            quote!(agents),
            quote!(EmacsVersion),
            "needstherealagentsandEmacs",
            "emacs_30_2",
        ),
        (
            Table::of_releases("each_kakoune", &KAKOUNE),
            quote!(conformance),
            quote!(KakouneVersion),
            "needscompanion-conformanceandKakoune",
            "kakoune_2026_05",
        ),
    ] {
        let function = quote!(
            fn it(version: #version) {}
        );
        let rows = rows(&table, word, &function);
        assert_eq!(rows.len(), 2);
        assert_eq!(rows[0][1], format!("in--all:{reason}"));
        assert_eq!(rows[1][1], reason);
        assert_eq!(rows[1][0], last);
    }
}

/// Documentation and lints are about the function alone.
#[test]
fn a_condition_is_one_of_the_tests_too() {
    let function = quote! {
        /// What it is about.
        #[cfg(target_os = "linux")]
        #[expect(dead_code)]
        pub fn it(version: KateVersion) {}
    };
    let table = Table::of_releases("each_kate", &KATE);
    let tests = tests(&table, quote!(), &function);
    let start = quote!(#[cfg(target_os = "linux")] mod it).to_string();
    assert!(tests.starts_with(&start), "{tests}");
}

/// Of each editor, a run without `--all` has the newest release, which is the last one in its table.
#[test]
fn a_word_puts_older_releases_into_every_run_and_another_one_puts_none() {
    let function = quote!(
        fn it(kind: Kind) {}
    );
    let newest = "neovim_0_12 vim_9_2 emacs_30_2 kakoune_2026_05";
    let each = "neovim_0_10 neovim_0_12 vim_9_1 vim_9_2 emacs_29_3 emacs_30_2 kakoune_2024_05 kakoune_2026_05";
    for (words, expected) in [
        (quote!(), newest),
        (quote!(agents), newest),
        (quote!(smoke), each),
        (quote!(smoke, agents), each),
        (quote!(agents, smoke), each),
        (quote!(all), ""),
        (quote!(all, agents), ""),
    ] {
        let rows = rows(&Table::of_editors(), words.clone(), &function);
        let in_every_run = rows.iter().filter(|[_, it, _]| !it.starts_with("in--all:"));
        let names: Vec<_> = in_every_run.map(|[name, ..]| name.as_str()).collect();
        assert_eq!(names.join(" "), expected, "{words}");
    }
}

/// Gemini CLI and Qwen Code are in one release of Neovim each; of Claude Code and Codex CLI there are two.
#[test]
fn each_agent_in_an_editor_is_in_every_run_once() {
    for (table, function, expected) in [
        (
            Table::of_agents_in_neovim(),
            quote!(
                fn it(kind: AgentKind, version: NvimVersion) {}
            ),
            "gemini_neovim_0_12",
        ),
        (
            Table::of_claude_in_neovim(),
            quote!(
                fn it(release: ClaudeRelease, version: NvimVersion) {}
            ),
            "native_neovim_0_12",
        ),
        (
            Table::of_emacs_clients(),
            quote!(
                fn it(client: Client, version: EmacsVersion) {}
            ),
            "eglot_in_emacs_30_2 lsp_mode_in_emacs_30_2",
        ),
        (
            Table::of_codex(),
            quote!(
                fn it(release: CodexRelease) {}
            ),
            "codex_0_171",
        ),
    ] {
        let rows = rows(&table, quote!(), &function);
        let in_every_run = rows.iter().filter(|[_, it, _]| !it.starts_with("in--all:"));
        let names: Vec<_> = in_every_run.map(|[name, ..]| name.as_str()).collect();
        assert_eq!(names.join(" "), expected);
    }
}

#[test]
fn what_it_takes_is_said_at_the_wrong_word() {
    let function = quote!(
        fn it(version: NvimVersion) {}
    );
    let neovim = Table::of_releases("each_neovim", &NEOVIM);
    for word in [
        quote!(agent),
        quote!(needs = "the real agents"),
        quote!(agents, plugins),
        quote!(smoke, all),
        quote!(smoke agents),
    ] {
        let said = tests(&neovim, word, &function);
        let expected = "`#[each_neovim]` takes smoke to have older releases in every run, all to have no release there, \
            one of agents, claude_code, conformance, kakoune_lsp, plugins for what the test needs beside the editor, or nothing";
        assert!(said.contains(expected), "{said}");
    }
    let agents = Table::of_agents_in_neovim();
    let said = tests(&agents, quote!(agents), &function);
    let expected = "`#[each_agent_in_neovim]` takes smoke to have older releases in every run, all to have no release \
        there, or nothing";
    assert!(said.contains(expected), "{said}");
}

#[test]
fn what_a_test_looks_like_is_said_at_a_function_that_does_not() {
    let table = Table::of_claude_in_helix();
    for function in [
        quote!(
            fn it() {}
        ),
        quote!(
            fn it(version: HelixVersion) {}
        ),
        quote!(
            fn it(version: HelixVersion, release: ClaudeRelease) {}
        ),
        quote!(
            fn it(release: &ClaudeRelease, version: HelixVersion) {}
        ),
        quote!(
            fn it(release: ClaudeRelease, version: testkit::HelixVersion) {}
        ),
        quote!(
            fn it(&self, version: HelixVersion) {}
        ),
        quote!(
            fn it(release: ClaudeRelease, version: HelixVersion) -> bool {}
        ),
        quote!(
            async fn it(release: ClaudeRelease, version: HelixVersion) {}
        ),
        quote!(
            fn it<T>(release: ClaudeRelease, version: HelixVersion) {}
        ),
        quote!(
            struct It;
        ),
    ] {
        let said = tests(&table, quote!(), &function);
        let expected = "`#[each_claude_in_helix]` is for a function like \
            `fn name(release: ClaudeRelease, version: HelixVersion)`";
        assert!(said.contains(expected), "{said}");
    }
}
