//! A view takes nobody away from what they are doing.

use std::fs;
use std::path::PathBuf;

use pillion_testkit::{NvimVersion, each_neovim};
use serde_json::{Value, json};

use crate::diff::{ORIGINAL, Review};

const HOUR: u64 = 3_600_000;

const PROPOSED: &str = "one\n2\nthree\nfour\nfive\nsix\nseven\n";

/// A terminal at the right, with the person typing in it; see [`open_terminal`].
fn type_in_terminal(review: &Review) -> PathBuf {
    review.world.nvim.command("set columns=120 lines=40");
    open_terminal(review, "botright vertical 40split | enew", "38 40")
}

/// A terminal of this size in the window that the commands make, with the person typing in it. Each
/// change of its size gets a line in the file that is returned: Neovim 0.7 does not always draw what is
/// printed while it opens a terminal.
fn open_terminal(review: &Review, window: &str, size: &str) -> PathBuf {
    let sizes = review.world.home.file("sizes", "");
    let program = "trap 'stty size >> \"$0\"' WINCH; stty size >> \"$0\"; sleep infinity & while :; do wait; done";
    review.world.nvim.command(window);
    review.world.nvim.lua::<Value>(
        "vim.fn.termopen({ 'sh', '-c', ... })
         terminal = vim.api.nvim_get_current_win()",
        json!([program, sizes]),
    );
    review.type_until("i", "vim.api.nvim_get_mode().mode == 't'");
    let reported = format!("vim.fn.readfile('{}')[1] == '{size}'", sizes.display());
    review.world.nvim.wait_until("the size", &reported);
    sizes
}

fn mode_and_tabs(review: &Review) -> Value {
    let code = "return { vim.api.nvim_get_mode().mode, #vim.api.nvim_list_tabpages(), vim.bo.buftype, \
                vim.api.nvim_get_current_win() == terminal }";
    review.world.nvim.lua(code, json!([]))
}

#[each_neovim]
fn a_person_in_a_terminal_stays_in_it_and_sees_the_diff(version: NvimVersion) {
    let mut review = Review::new(version);
    let sizes = type_in_terminal(&review);
    let before = review.everything();
    review.propose(PROPOSED);
    assert_eq!(mode_and_tabs(&review), json!(["t", 2, "terminal", false]));
    let shown: Value = review.world.nvim.lua(
        "return { vim.fn.winnr('$'), vim.fn.winwidth(0), vim.fn.winheight(0), vim.o.showtabline }",
        json!([]),
    );
    // A tab line would take a line from the terminal.
    assert_eq!(shown, json!([3, 40, 38, 0]));
    review.type_until(
        "typed",
        "table.concat(vim.api.nvim_buf_get_lines(0, 0, -1, false)):find('typed') ~= nil",
    );
    review.type_until("<C-\\><C-n><C-w>h", "vim.b.pillion_diff == 1");
    review.world.nvim.input(":w<CR>");
    review.is_accepted(PROPOSED);
    review
        .world
        .nvim
        .wait_until("the terminal again", "vim.api.nvim_get_mode().mode == 't'");
    // The cursor goes with the output.
    assert_eq!(fs::read_to_string(&sizes).unwrap(), "38 40\n");
    let tabline: u64 = review.world.nvim.lua("return vim.o.showtabline", json!([]));
    assert_eq!(tabline, 1);
    assert_eq!(review.everything()[2], before[2]);
    assert_eq!(review.everything()[1], before[1]);
}

/// Whoever has decided in a view decides in the next one, until they type something else.
#[each_neovim]
fn after_a_decision_in_a_view_the_next_proposal_has_the_focus(version: NvimVersion) {
    let mut review = Review::new(version);
    type_in_terminal(&review);
    review.propose(PROPOSED);
    review.type_until("<C-\\><C-n><C-w>h", "vim.b.pillion_diff ~= nil");
    review.world.nvim.input(":w<CR>");
    review.is_accepted(PROPOSED);
    let in_terminal = "vim.api.nvim_get_mode().mode == 't'";
    review.world.nvim.wait_until("the terminal", in_terminal);
    let next = PROPOSED.replace("four", "4");
    review.begin(&next);
    review
        .world
        .nvim
        .wait_until("the next view", "vim.b.pillion_diff ~= nil");
    assert_eq!(mode_and_tabs(&review), json!(["n", 2, "acwrite", false]));
    review.world.look();
    review.world.nvim.input(":w<CR>");
    review.is_accepted(&next);
    review.world.nvim.wait_until("the terminal", in_terminal);
    review.type_until(
        "typed",
        "table.concat(vim.api.nvim_buf_get_lines(0, 0, -1, false)):find('typed') ~= nil",
    );
    review.propose(PROPOSED);
    assert_eq!(mode_and_tabs(&review), json!(["t", 2, "terminal", false]));
}

#[each_neovim]
fn a_view_that_the_agent_closes_leaves_the_person_in_the_terminal(version: NvimVersion) {
    for options in ["", "open_in_new_tab = false", "layout = 'unified'"] {
        let review = Review::with(
            version,
            &format!("require('pillion').setup({{ diff = {{ {options} }} }})"),
        );
        type_in_terminal(&review);
        review.propose(PROPOSED);
        assert_eq!(review.gemini.close(&review.path).unwrap(), PROPOSED);
        review.wait_gone();
        assert_eq!(
            mode_and_tabs(&review),
            json!(["t", 1, "terminal", true]),
            "{options}"
        );
    }
}

#[each_neovim]
fn a_terminal_that_fills_the_screen_is_left_alone(version: NvimVersion) {
    let mut review = Review::new(version);
    type_in_terminal(&review);
    review.type_until("<C-\\><C-n><C-w>oi", "vim.api.nvim_get_mode().mode == 't'");
    review.begin(PROPOSED);
    assert_eq!(mode_and_tabs(&review), json!(["t", 1, "terminal", true]));
    review.type_until("<C-\\><C-n>", "vim.b.pillion_diff == 1");
    review.world.nvim.input(":q<CR>");
    review.is_rejected();
    assert_eq!(mode_and_tabs(&review)[3], json!(true));
}

#[each_neovim]
fn the_focus_is_taken_from_a_terminal_if_that_is_wanted(version: NvimVersion) {
    let mut review = Review::with(
        version,
        "require('pillion').setup({ diff = { keep_terminal_focus = false } })",
    );
    type_in_terminal(&review);
    review.propose(PROPOSED);
    review
        .world
        .nvim
        .wait_until("the proposal", "vim.api.nvim_get_mode().mode == 'n'");
    assert_eq!(mode_and_tabs(&review), json!(["n", 2, "acwrite", false]));
    review.world.nvim.input(":w<CR>");
    review.is_accepted(PROPOSED);
    review
        .world
        .nvim
        .wait_until("the terminal again", "vim.api.nvim_get_mode().mode == 't'");
}

#[each_neovim]
fn no_key_is_lost_on_a_person_who_types(version: NvimVersion) {
    let mut review = Review::new(version);
    review.world.nvim.input("Gohello");
    review.begin(PROPOSED);
    review.world.nvim.input(" world");
    assert_eq!(review.gemini.close(&review.path).unwrap(), PROPOSED);
    review.type_until("!<Esc>", "vim.fn.getline('.') == 'hello world!'");
    // A selection goes on, and so does a command line.
    review.type_until("gg0l<C-v>j", "vim.api.nvim_get_mode().mode == '\\22'");
    review.begin(PROPOSED);
    review.type_until("j$y", "vim.fn.getreg('\"') == 'ne\\nwo\\nhree'");
    review.type_until(":let g:typed = 1", "vim.api.nvim_get_mode().mode == 'c'");
    review.gemini.close(&review.path).unwrap();
    review.begin(PROPOSED);
    review.type_until("2<CR>", "vim.g.typed == 12");
    // What they have not seen is shown first.
    review.type_until(":PillionAccept<CR>", "vim.b.pillion_diff ~= nil");
    review.world.look();
    review.world.nvim.input(":PillionAccept<CR>");
    review.is_accepted(PROPOSED);
    assert_eq!(review.lines().len(), ORIGINAL.lines().count() + 1);
}

/// Whether the view has a tab of its own takes turns: with every option and every layout it is both.
#[each_neovim]
fn the_layout_is_as_before_whatever_the_options(version: NvimVersion) {
    let options = [
        "noequalalways",
        "splitright splitbelow",
        "diffopt+=vertical,hiddenoff,closeoff",
        "winwidth=60 winheight=20",
        "switchbuf=useopen,usetab,newtab",
        "nohidden autowriteall",
    ];
    for (row, options) in options.into_iter().enumerate() {
        for (column, layout) in ["vertical", "horizontal", "unified"]
            .into_iter()
            .enumerate()
        {
            layout_is_as_before(version, options, layout, (row + column) % 2 == 0);
        }
    }
}

fn layout_is_as_before(version: NvimVersion, options: &str, layout: &str, new_tab: bool) {
    let setup = format!(
        "require('pillion').setup({{ diff = {{ layout = '{layout}', open_in_new_tab = {new_tab} }} }})"
    );
    let mut review = Review::with(version, &format!("vim.cmd('set {options}') {setup}"));
    review.world.nvim.command("set columns=120 lines=40");
    review
        .world
        .nvim
        .command("topleft vnew | vertical resize 20 | set winfixwidth buftype=nofile | wincmd p");
    review
        .world
        .nvim
        .command("botright 8new | wincmd p | set readonly | 3");
    // Here it is about windows: nobody looks.
    review.world.looked_for(HOUR);
    let before = review.everything();
    review.propose(PROPOSED);
    review.world.nvim.input("Gomine<Esc>:w<CR>");
    review.is_accepted(&format!("{PROPOSED}mine\n"));
    assert_eq!(review.everything(), before, "{options} {layout} {new_tab}");
    review.propose(PROPOSED);
    let elsewhere = if new_tab { "1gt" } else { "<C-w>b" };
    review.type_until(elsewhere, "vim.w.pillion_diff == nil");
    let here: Value = review
        .world
        .nvim
        .lua("return vim.api.nvim_get_current_win()", json!([]));
    review.gemini.close(&review.path).unwrap();
    review.wait_gone();
    assert_eq!(review.everything()[2], here, "{options} {layout} {new_tab}");
}

#[each_neovim]
fn a_terminal_in_a_corner_keeps_its_size(version: NvimVersion) {
    let mut review = Review::new(version);
    review.world.nvim.command("set columns=120 lines=40");
    let window = "topleft 20vnew | wincmd p | belowright 10split | enew";
    let sizes = open_terminal(&review, window, "10 99");
    let before = review.everything();
    review.propose(PROPOSED);
    assert_eq!(mode_and_tabs(&review), json!(["t", 2, "terminal", false]));
    let size: Value = review.world.nvim.lua(
        "return { vim.fn.winheight(0), vim.fn.winwidth(0) }",
        json!([]),
    );
    assert_eq!(size, json!([10, 99]));
    assert_eq!(review.gemini.close(&review.path).unwrap(), PROPOSED);
    review.wait_gone();
    assert_eq!(mode_and_tabs(&review), json!(["t", 1, "terminal", true]));
    assert_eq!(review.everything()[0], before[0]);
    review.type_until(
        "typed",
        "table.concat(vim.api.nvim_buf_get_lines(0, 0, -1, false)):find('typed') ~= nil",
    );
    assert_eq!(fs::read_to_string(&sizes).unwrap(), "10 99\n");
    review.propose(PROPOSED);
    review.type_until(
        "<C-\\><C-n>:PillionAccept<CR>",
        "vim.api.nvim_get_mode().mode == 't'",
    );
    review.is_accepted(PROPOSED);
}

#[each_neovim]
fn a_diff_of_the_users_own_is_left_alone(version: NvimVersion) {
    let mut review = Review::with(
        version,
        "require('pillion').setup({ diff = { open_in_new_tab = false } })",
    );
    review.world.nvim.command("diffthis | vnew | diffthis");
    let before = review.everything();
    review.propose(PROPOSED);
    let tabs: Value = review
        .world
        .nvim
        .lua("return #vim.api.nvim_list_tabpages()", json!([]));
    assert_eq!(tabs, json!(2));
    review.world.nvim.input(":w<CR>");
    review.is_accepted(PROPOSED);
    assert_eq!(review.everything(), before);
}

#[each_neovim]
fn windows_near_the_end_of_a_file_do_not_shift(version: NvimVersion) {
    let views = "vim.cmd('redraw!') return vim.tbl_map(function(win)
            return vim.api.nvim_win_call(win, vim.fn.winsaveview)
          end, vim.api.nvim_tabpage_list_wins(0))";
    for (layout, new_tab) in [
        ("vertical", true),
        ("unified", true),
        ("vertical", false),
        ("unified", false),
    ] {
        let mut review = Review::with(
            version,
            &format!(
                "vim.o.scrolloff = 5 require('pillion').setup({{ diff = {{ layout = '{layout}', open_in_new_tab = {new_tab} }} }})"
            ),
        );
        let lines: String = (1..=100).map(|number| format!("line {number}\n")).collect();
        let path = review.world.home.file("long.txt", lines);
        review
            .world
            .nvim
            .lua::<Value>("vim.cmd('edit ' .. ...)", json!([path]));
        review.type_until(":split<CR>Gkkzb", "vim.fn.line('.') == 98");
        let before: Value = review.world.nvim.lua(views, json!([]));
        for keys in [":q<CR>", ":tabfirst<CR>:redraw<CR>:PillionReject<CR>"] {
            review.gemini.propose(&path, "short\n");
            review.world.look();
            review.world.nvim.input(keys);
            review.gemini.outcome();
            review.wait_gone();
            assert_eq!(
                review.world.nvim.lua::<Value>(views, json!([])),
                before,
                "{layout} {new_tab} {keys}"
            );
        }
    }
}
