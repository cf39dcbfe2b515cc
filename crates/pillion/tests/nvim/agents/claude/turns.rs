//! The outcomes of the changes of a turn of the real Claude Code: in each encoding, several at once, and when
//! the companion that shows them dies.

use pillion_testkit::{ClaudeRelease, NvimVersion, each_claude_in_neovim};

use super::*;
use crate::shared_encodings::{ENCODINGS, assert_bytes};

/// Of two changes one is taken out, and the other edited.
#[each_claude_in_neovim(all)]
fn in_another_pane_it_writes_the_text_of_the_view_in_the_encoding_of_the_file(
    release: ClaudeRelease,
    version: NvimVersion,
) {
    let before = "one\ntwo\nthree\nfour\nfive\n";
    let scene = Scene::found(release, version, "writer");
    for (kind, encode) in ENCODINGS {
        let path = scene.home.file(&format!("{kind}.txt"), encode(before));
        let edit = Turn::replace(&path, "two\nthree\nfour", "TWO\nthree\nFOUR");
        let said = format!("{kind} is edited");
        scene.propose([Turn::read_file(&path), edit], &said);
        scene.wait_view();
        scene
            .nvim
            .input("gg:PillionNextHunk<CR>:PillionDropHunk<CR>");
        scene
            .nvim
            .wait_until("the old line", "vim.fn.getline(2) == 'two'");
        scene.nvim.input("4GA edited<Esc>");
        scene
            .nvim
            .wait_until("the edited line", "vim.fn.getline(4) == 'FOUR edited'");
        scene.nvim.input(":w<CR>");
        scene.claude.wait_for(&said);
        scene.wait_no_view();
        assert_bytes(&path, &encode(&before.replace("four", "FOUR edited")));
    }
    scene.nvim.assert_no_errors();
}

/// A rejected change takes the later ones with it, before they are shown.
#[each_claude_in_neovim(all)]
fn in_a_terminal_inside_it_proposes_three_changes_at_once_and_gives_up_with_esc(
    release: ClaudeRelease,
    version: NvimVersion,
) {
    let scene = Scene::inside(release, version, BEFORE);
    scene.propose_change("cancelled");
    scene.claude.cancel();
    scene.wait_refused();

    let edits = [("one", "ONE"), ("two", "TWO"), ("three", "THREE")];
    let edits = edits.map(|(old, new)| Turn::replace(scene.path(), old, new));
    scene.propose([Turn::read_file(scene.path()), Turn::at_once(edits)], "no");
    scene.nvim.input("<C-\\><C-n>:PillionDiffs<CR>");
    scene.wait_view();
    scene.nvim.input(":w<CR>");
    scene.nvim.wait_until(
        "the next change",
        "#require('pillion.diff').list() == 1 and vim.b.pillion_diff ~= 2",
    );
    scene.claude.wait_question();
    scene.nvim.input("<C-\\><C-n>:PillionDiffs<CR>");
    scene.wait_view();
    let shown: Vec<String> = scene.nvim.lua(
        "return vim.api.nvim_buf_get_lines(0, 0, -1, false)",
        json!([]),
    );
    assert_eq!(shown, ["ONE", "TWO", "three"]);
    scene.nvim.input(":q<CR>");
    scene.wait_no_view();
    scene.claude.wait_answered();
    assert_eq!(scene.text(), BEFORE.replace("one", "ONE"));
    scene.nvim.assert_no_errors();
}

/// The question in Claude Code's own window stays, and works.
#[each_claude_in_neovim(all)]
fn in_another_pane_it_finds_a_companion_again_that_was_killed(
    release: ClaudeRelease,
    version: NvimVersion,
) {
    let scene = Scene::found(release, version, "patient");
    scene.propose_change("kept");
    scene.nvim.lua::<()>(
        "vim.loop.kill(require('pillion.client').state.pid, 'sigkill')",
        json!([]),
    );
    scene.wait_no_view();
    scene.nvim.input(":Pillion start<CR>");
    scene.wait_connected();
    scene.claude.allow();
    scene.claude.wait_for("that is done");
    assert_eq!(scene.text(), BEFORE.replace("two", "kept"));

    scene.model.clear();
    let read = Turn::read_file(scene.path());
    let change = Turn::replace(scene.path(), "kept", "again");
    scene.propose([read, change], "it is back");
    scene.wait_view();
    scene.nvim.input(":w<CR>");
    scene.claude.wait_for("it is back");
    assert_eq!(scene.text(), BEFORE.replace("two", "again"));
}
