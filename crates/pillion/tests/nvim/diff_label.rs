//! A view's label stays readable: who proposes what, and which keys decide.

use pillion_testkit::{NvimVersion, each_neovim};
use serde_json::{Value, json};

use crate::diff::{ORIGINAL, Review};

const PROPOSED: &str = "one\n2\nthree\nfour\nfive\nsix\nseven\n";

/// The label above the proposal; below it in Neovim 0.7. All windows with it are asked.
const LABEL: &str = "(function()
    local option = 'winbar'
    return vim.api.nvim_win_get_option(vim.fn.win_findbuf(vim.fn.bufnr('^pillion://'))[1], option)
  end)()";

/// The same as Neovim draws it, once its window is no wider than this.
const DRAWN: &str = "local limit = ...
  return (function()
    local win = vim.fn.win_findbuf(vim.fn.bufnr('^pillion://'))[1]
    local option = 'winbar'
    local line = vim.api.nvim_win_get_option(win, option)
    local how = { winid = win }
    if option == 'winbar' then how.use_winbar = true end
    local width = vim.api.nvim_win_get_width(win)
    local shown = vim.api.nvim_eval_statusline(line, how).str
    return width <= limit and shown or nil
  end)()";

/// A plugin that puts its own into the line: by autocommands, by a timer, for each window.
const PLUGIN: &str = "
    local option = 'winbar'
    function take_over()
      for _, win in ipairs(vim.api.nvim_list_wins()) do
        vim.api.nvim_win_set_option(win, option, 'THEIRS')
      end
      vim.g.taken = (vim.g.taken or 0) + 1
    end
    vim.api.nvim_create_autocmd({ 'WinEnter', 'BufWinEnter', 'CursorMoved', 'InsertLeave' }, { callback = take_over })";

#[each_neovim]
fn the_label_of_the_proposal_survives_what_plugins_put_there(version: NvimVersion) {
    let mut review = Review::with(version, PLUGIN);
    let before = "(function() return vim.wo.statusline .. (vim.fn.has('nvim-0.8') == 1 and vim.wo.winbar or '') end)()";
    let own: Value = review
        .world
        .nvim
        .lua(&format!("return {before}"), json!([]));
    review.propose(PROPOSED);
    for take_over in [
        "j",
        "<C-w>h<C-w>l",
        "ix<Esc>u",
        ":lua take_over()<CR>",
        ":lua vim.defer_fn(take_over, 1)<CR>",
    ] {
        review.world.nvim.command("let g:taken = 0");
        review.type_until(take_over, "vim.g.taken > 0");
        review.world.nvim.wait_until(
            "the label",
            &format!("{LABEL}:find(':w accepts, :q rejects', 1, true) ~= nil"),
        );
    }
    review.world.nvim.input(":w<CR>");
    review.is_accepted(PROPOSED);
    let now: Value = review
        .world
        .nvim
        .lua(&format!("return {before}"), json!([]));
    assert!(now == own || now == json!("THEIRS"), "{now}");
}

fn type_in_terminal(review: &Review) {
    review.world.nvim.command("set columns=160 lines=40");
    review.world.nvim.lua::<Value>(
        "vim.cmd('botright vertical 40split | enew') vim.fn.termopen({ 'sh', '-c', 'sleep 1000' })",
        json!([]),
    );
    review.type_until("i", "vim.api.nvim_get_mode().mode == 't'");
}

#[each_neovim]
fn in_a_terminal_the_label_names_what_works_there(version: NvimVersion) {
    let mut review = Review::new(version);
    type_in_terminal(&review);
    review.propose(PROPOSED);
    let label_has = |text: &str| {
        let condition = format!("{LABEL}:find('{text}', 1, true) ~= nil");
        review.world.nvim.wait_until("the label", &condition);
    };
    label_has("CTRL-\\\\ CTRL-N, then :PillionAccept or :PillionReject");
    review.world.nvim.input("<C-\\><C-n>");
    label_has(":PillionAccept 1 accepts, :PillionReject 1 rejects");
    review.world.nvim.input("<C-w>w");
    label_has(":w accepts, :q rejects");
    review.world.nvim.input("<C-w>p");
    label_has(":PillionAccept 1 accepts, :PillionReject 1 rejects");
    review.world.nvim.input("i");
    label_has("CTRL-\\\\ CTRL-N, then :PillionAccept or :PillionReject");
    review.type_until(
        "<C-\\><C-n>:PillionAccept<CR>",
        "#require('pillion.diff').list() == 0",
    );
    review.is_accepted(PROPOSED);
}

#[each_neovim]
fn maps_of_terminal_mode_decide_and_the_label_names_them(version: NvimVersion) {
    let mut review = Review::with(
        version,
        "vim.keymap.set({ 'n', 't' }, '<M-a>', '<Plug>(pillion-accept)')
             vim.keymap.set('t', '<M-r>', '<Cmd>PillionReject<CR>')
             vim.keymap.set('t', '<M-d>', '<Plug>(pillion-diffs)')",
    );
    type_in_terminal(&review);
    review.propose(PROPOSED);
    review.world.nvim.wait_until(
        "the label",
        &format!("{LABEL}:find('<M-a> accepts, <M-r> rejects', 1, true) ~= nil"),
    );
    review.world.nvim.input("<M-a>");
    review.is_accepted(PROPOSED);
    review
        .world
        .nvim
        .wait_until("the terminal again", "vim.api.nvim_get_mode().mode == 't'");
    review.propose(PROPOSED);
    review.world.nvim.input("<M-r>");
    review.is_rejected();
    review
        .world
        .nvim
        .wait_until("the terminal again", "vim.api.nvim_get_mode().mode == 't'");
    review.propose(PROPOSED);
    review.type_until("<M-d>", "vim.b.pillion_diff ~= nil");
}

#[each_neovim]
fn in_a_narrow_window_the_keys_stay_and_the_rest_is_cut(version: NvimVersion) {
    let review = Review::with(version, "vim.o.winwidth = 1 vim.o.equalalways = true");
    let path = review
        .world
        .home
        .file("a/rather/long/path/to/some/file.txt", ORIGINAL);
    review.gemini.propose(&path, "\u{feff}one\r\ntwo\r\n");
    review.world.look();
    for (columns, keys, also) in [
        (
            300,
            ":w accepts, :q rejects",
            "proposes: a/rather/long/path/to/some/file.txt [line endings unix → dos; BOM added]",
        ),
        (150, ":w accepts, :q rejects", "file.txt [line endings"),
        (80, ":w accepts, :q rejects", "file.txt"),
        (60, ":w accepts, :q rejects", ""),
        (36, ":w yes, :q no", ""),
        (24, ":w yes", ""),
    ] {
        review
            .world
            .nvim
            .command(&format!("set columns={columns} | wincmd ="));
        let shown: String = review
            .world
            .nvim
            .wait_for("the label", DRAWN, json!([columns / 2]));
        assert!(
            shown.ends_with(keys) && shown.contains(also),
            "{columns}: {shown}"
        );
    }
}

/// As wide as beside an agent in 80 columns, and ever narrower.
#[each_neovim]
fn beside_a_terminal_the_keys_are_never_cut(version: NvimVersion) {
    let review = Review::with(version, "vim.o.winwidth = 1");
    type_in_terminal(&review);
    review.propose(PROPOSED);
    for (columns, typing, leaving) in [
        (
            60,
            "CTRL-\\ CTRL-N, then :PillionAccept or :PillionReject",
            ":PillionAccept 1 accepts, :PillionReject 1 rejects",
        ),
        (
            40,
            "CTRL-\\ CTRL-N, then :PillionAccept",
            ":PillionAccept/:PillionReject 1",
        ),
        (27, "CTRL-\\ CTRL-N first", ":Pillion accept/reject 1"),
        (20, "CTRL-\\ CTRL-N first", ":PillionAccept 1"),
    ] {
        review.type_until("<C-\\><C-n>", "vim.api.nvim_get_mode().mode == 'nt'");
        let resize = format!(
            "call win_execute(win_findbuf(bufnr('^pillion://'))[0], 'vertical resize {columns}')"
        );
        review.world.nvim.command(&resize);
        // Neovim 0.7 does not report sizes of other windows.
        for (keys, wanted) in [("i", typing), ("<C-\\><C-n>", leaving), ("i", typing)] {
            let ends = format!(
                "vim.endswith((function(...) {DRAWN} end)({columns}) or '', [[ {wanted}]])"
            );
            review.type_until(keys, &ends);
        }
    }
}

/// The lines of all windows that show no proposal, as far as the keys stand there.
const ELSEWHERE: &str = "(function()
    local option = 'winbar'
    return #vim.tbl_filter(function(win)
      local is_proposal = vim.fn.bufname(vim.api.nvim_win_get_buf(win)):find('^pillion://')
      return not is_proposal and vim.api.nvim_win_get_option(win, option):find(':w accepts', 1, true)
    end, vim.api.nvim_list_wins())
  end)()";

const STILL: &str = "vim.api.nvim_exec('messages', true):find('still proposes a.txt. :PillionDiffs shows it', 1, true) ~= nil";

#[each_neovim]
fn the_label_goes_with_the_proposal_and_comes_back_with_it(version: NvimVersion) {
    let mut review = Review::with(version, "vim.o.hidden = true");
    let other = review.world.home.file("other.txt", "mine\n");
    for keys in [
        ":b a.txt<CR>",
        ":e other.txt<CR>",
        ":enew<CR>",
        ":bufdo w<CR>",
    ] {
        review.propose(PROPOSED);
        review.world.nvim.command("messages clear");
        review.type_until(&format!("{keys}:let g:done = 1<CR>"), "vim.g.done == 1");
        review.world.nvim.command("unlet g:done");
        review
            .world
            .nvim
            .wait_until(keys, "vim.b.pillion_diff == nil");
        review
            .world
            .nvim
            .wait_until("no label", &format!("{ELSEWHERE} == 0"));
        review.world.nvim.wait_until("what waits", STILL);
        review.world.nvim.command("b pillion:");
        review.world.nvim.wait_until(
            "the label",
            &format!("{LABEL}:find(':w accepts', 1, true) ~= nil"),
        );
        review.world.nvim.command("b a.txt");
        review.type_until(":PillionDiffs<CR>", "vim.b.pillion_diff ~= nil");
        review.world.nvim.wait_until(
            "the label",
            &format!("{LABEL}:find(':w accepts', 1, true) ~= nil"),
        );
        review.world.look();
        review.world.nvim.input(":w<CR>");
        review.is_accepted(PROPOSED);
        review
            .world
            .nvim
            .wait_until("no label", &format!("{ELSEWHERE} == 0"));
    }
    assert_eq!(std::fs::read_to_string(other).unwrap(), "mine\n");
}

#[each_neovim]
fn a_window_that_is_split_off_the_proposal_for_a_file_has_no_label(version: NvimVersion) {
    let mut review = Review::new(version);
    review.propose(PROPOSED);
    for keys in [
        ":split other.txt<CR>",
        ":split | b a.txt<CR>",
        ":vnew<CR>",
        ":tab split other.txt<CR>",
    ] {
        review.type_until(keys, "vim.b.pillion_diff == nil");
        review
            .world
            .nvim
            .wait_until("no label", &format!("{ELSEWHERE} == 0"));
        review.world.nvim.wait_until(
            "the label",
            &format!("{LABEL}:find(':w accepts', 1, true) ~= nil"),
        );
        review.type_until(":q!<CR>:PillionDiffs<CR>", "vim.b.pillion_diff ~= nil");
    }
    review.world.nvim.input(":w<CR>");
    review.is_accepted(PROPOSED);
}

/// Claude Code may have several; all that stands above them is the same.
#[each_neovim]
fn two_proposals_for_one_file_keep_a_label_each(version: NvimVersion) {
    let review = Review::new(version);
    let open = "require('pillion.diff').open({ id = ..., revision = 1, path = vim.fn.fnamemodify('a.txt', ':p'), notes = {},
            agent = { name = 'claude', displayName = 'Claude Code' }, original = 'one\\n', proposed = 'two\\n' })";
    for id in [101, 102] {
        review
            .world
            .nvim
            .lua::<Value>(&format!("return {open}"), json!([id]));
    }
    let labels = "#vim.tbl_filter(function(win)
            return vim.wo[win].winbar:find('a.txt', 1, true) ~= nil
          end, vim.api.nvim_list_wins())";
    for keys in ["gt", "<C-w>w", "gt", "<C-w>w", "gtix<Esc>u"] {
        review.world.nvim.input(keys);
        review
            .world
            .nvim
            .wait_until(keys, &format!("{labels} == 4"));
    }
}

#[each_neovim]
fn the_label_counts_and_says_that_unsaved_changes_are_missing(version: NvimVersion) {
    let review = Review::new(version);
    review.world.nvim.command("set columns=300");
    review.propose(PROPOSED);
    review.world.nvim.wait_until(
        "the counts",
        &format!("{LABEL}:find('a.txt +1 −1 — :w accepts', 1, true) ~= nil"),
    );
    review.gemini.close(&review.path).unwrap();
    review.wait_gone();
    review.world.nvim.command("call append('$', 'mine')");
    review.propose(PROPOSED);
    review.world.nvim.wait_until("what is missing", &format!("{LABEL}:find('[your unsaved changes are not in it: :PillionMerge] +1 −1', 1, true) ~= nil"));
    let left = "vim.wo[vim.fn.win_findbuf(vim.fn.bufnr('a.txt$'))[2] or 0].winbar:find('with unsaved changes', 1, true) ~= nil \
                or vim.wo[vim.fn.win_findbuf(vim.fn.bufnr('a.txt$'))[1]].winbar:find('with unsaved changes', 1, true) ~= nil";
    review.world.nvim.wait_until("the original's label", left);
}

#[each_neovim]
fn a_tab_page_has_a_short_name(version: NvimVersion) {
    let review = Review::new(version);
    let deep = review.world.home.file("src/deep/down/here.rs", "one\n");
    review.world.nvim.command("set columns=200");
    for path in [
        deep,
        review.world.home.file("spa ce %f.txt", "one\n"),
        review.world.home.workspace().join("new.txt"),
    ] {
        review.gemini.propose(&path, "two\n");
        let name = path.file_name().unwrap().to_str().unwrap();
        let line = "(function()
                vim.cmd('redraw')
                local line = {}
                for column = 1, vim.o.columns do line[column] = vim.fn.screenstring(1, column) end
                return table.concat(line)
              end)()";
        review.world.nvim.wait_until(
            name,
            &format!(
                "{line}:find([[p//%d+/{}]]) ~= nil",
                name.replace('%', "%%").replace('.', "%.")
            ),
        );
        review.gemini.close(&path).unwrap();
        review.wait_gone();
    }
}
