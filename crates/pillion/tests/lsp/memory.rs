//! The memory that a proposal costs whose file is large.

use pillion_testkit::peak_memory;
use serde_json::json;

use crate::agent;
use crate::client::{Editor, plugin_params};
use crate::sandbox::Sandbox;

const SIZE: usize = 4 << 20;

#[test]
fn a_large_file_is_shown_without_a_second_copy_of_its_text() {
    // What is no UTF-8 is shown as another text. Long lines: escapes take a debug build long.
    let text = vec![b'x'; 1000];
    for (end, copies) in [(b'\n', 1), (b'\xe9', 2)] {
        let line = [&text[..], &[end]].concat();
        let sandbox = Sandbox::new();
        let file = sandbox.home.file("large", line.repeat(SIZE / line.len()));
        // With its companion in the same process: what comes from the hub is there as it came for a moment, too.
        let mut command = sandbox.command(["lsp"]);
        command.env("PILLION_HUB", "off");
        // The contents that are kept from the moment at which the agent connects are no part of what a proposal costs.
        command.env("PILLION_CHANGES", "off");
        let mut editor = Editor::spawn(&mut command);
        editor.initialize(plugin_params());
        editor.notify("initialized", json!({}));
        let agent = agent::connect(&mut editor);
        let before = peak_memory(editor.child.id());
        let _call = agent.proposing(file.to_str().unwrap(), "small");
        let request = editor.next("pillion/openDiff");
        let cost = peak_memory(editor.child.id()) - before;
        let original = request["params"]["original"].as_str().unwrap();
        assert!(original.len() > SIZE - line.len());
        assert!(cost < (copies + 1) * SIZE + SIZE / 4, "{copies}: {cost}");
    }
}
