//! The ways in which a person decides about a diff in Neovim, and that the outcome is sent exactly once.

use std::time::Duration;

use pillion_testkit::{NvimVersion, each_neovim};
use serde_json::{Value, json};

use crate::diff::{ORIGINAL, Review};
use crate::world::PILLION;

const PROPOSED: &str = "one\n2\nthree\nfour\nfive\nsix\nseven\n";
const EDITED: &str = "one\n2\nthree\nfour\nfive\nsix\nseven\nmine\n";

#[each_neovim]
fn what_accepts_takes_the_text_as_edited(version: NvimVersion) {
    let mut review = Review::new(version);
    let before = review.everything();
    let accepting = [
        ":w<CR>",
        ":w!<CR>",
        ":wq<CR>",
        ":x<CR>",
        "ZZ",
        ":silent! w<CR>",
        ":w|wincmd w<CR>",
        ":PillionAccept<CR>",
    ];
    for keys in accepting {
        review.propose(PROPOSED);
        review.world.nvim.input(&format!("Gomine<Esc>{keys}"));
        review.is_accepted(EDITED);
        assert_eq!(review.everything(), before, "after {keys}");
    }
    for keys in [":x<CR>", ":silent exit<CR>", "ZZ", ":wq<CR>"] {
        review.propose(PROPOSED);
        review.world.nvim.input(keys);
        review.is_accepted(PROPOSED);
        assert_eq!(review.everything(), before, "after {keys}, unedited");
    }
    assert_eq!(std::fs::read_to_string(&review.path).unwrap(), ORIGINAL);
}

#[each_neovim]
fn what_closes_the_proposal_rejects_once(version: NvimVersion) {
    let mut review = Review::new(version);
    let before = review.everything();
    let rejecting = [
        ":q!<CR>",
        ":bd!<CR>",
        ":bw!<CR>",
        "ZQ",
        ":PillionReject<CR>",
    ];
    for keys in rejecting {
        review.propose(PROPOSED);
        review.world.nvim.input(&format!("Gomine<Esc>{keys}"));
        review.is_rejected();
        assert_eq!(review.everything(), before, "after {keys}");
    }
    assert_eq!(
        review.gemini.check_heard_all(&review.world.home, PILLION),
        Ok(())
    );
}

#[each_neovim]
fn a_diff_stays_while_its_proposal_is_only_out_of_sight(version: NvimVersion) {
    let mut review = Review::new(version);
    review.propose(PROPOSED);
    review.type_until(":only<CR>", "vim.fn.winnr('$') == 1");
    review.type_until(
        "Gomine<Esc>:hide edit other.txt<CR>",
        "vim.fn.expand('%:t') == 'other.txt'",
    );
    review.is_pending("a proposal that is out of sight");
    assert_eq!(review.gemini.close(&review.path).unwrap(), EDITED);
    review.wait_gone();
    assert_eq!(
        review.gemini.check_heard_all(&review.world.home, PILLION),
        Ok(())
    );
}

#[each_neovim]
fn the_list_brings_a_hidden_proposal_back(version: NvimVersion) {
    let mut review = Review::new(version);
    review.propose(PROPOSED);
    review.type_until(
        ":hide edit other.txt<CR>",
        "vim.fn.expand('%:t') == 'other.txt'",
    );
    review.type_until(":PillionDiffs 1<CR>", "vim.b.pillion_diff == 1");
    review.world.nvim.input(":w<CR>");
    review.is_accepted(PROPOSED);
}

#[each_neovim]
fn what_writes_something_else_decides_nothing(version: NvimVersion) {
    let mut review = Review::new(version);
    review.propose(PROPOSED);
    let folder = review.world.home.workspace();
    review.type_until(":w copy.txt<CR>", "vim.fn.filereadable('copy.txt') == 1");
    assert_eq!(
        std::fs::read_to_string(folder.join("copy.txt")).unwrap(),
        PROPOSED
    );
    review.type_until(":1,2w part.txt<CR>", "vim.fn.filereadable('part.txt') == 1");
    assert_eq!(
        std::fs::read_to_string(folder.join("part.txt")).unwrap(),
        "one\n2\n"
    );
    review.type_until(
        ":1,2w!<CR>",
        "vim.api.nvim_exec('messages', true):find('only the whole proposal') ~= nil",
    );
    review.type_until(
        ":set autowrite<CR>dd:silent !true<CR>:let g:done = 1<CR>",
        "vim.g.done == 1",
    );
    review.is_pending("writes of copies and parts");
    review.type_until(":e!<CR>", "not vim.bo.modified");
    assert_eq!(review.lines().join("\n") + "\n", PROPOSED);
    review.world.nvim.input(":w<CR>");
    review.is_accepted(PROPOSED);
}

#[each_neovim]
fn nothing_is_undone_before_the_proposal(version: NvimVersion) {
    let mut review = Review::new(version);
    review.propose(PROPOSED);
    review.type_until("u:let g:done = 1<CR>", "vim.g.done == 1");
    assert_eq!(review.lines().join("\n") + "\n", PROPOSED);
    review.world.nvim.input(":q<CR>");
    review.is_rejected();
}

#[each_neovim]
fn the_users_buffer_is_read_only_in_the_view_and_nowhere_else(version: NvimVersion) {
    let mut review = Review::new(version);
    review.world.nvim.input("Gounsaved<Esc>");
    review.propose(PROPOSED);
    let modifiable = |there: &str| -> Value {
        review.world.nvim.lua(
            &format!("{there} return vim.fn.getbufvar('a.txt', '&modifiable')"),
            json!([]),
        )
    };
    assert_eq!(modifiable(""), json!(0));
    assert_eq!(modifiable("vim.cmd('wincmd h')"), json!(0));
    assert_eq!(modifiable("vim.cmd('tabprevious')"), json!(1));
    assert_eq!(modifiable("vim.cmd('tabnext')"), json!(0));
    review.world.nvim.input(":PillionReject<CR>");
    review.is_rejected();
    assert_eq!(review.lines().last().unwrap(), "unsaved");
    let modifiable: Value = review.world.nvim.lua("return vim.bo.modifiable", json!([]));
    assert_eq!(modifiable, json!(true));
}

#[each_neovim]
fn quitting_with_a_pending_diff_rejects_it(version: NvimVersion) {
    let mut review = Review::new(version);
    review.propose(PROPOSED);
    assert_eq!(review.world.nvim.quit(), 0);
    let expected = pillion_testkit::client::Update::DiffRejected {
        path: review.path(),
    };
    assert_eq!(review.gemini.outcome(), expected);
}

#[each_neovim]
fn user_autocommands_hear_of_diffs_and_failing_ones_harm_nothing(version: NvimVersion) {
    let mut review = Review::with(
        version,
        "heard = {}
             for _, name in ipairs({ 'PillionDiffOpened', 'PillionDiffClosed' }) do
               vim.api.nvim_create_autocmd('User', { pattern = name, callback = function(event)
                 local data = event.data or vim.g.pillion_event
                 table.insert(heard, { name, data.id, data.agent, data.outcome or '', vim.fn.winbufnr(data.windows.right or -1) > 0 })
               end })
             end",
    );
    let before = review.everything();
    review.world.nvim.command(
        "autocmd BufEnter,WinEnter,TabEnter,BufWinEnter,WinClosed,BufFilePost * throw 'boom'",
    );
    review.propose(PROPOSED);
    review
        .world
        .nvim
        .command("autocmd! BufEnter,WinEnter,TabEnter,BufWinEnter,WinClosed,BufFilePost");
    review.world.nvim.input(":w<CR>");
    review.is_accepted(PROPOSED);
    assert_eq!(review.everything(), before);
    let heard: Value = review.world.nvim.lua("return heard", json!([]));
    assert_eq!(
        heard,
        json!([
            ["PillionDiffOpened", 1, "Gemini CLI", "", true],
            ["PillionDiffClosed", 1, "Gemini CLI", "accepted", false],
        ])
    );
}

#[each_neovim]
fn what_was_edited_for_an_agent_that_is_gone_is_kept(version: NvimVersion) {
    let review = Review::new(version);
    review.propose(PROPOSED);
    review.type_until("Gomine<Esc>", "vim.fn.line('$') == 8");
    review.world.nvim.command("Pillion stop");
    review
        .world
        .nvim
        .wait_until("no view left", "vim.fn.bufnr('^pillion://') == -1");
    let kept: Vec<String> = review.world.nvim.lua(
        "return vim.api.nvim_buf_get_lines(vim.fn.bufnr('^pillion-kept://'), 0, -1, false)",
        json!([]),
    );
    assert_eq!(kept.join("\n") + "\n", EDITED);
}

#[each_neovim]
fn a_file_that_is_not_utf_8_is_shown_and_left_as_it_is(version: NvimVersion) {
    let mut review = Review::new(version);
    let path = review.world.home.file("latin.txt", b"caf\xe9\n");
    review.gemini.propose(&path, "café\n");
    review.world.look();
    let left: Value = review.world.nvim.lua(
        "local buf = vim.api.nvim_win_get_buf(vim.fn.win_getid(1))
             return { vim.api.nvim_buf_get_lines(buf, 0, -1, false)[1],
               vim.api.nvim_buf_get_name(buf):find('(not UTF-8)', 1, true) ~= nil }",
        json!([]),
    );
    assert_eq!(left, json!(["caf\u{fffd}", true]));
    review.world.nvim.input(":w<CR>");
    let path = path.display().to_string();
    let expected = pillion_testkit::client::Update::accepted(path.clone(), "café\n");
    assert_eq!(review.gemini.outcome(), expected);
    assert_eq!(std::fs::read(path).unwrap(), b"caf\xe9\n");
}

#[each_neovim]
fn a_new_file_that_was_accepted_opens_once_the_agent_wrote_it(version: NvimVersion) {
    for is_wanted in [true, false] {
        let mut review = Review::with(
            version,
            &format!("require('pillion').setup({{ diff = {{ open_new_file = {is_wanted} }} }})"),
        );
        let path = review.world.home.workspace().join("n|ew (1).txt");
        let accept = |review: &mut Review| {
            review.gemini.propose(&path, "new\n");
            review.world.look();
            review.world.nvim.input(":w<CR>");
            let expected =
                pillion_testkit::client::Update::accepted(path.display().to_string(), "new\n");
            assert_eq!(review.gemini.outcome(), expected);
            review.wait_gone();
            std::fs::write(&path, "new\n").unwrap();
        };
        accept(&mut review);
        if is_wanted {
            review.world.nvim.wait_until(
                "the file",
                "vim.fn.expand('%:t') == 'n|ew (1).txt' and vim.fn.getline(1) == 'new'",
            );
        } else {
            std::thread::sleep(Duration::from_millis(500));
            assert_eq!(review.lines().join("\n") + "\n", ORIGINAL);
            continue;
        }
        // A person who types in a terminal stays there, and sees it beside.
        std::fs::remove_file(&path).unwrap();
        review
            .world
            .nvim
            .command("bwipeout! | set columns=120 lines=40 | edit a.txt");
        review.world.nvim.lua::<Value>(
            "vim.cmd('botright vertical 40split | enew') vim.fn.termopen({ 'sh', '-c', 'sleep 1000' })",
            json!([]),
        );
        review.type_until("i", "vim.api.nvim_get_mode().mode == 't'");
        review.gemini.propose(&path, "new\n");
        review.world.look();
        review.world.nvim.input("<C-\\><C-n>:PillionAccept<CR>");
        review.gemini.outcome();
        review.wait_gone();
        std::fs::write(&path, "new\n").unwrap();
        review.world.nvim.wait_until(
            "the file beside the terminal",
            "vim.fn.bufname(vim.fn.winbufnr(1)):find('n|ew (1).txt', 1, true) ~= nil and vim.bo.buftype == 'terminal'",
        );
        review.world.nvim.assert_no_errors();
    }
}
