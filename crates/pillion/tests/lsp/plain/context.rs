//! The context that agents get from a plain client.

use pillion_protocol::IdeContext;
use serde_json::json;

use crate::plain::world::{World, position, uri};

fn order(context: &IdeContext) -> Vec<&str> {
    let files = context.files().iter();
    files
        .map(|file| file.path.rsplit('/').next().unwrap())
        .collect()
}

fn cursor(context: &IdeContext) -> (u32, u32) {
    let cursor = context.active_file().unwrap().cursor.unwrap();
    (cursor.line, cursor.character)
}

#[test]
fn what_is_opened_saved_and_asked_about_is_focused() {
    let mut world = World::new();
    let a = world.open("a.rs", "a\n");
    world.active("a.rs");
    let b = world.open("b.rs", "b\n");
    assert_eq!(order(&world.active("b.rs")), ["b.rs", "a.rs"]);
    world.did_save(&a, "a\n");
    assert_eq!(order(&world.active("a.rs")), ["a.rs", "b.rs"]);
    for method in ["documentHighlight", "hover", "signatureHelp"] {
        for (uri, name) in [(&b, "b.rs"), (&a, "a.rs")] {
            world.at(&format!("textDocument/{method}"), uri, (0, 1));
            assert_eq!(cursor(&world.active(name)), (1, 2), "{method}");
        }
    }
    world.did_close(&a);
    assert_eq!(order(&world.active("b.rs")), ["b.rs"]);
}

#[test]
fn positions_are_converted_from_every_encoding() {
    for (encoding, character) in [("utf-8", 6), ("utf-16", 3), ("utf-32", 2)] {
        let mut world = World::counting(encoding);
        let uri = world.open("a.rs", "x\n😀éz\n");
        world.at("textDocument/hover", &uri, (1, character));
        let context = world.agent.context(|context| {
            context
                .active_file()
                .is_some_and(|file| file.cursor.is_some())
        });
        assert_eq!(cursor(&context), (2, 4), "{encoding}");
        world.code_actions(&uri, (1, 0), (1, character));
        let selected = |context: &IdeContext| {
            context
                .active_file()
                .and_then(|file| file.selected_text.clone())
        };
        let context = world.agent.context(|context| selected(context).is_some());
        assert_eq!(selected(&context).unwrap(), "😀é", "{encoding}");
        world.code_actions(&uri, (1, 0), (1, 0));
        world.agent.context(|context| selected(context).is_none());
    }
}

#[test]
fn edits_are_followed_and_ranges_that_do_not_exist_are_clamped() {
    let mut world = World::new();
    let uri = world.open("a.rs", "one\n");
    let edit = |start: (u32, u32), end: (u32, u32), text: &str| {
        json!({"range": {"start": {"line": start.0, "character": start.1},
                         "end": {"line": end.0, "character": end.1}}, "text": text})
    };
    world.did_edit(
        &uri,
        json!([
            edit((0, 0), (0, 0), "é😀\n"),
            edit((99, 0), (4_294_967_295, 9), "end\n")
        ]),
    );
    world.code_actions(&uri, (0, 1), (9, 9));
    let context = world.agent.context(|context| {
        context
            .active_file()
            .is_some_and(|file| file.selected_text.is_some())
    });
    let file = context.active_file().unwrap();
    assert_eq!(file.selected_text.as_deref(), Some("😀\none\nend\n"));
    assert_eq!(cursor(&context), (4, 1));
    world.did_save(&uri, "all else\n");
    world.code_actions(&uri, (0, 0), (0, 3));
    world.agent.context(|context| {
        let text = context
            .active_file()
            .and_then(|file| file.selected_text.as_deref());
        text == Some("all")
    });
}

#[test]
fn only_files_on_disk_are_reported() {
    let mut world = World::new();
    world.open("a.rs", "a\n");
    world.active("a.rs");
    let folder = uri(&world.sandbox.home.workspace());
    for uri in [
        &folder,
        "untitled:b",
        "https://c/d",
        "file:///no/such/file",
        "file://host/e",
        "x",
    ] {
        world.did_open(uri, "text");
        world.at("textDocument/hover", uri, (0, 0));
    }
    world.open("b.rs", "b\n");
    assert_eq!(order(&world.active("b.rs")), ["b.rs", "a.rs"]);
}

#[test]
fn a_proposal_is_no_file_and_keeps_the_last_one_active() {
    let mut world = World::new();
    let uri = world.open("a.rs", "a\nb\n");
    world.at("textDocument/hover", &uri, (1, 0));
    let target = world.target("b.rs", "before\n");
    let proposal = world.shown(&target, "after\n");
    world.at("textDocument/hover", &proposal.uri, (0, 2));
    world.code_actions(&proposal.uri, (0, 0), (0, 3));
    world.did_save(&proposal.uri, "after\n");
    world.choose(&proposal, "Accept");
    world.at("textDocument/hover", &proposal.uri, (0, 2));
    world.did_close(&proposal.uri);
    world.open("c.rs", "c\n");
    let context = world.agent.context(|context| {
        let is_file = |name: &&str| ["a.rs", "c.rs"].contains(name);
        assert!(order(context).iter().all(is_file), "{context:?}");
        let active = context.active_file();
        assert_eq!(active.is_none(), context.files().is_empty(), "{context:?}");
        active.is_some_and(|file| file.path.ends_with("c.rs"))
    });
    assert_eq!(order(&context), ["c.rs", "a.rs"]);
}

#[test]
fn the_character_under_helix_s_cursor_is_not_selected() {
    let mut world = World::with(&[], json!({"clientInfo": {"name": "helix"}}));
    let uri = world.open("a.rs", "one\ntwo\n");
    world.code_actions(&uri, (1, 1), (1, 2));
    let context = world.agent.context(|context| {
        context
            .active_file()
            .is_some_and(|file| file.cursor.is_some())
    });
    assert_eq!(cursor(&context), (2, 2));
    assert_eq!(context.active_file().unwrap().selected_text, None);
}

/// It asks where else the word at the cursor is, and then which actions the line has, for a sign in the margin.
#[test]
fn a_line_for_which_vim_lsp_wants_actions_is_not_selected() {
    let mut world = World::with(&[], json!({"clientInfo": {"name": "vim-lsp"}}));
    let uri = world.open("a.rs", "one\ntwo\n");
    world.active("a.rs");
    let params = json!({
        "textDocument": {"uri": uri},
        "range": {"start": position((1, 0)), "end": position((1, 3))},
        "context": {"diagnostics": [], "only": ["", "quickfix", "refactor", "refactor.extract",
                                                "refactor.inline", "refactor.rewrite"]},
    });
    world.at("textDocument/documentHighlight", &uri, (1, 2));
    assert_eq!(cursor(&world.active("a.rs")), (2, 3));
    world.editor.request("textDocument/codeAction", params);
    let told = world.sandbox.run(["context"]).stdout;
    assert!(told.contains("a.rs:2:3\n"), "{told}");
}

#[test]
fn thousands_of_open_files_hide_none() {
    let mut world = World::new();
    let first = world.open("first.rs", "a\n");
    for number in 0..2_000 {
        world.did_open(&format!("file:///no/such/{number}"), "text");
    }
    world.at("textDocument/hover", &first, (0, 0));
    assert_eq!(order(&world.active("first.rs")), ["first.rs"]);
}
