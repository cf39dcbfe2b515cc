//! Taking and dropping hunks, and the layouts.

use pillion_testkit::{NvimVersion, each_neovim};
use serde_json::{Value, json};

use crate::diff::{ORIGINAL, Review};

const PROPOSED: &str = "ONE\ntwo\nthree\nnew\nfour\nsix\nseven\n";

/// Drops and takes back each kind of hunk; `mine`, an edit elsewhere, stays.
fn drop_and_take(review: &mut Review) {
    let steps = [
        (
            "Gomine<Esc>gg:PillionDropHunk<CR>",
            "one two three new four six seven mine",
        ),
        (
            "gg:PillionTakeHunk<CR>",
            "ONE two three new four six seven mine",
        ),
        (
            "4G:PillionDropHunk<CR>",
            "ONE two three four six seven mine",
        ),
        (
            "5G:PillionDropHunk<CR>",
            "ONE two three four five six seven mine",
        ),
        (
            "3G:PillionTakeHunk<CR>",
            "ONE two three new four five six seven mine",
        ),
        (
            "6G:PillionTakeHunk<CR>",
            "ONE two three new four six seven mine",
        ),
        (
            "6G:PillionPreviousHunk<CR>\"_x",
            "ONE two three ew four six seven mine",
        ),
    ];
    review.propose(PROPOSED);
    for (keys, lines) in steps {
        review.type_until(
            keys,
            &format!("table.concat(vim.api.nvim_buf_get_lines(0, 0, -1, false), ' ') == '{lines}'"),
        );
    }
    review.world.nvim.input(":w<CR>");
    review.is_accepted("ONE\ntwo\nthree\new\nfour\nsix\nseven\nmine\n");
}

#[each_neovim]
fn hunks_are_dropped_and_taken_back_side_by_side(version: NvimVersion) {
    let mut review = Review::new(version);
    let before = review.everything();
    drop_and_take(&mut review);
    assert_eq!(review.everything(), before);
}

#[each_neovim]
fn hunks_are_dropped_and_taken_back_in_one_window(version: NvimVersion) {
    let mut review = Review::with(
        version,
        "require('pillion').setup({ diff = { layout = 'unified' } })",
    );
    let before = review.everything();
    drop_and_take(&mut review);
    assert_eq!(review.everything(), before);
}

#[each_neovim]
fn diff_mode_takes_the_originals_hunk_and_never_changes_the_original(version: NvimVersion) {
    let mut review = Review::with(
        version,
        "require('pillion').setup({ diff = { layout = 'horizontal' } })",
    );
    review.propose("ONE\ntwo\nthree\nfour\nfive\nsix\nSEVEN\n");
    review.type_until("ggdo", "vim.fn.getline(1) == 'one'");
    review.type_until("<C-w>kGdp<C-w>j", "vim.fn.getline(7) == 'seven'");
    review.type_until("zRGx", "vim.fn.getline(7) == 'even'");
    review.world.nvim.input("dp<CR>:w<CR>");
    review.is_accepted("one\ntwo\nthree\nfour\nfive\nsix\neven\n");
    assert_eq!(review.lines().join("\n") + "\n", ORIGINAL);
}

#[each_neovim]
fn one_window_shows_what_is_added_and_what_is_removed(version: NvimVersion) {
    let mut review = Review::with(
        version,
        "require('pillion').setup({ diff = { layout = 'unified' } })",
    );
    review.propose("one\ntwo\nnew\nfour\nfive\nsix\n");
    let marks = "vim.fn.json_encode(vim.tbl_map(function(mark)
            return { mark[2], mark[4].hl_group or '', vim.tbl_map(function(line) return vim.trim(line[1][1]) end, mark[4].virt_lines or {}) }
        end, vim.tbl_filter(function(mark)
            return mark[4].hl_group == 'PillionAdd' or #(mark[4].virt_lines or {}) > 0
        end, vim.api.nvim_buf_get_extmarks(0, vim.api.nvim_create_namespace('pillion_diff'), 0, -1, { details = true }))))";
    let mut shown: Vec<Value> = review
        .world
        .nvim
        .lua(&format!("return vim.fn.json_decode({marks})"), json!([]));
    shown.sort_by_key(ToString::to_string);
    assert_eq!(
        json!(shown),
        json!([
            [2, "", ["three"]],
            [2, "PillionAdd", []],
            [5, "", ["seven"]]
        ])
    );
    review.type_until(
        "3Gdd",
        &format!("({marks}):find('new') == nil and ({marks}):find('Add') == nil"),
    );
    review.world.nvim.input(":w<CR>");
    review.is_accepted("one\ntwo\nfour\nfive\nsix\n");
}

/// A hundred lines, and the same with the fiftieth changed.
fn long() -> (String, String) {
    let lines: Vec<String> = (1..=100)
        .map(|number| format!("the line {number}\n"))
        .collect();
    let text = lines.concat();
    let proposed = text.replace("the line 50\n", "the row 50!\n");
    (text, proposed)
}

/// The first and the last line of each closed fold of the proposal.
const FOLDS: &str = "(function()
    return vim.api.nvim_win_call(vim.fn.win_findbuf(vim.fn.bufnr('^pillion://'))[1], function()
      local folds, line = {}, 1
      while line <= vim.fn.line('$') do
        local last = vim.fn.foldclosedend(line)
        if last > 0 then table.insert(folds, { line, last }) line = last end
        line = line + 1
      end
      return folds
    end)
  end)()";

#[each_neovim]
fn one_window_marks_words_signs_lines_and_folds_what_is_the_same(version: NvimVersion) {
    let review = Review::with(
        version,
        "require('pillion').setup({ diff = { layout = 'unified' } })",
    );
    let (text, proposed) = long();
    let path = review.world.home.file("long.txt", &text);
    review.gemini.propose(&path, &proposed);
    review.world.look();
    let folds: Value = review.world.nvim.lua(&format!("return {FOLDS}"), json!([]));
    assert_eq!(folds, json!([[1, 43], [57, 100]]));
    let marks: Value = review.world.nvim.lua(
        "local found = {}
             for _, mark in ipairs(vim.api.nvim_buf_get_extmarks(0, vim.api.nvim_create_namespace('pillion_diff'), 0, -1, { details = true })) do
               local details = mark[4]
               if details.hl_group == 'PillionText' then table.insert(found, { 'word', mark[2], mark[3], details.end_col }) end
               for _, chunk in ipairs((details.virt_lines or {})[1] or {}) do
                 if chunk[2] == 'PillionText' then table.insert(found, { 'removed', chunk[1] }) end
               end
             end
             table.sort(found, function(a, b) return vim.inspect(a) < vim.inspect(b) end)
             return found",
        json!([]),
    );
    assert_eq!(
        marks,
        json!([
            ["removed", "line"],
            ["word", 49, 10, 11],
            ["word", 49, 4, 7]
        ])
    );
    review.world.nvim.wait_until(
        "the sign on the screen",
        "(function()
               vim.cmd('redraw!')
               for row = 1, vim.o.lines do
                 local line = {}
                 for column = 1, 20 do line[column] = vim.fn.screenstring(row, column) end
                 if table.concat(line):find('~ *the row 50!') then return true end
               end
             end)()",
    );
    // An edit is folded around as soon as it is drawn.
    review.type_until(
        "zRggx",
        &format!("vim.deep_equal(({FOLDS})[1], {{ 8, 43 }}) or #({FOLDS}) == 0"),
    );
    review.world.nvim.assert_no_errors();
    let options = review.world.nvim.lua::<Value>(
        "vim.cmd('silent! q!') vim.wait(2000, function() return #require('pillion.diff').list() == 0 end)
             return { vim.wo.foldmethod, vim.wo.signcolumn }",
        json!([]),
    );
    assert_eq!(options, json!(["manual", "auto"]));
}

#[each_neovim]
fn a_view_that_opens_in_insert_mode_is_folded_as_any_other(version: NvimVersion) {
    for layout in ["vertical", "horizontal", "unified"] {
        let review = Review::with(
            version,
            &format!("require('pillion').setup({{ diff = {{ layout = '{layout}' }} }})"),
        );
        let (text, proposed) = long();
        let path = review.world.home.file("long.txt", &text);
        review.gemini.propose(&path, &proposed);
        review.world.nvim.command("redraw!");
        let expected: Value = review.world.nvim.lua(&format!("return {FOLDS}"), json!([]));
        assert_eq!(expected, json!([[1, 43], [57, 100]]), "{layout}");
        review.gemini.close(&path).unwrap();
        review.wait_gone();
        review.type_until("i", "vim.api.nvim_get_mode().mode == 'i'");
        review
            .gemini
            .propose(&path, &proposed.replace("line 20\n", "line 20?\n"));
        // A newer one, too.
        review.gemini.propose(&path, &proposed);
        review.type_until("<Esc>:PillionDiffs<CR>", "vim.b.pillion_diff ~= nil");
        review.world.nvim.command("redraw!");
        let folds: Value = review.world.nvim.lua(&format!("return {FOLDS}"), json!([]));
        assert_eq!(folds, expected, "{layout}");
    }
}

/// Lines that resemble one another are hunks of their own on the screen.
#[each_neovim]
fn what_is_dropped_is_what_is_shown(version: NvimVersion) {
    for (options, keys, dropped) in [
        (
            "diffopt+=linematch:40",
            "2G",
            "alpha one changed|beta two changed",
        ),
        (
            "diffopt+=linematch:40",
            "4G",
            "alpha one changed|something else here 123|yet another 456|beta two",
        ),
        ("diffopt-=linematch:40", "2G", "alpha one|beta two"),
    ] {
        let review = Review::with(version, &format!("vim.cmd('set {options}')"));
        let path = review.world.home.file("lines.txt", "alpha one\nbeta two\n");
        review.gemini.propose(
            &path,
            "alpha one changed\nsomething else here 123\nyet another 456\nbeta two changed\n",
        );
        review.world.look();
        review.type_until(
            &format!("{keys}:PillionDropHunk<CR>"),
            &format!(
                "table.concat(vim.api.nvim_buf_get_lines(0, 0, -1, false), '|') == '{dropped}'"
            ),
        );
        let said: bool = review.world.nvim.lua(
            "return vim.api.nvim_exec('messages', true):find('adjoining hunks is dropped', 1, true) ~= nil",
            json!([]),
        );
        assert_eq!(said, options.contains("+="), "{options} {keys}");
    }
}

/// Neither its end, nor what comes after it.
#[each_neovim]
fn what_is_removed_is_shown_from_its_beginning(version: NvimVersion) {
    let before: Vec<String> = (1..=6000)
        .map(|number| format!("line {number}\n"))
        .collect();
    for layout in ["vertical", "horizontal"] {
        let review = Review::with(
            version,
            &format!("require('pillion').setup({{ diff = {{ layout = '{layout}' }} }})"),
        );
        // Behind the first line, in the middle, and up to the last.
        for (first, after) in [(1, 5900), (1, 3000), (2, 5900), (1000, 5000), (1000, 6001)] {
            let path = review.world.home.file("long.txt", before.concat());
            let proposed = before[..first - 1].concat() + &before[after - 1..].concat();
            review.gemini.propose(&path, &proposed);
            review.world.look();
            review.world.nvim.command("redraw!");
            let shown: Value = review.world.nvim.lua(
                "local original = require('pillion.diff.pending').sorted()[1].windows.left
                     return { vim.fn.line('w0', original), vim.fn.line('w$', original) }",
                json!([]),
            );
            let lines = |number: usize| usize::try_from(shown[number].as_u64().unwrap()).unwrap();
            assert!(
                lines(0) <= first && first < lines(1),
                "{layout} {first}: {shown}"
            );
            review.gemini.close(&path).unwrap();
            review.wait_gone();
        }
    }
}

/// The windows scroll together again once the person goes to the original.
#[each_neovim]
fn what_is_removed_at_the_beginning_can_be_scrolled_through(version: NvimVersion) {
    let before: Vec<String> = (1..=600).map(|number| format!("line {number}\n")).collect();
    let review = Review::new(version);
    let path = review.world.home.file("long.txt", before.concat());
    review.gemini.propose(&path, &before[500..].concat());
    review.world.look();
    let bound = "(function()
            local windows = require('pillion.diff.pending').sorted()[1].windows
            return { vim.wo[windows.left].scrollbind, vim.wo[windows.left].cursorbind, vim.wo[windows.right].scrollbind }
          end)()";
    let state = |code: &str| {
        review
            .world
            .nvim
            .lua::<Value>(&format!("return {code}"), json!([]))
    };
    assert_eq!(state(bound), json!([false, false, true]));
    review.type_until(
        "<C-w>h",
        &format!("vim.deep_equal({bound}, {{ true, true, true }})"),
    );
    review.type_until("<C-f>", "vim.fn.line('w0') > 1");
    review.world.nvim.assert_no_errors();
}
