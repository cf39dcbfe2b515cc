//! A proposal that cannot be shown when it comes is pending all the same, and is shown once the person is done.

use pillion_testkit::{Home, NvimVersion, SOON, Size, TestAgent, Tmux, each_neovim};
use serde_json::{Value, json};

use crate::diff::{ORIGINAL, Review};
use crate::world::{World, setup};

const PROPOSED: &str = "one\n2\nthree\nfour\nfive\nsix\nseven\n";

/// No window shows the proposal that is pending.
const WAITS: &str = "#require('pillion.diff').list() == 1 and #vim.api.nvim_list_tabpages() == 1 \
                     and vim.fn.bufwinid(vim.fn.bufnr('^pillion://')) == -1";

const SHOWN: &str = "vim.b.pillion_diff ~= nil and vim.api.nvim_get_mode().mode == 'n'";

impl Review {
    /// The person is in the middle of something until the keys `end` it.
    #[track_caller]
    fn waits_for(&mut self, begin: &str, middle: &str, end: &str) {
        self.type_until(begin, middle);
        self.begin(PROPOSED);
        self.world
            .nvim
            .wait_until(begin, &format!("{WAITS} and {middle}"));
        self.world.nvim.wait_until(
            "the status",
            "require('pillion').statusline():find('1 diff') ~= nil",
        );
        self.type_until(end, SHOWN);
        self.world.look();
        self.world.nvim.input(":w<CR>");
        self.is_accepted(PROPOSED);
        self.world
            .nvim
            .wait_until("back", "vim.b.pillion_diff == nil");
        assert_eq!(self.lines().join("\n") + "\n", ORIGINAL, "after {begin}");
        self.world.nvim.assert_no_errors();
    }
}

#[each_neovim]
fn it_opens_when_the_command_line_window_is_left(version: NvimVersion) {
    let mut review = Review::new(version);
    for begin in ["q:", "q/", "q?", ":<C-f>", "/<C-f>"] {
        review.waits_for(begin, "vim.fn.getcmdwintype() ~= ''", ":q<CR><Esc>");
    }
    review.waits_for(
        "q:i",
        "vim.fn.getcmdwintype() ~= '' and vim.api.nvim_get_mode().mode == 'i'",
        "<Esc>:q<CR>",
    );
}

#[each_neovim]
fn it_opens_when_the_mode_ends(version: NvimVersion) {
    let mut review = Review::new(version);
    for (begin, mode, end) in [
        ("i", "i", "<Esc>"),
        ("R", "R", "<Esc>"),
        ("v", "v", "<Esc>"),
        ("<C-v>j", "\\22", "<Esc>"),
        ("gh", "s", "<Esc>"),
        ("d", "no", "<Esc>"),
        (":echo 1", "c", "<Esc>"),
        ("/one", "c", "<Esc>"),
        (":let g:answer = input('? ')<CR>", "c", "yes<CR>"),
    ] {
        review.waits_for(
            begin,
            &format!("vim.api.nvim_get_mode().mode == '{mode}'"),
            end,
        );
    }
    review.waits_for("qa", "vim.fn.reg_recording() == 'a'", "q");
}

/// Neovim answers nothing meanwhile.
#[each_neovim]
fn it_opens_after_a_key_that_neovim_waits_for(version: NvimVersion) {
    let (home, tmux) = (Home::new(), Tmux::start());
    let file = home.file("a.txt", ORIGINAL);
    let nvim = setup(version, &home)
        .arg(&file)
        .in_tmux(&tmux, Size::new(100, 24));
    let world = World { nvim, home };
    world.wait_running();
    let mut gemini = TestAgent::find(&world.home, pillion_protocol::Dialect::GeminiCli);
    for (begin, end) in [
        (":echo 'one' | echo 'two'<CR>", "<CR>"),
        ("r", "<Esc>"),
        (":call confirm('sure?')<CR>", "o"),
    ] {
        world.nvim.input(begin);
        let begun = std::time::Instant::now();
        while world.nvim.blocked_in().is_none() && !world.nvim.mode().starts_with('r') {
            assert!(begun.elapsed() < SOON, "{begin}: {}", world.nvim.describe());
        }
        gemini.propose(&file, PROPOSED);
        world.nvim.input(end);
        world.nvim.wait_until(begin, SHOWN);
        world.look();
        world.nvim.input(":w<CR>");
        assert_eq!(
            gemini.outcome(),
            pillion_testkit::client::Update::accepted(file.display().to_string(), PROPOSED)
        );
        world.nvim.wait_until("back", "vim.b.pillion_diff == nil");
    }
    world.nvim.assert_no_errors();
}

/// Neovim hears of the proposal only when the command is over: the key after it would go there.
#[each_neovim]
fn it_opens_a_pause_after_the_last_key_of_a_command(version: NvimVersion) {
    let mut review = Review::new(version);
    for (begin, end) in [("m", "a"), ("f", "e"), ("<C-w>", "w")] {
        review.world.nvim.lua::<()>(
            "local view, last = require('pillion.diff.view'), 0
            real = real or view.show
            view.show = function(...)
              paused = (vim.uv.hrtime() - last) / 1e6
              return real(...)
            end
            vim.on_key(function() last = vim.uv.hrtime() end, vim.api.nvim_create_namespace('test'))",
            json!([]),
        );
        review.world.nvim.input(begin);
        let begun = std::time::Instant::now();
        while review.world.nvim.blocked_in().is_none() {
            assert!(begun.elapsed() < SOON, "{begin}");
        }
        review.begin(PROPOSED);
        review.type_until(end, SHOWN);
        let paused: f64 = review.world.nvim.lua("return paused", json!([]));
        assert!(paused > 200.0, "{begin}{end}: {paused} ms");
        review.world.look();
        review.world.nvim.input(":w<CR>");
        review.is_accepted(PROPOSED);
    }
    review.world.nvim.assert_no_errors();
}

/// Where Neovim names the mode, a message of the command line is not on the screen.
#[each_neovim]
fn what_waits_is_said_on_the_screen(version: NvimVersion) {
    let (home, tmux) = (Home::new(), Tmux::start());
    let file = home.file("a.txt", ORIGINAL);
    let nvim = setup(version, &home)
        .arg(&file)
        .in_tmux(&tmux, Size::new(100, 24));
    let world = World { nvim, home };
    world.wait_running();
    let gemini = TestAgent::find(&world.home, pillion_protocol::Dialect::GeminiCli);
    for (begin, mode) in [("i", "i"), ("v", "v"), ("qa", "n")] {
        world.nvim.input(begin);
        let begun = format!("vim.api.nvim_get_mode().mode == '{mode}'");
        world.nvim.wait_until(begin, &begun);
        gemini.propose(&file, PROPOSED);
        let said = "Gemini CLI proposes a.txt: opens when you are done";
        world.nvim.pane().wait_for(said, SOON);
        gemini.close(&file).unwrap();
        world.nvim.input(if begin == "qa" { "q" } else { "<Esc>" });
        let is_gone = "vim.fn.reg_recording() == '' and #require('pillion.diff').list() == 0 and vim.api.nvim_get_mode().mode == 'n'";
        world.nvim.wait_until("done", is_gone);
        world.nvim.command("redraw!");
    }
    world.nvim.assert_no_errors();
}

/// The work of others goes on, and mode and prompt say nothing of it.
#[each_neovim]
fn it_opens_after_a_script_that_waits(version: NvimVersion) {
    let mut review = Review::with(
        version,
        "vim.cmd [[nnoremap <C-g> <Cmd>call getchar() <Bar> let g:done = 1<CR>]]",
    );
    for (begin, end) in [
        (":call getchar() | let g:done = 1<CR>", "x"),
        ("<C-g>", "x"),
        (
            ":lua vim.wait(1e6, function() return vim.g.wanted end) vim.g.done = 1<CR>",
            "",
        ),
    ] {
        review
            .world
            .nvim
            .command("let g:done = 0 | let g:wanted = v:false");
        review.type_until(begin, "vim.fn.state('S') ~= ''");
        review.begin(PROPOSED);
        review
            .world
            .nvim
            .wait_until(begin, &format!("{WAITS} and vim.g.done == 0"));
        review.world.nvim.command("let g:wanted = v:true");
        review.type_until(end, &format!("vim.g.done == 1 and {SHOWN}"));
        review.world.look();
        review.world.nvim.input(":w<CR>");
        review.is_accepted(PROPOSED);
        review.world.nvim.assert_no_errors();
    }
}

#[each_neovim]
fn keys_that_follow_the_end_of_typing_go_where_they_went(version: NvimVersion) {
    let mut review = Review::new(version);
    review.type_until("Gomine", "vim.api.nvim_get_mode().mode == 'i'");
    review.begin(PROPOSED);
    // All of them come before a pause.
    review.world.nvim.input("<Esc>ggxxxA!<Esc>");
    review.world.nvim.wait_until("the proposal", SHOWN);
    assert_eq!(review.lines().join("\n") + "\n", PROPOSED);
    let typed: Vec<String> = review
        .world
        .nvim
        .lua("return vim.fn.getbufline('a.txt', 1, '$')", json!([]));
    assert_eq!((typed[0].as_str(), typed[7].as_str()), ("!", "mine"));
    review.world.nvim.wait_until(
        "that it is said",
        "vim.fn.execute('messages'):find('Gemini CLI proposed a.txt meanwhile', 1, true) ~= nil",
    );
    review.world.nvim.input(":q<CR>");
    review.is_rejected();
}

#[each_neovim]
fn several_that_wait_open_one_after_the_other(version: NvimVersion) {
    let review = Review::new(version);
    let other = review.world.home.file("b.txt", "b\n");
    review.type_until("i", "vim.api.nvim_get_mode().mode == 'i'");
    review.begin(PROPOSED);
    review.gemini.propose(&other, "B\n");
    // A newer one takes the place of the first.
    review.begin("newer\n");
    review.type_until(
        "<Esc>",
        "vim.b.pillion_diff == 1 and #vim.api.nvim_list_tabpages() == 3",
    );
    assert_eq!(review.lines(), ["newer"]);
    review.type_until(":PillionDiffs 2<CR>", "vim.b.pillion_diff == 2");
}

#[each_neovim]
fn one_that_its_agent_takes_back_is_never_shown(version: NvimVersion) {
    let review = Review::new(version);
    for (begin, end) in [("i", "<Esc>"), ("q:", ":q<CR>"), ("qa", "q")] {
        review.type_until(begin, "vim.api.nvim_get_mode().mode == 'i' or vim.fn.getcmdwintype() ~= '' or vim.fn.reg_recording() ~= ''");
        review.begin(PROPOSED);
        assert_eq!(review.gemini.close(&review.path).unwrap(), PROPOSED);
        review.type_until(
            end,
            "vim.fn.getcmdwintype() == '' and vim.api.nvim_get_mode().mode == 'n'",
        );
        review.wait_gone();
        let tabs: Value = review
            .world
            .nvim
            .lua("return #vim.api.nvim_list_tabpages()", json!([]));
        assert_eq!(tabs, json!(1), "{begin}");
    }
}

/// A terminal in this window, with the person typing in it.
fn type_in_terminal(review: &Review, window: &str) {
    review.world.nvim.command("set columns=120 lines=40");
    review.world.nvim.lua::<Value>(
        "load(...)() vim.fn.termopen({ 'sh', '-c', 'sleep 1000' }) terminal = vim.api.nvim_get_current_win()",
        json!([window]),
    );
    review.type_until("i", "vim.api.nvim_get_mode().mode == 't'");
}

/// A message would be covered by the name of the mode.
#[each_neovim]
fn a_terminal_that_leaves_no_room_says_what_waits(version: NvimVersion) {
    for window in [
        "vim.cmd('enew')",
        "vim.cmd('tabnew')",
        "vim.api.nvim_open_win(vim.api.nvim_create_buf(false, true), true, { relative = 'editor', row = 2, col = 5, width = 100, height = 30 })",
    ] {
        let mut review = Review::with(version, "vim.o.hidden = true");
        type_in_terminal(&review, window);
        let tabs: u32 = review
            .world
            .nvim
            .lua("return #vim.api.nvim_list_tabpages()", json!([]));
        // What runs in it would draw all of it anew.
        let height = "return vim.fn.getwininfo(terminal)[1].height";
        let rows: u32 = review.world.nvim.lua(height, json!([]));
        review.begin(PROPOSED);
        let line = |words: &str| {
            format!(
                "vim.iter(vim.api.nvim_list_wins()):any(function(win)
                    local text = vim.api.nvim_buf_get_lines(vim.api.nvim_win_get_buf(win), 0, 1, false)[1]
                    return vim.w[win].pillion_message ~= nil and text:find({words:?}, 1, true) ~= nil
                end)"
            )
        };
        let shown = line("Gemini CLI proposes a.txt: CTRL-\\ CTRL-N shows it");
        review.world.nvim.wait_until("the line", &shown);
        assert_eq!(review.world.nvim.lua::<u32>(height, json!([])), rows);
        let now: Value = review.world.nvim.lua(
            "return { vim.api.nvim_get_mode().mode, #vim.api.nvim_list_tabpages() }",
            json!([]),
        );
        assert_eq!(now, json!(["t", tabs]), "{window}");
        review.type_until("<C-\\><C-n>", "vim.b.pillion_diff == 1");
        review
            .world
            .nvim
            .wait_until("no line", &format!("not {}", line("shows it")));
        review.world.look();
        review.world.nvim.input(":w<CR>");
        review.is_accepted(PROPOSED);
        review.world.nvim.wait_until(
            "typing again",
            "vim.api.nvim_get_mode().mode == 't' and vim.api.nvim_get_current_win() == terminal",
        );
    }
}

#[each_neovim]
fn a_proposal_that_finds_no_window_stays_pending_and_says_so(version: NvimVersion) {
    let mut review = Review::new(version);
    review.world.nvim.lua::<()>(
        "layout_open = require('pillion.diff.layout').open
            require('pillion.diff.layout').open = function() error('E36: Not enough room', 0) end",
        json!([]),
    );
    review.begin(PROPOSED);
    review.world.nvim.wait_until(
        "the message",
        "vim.fn.execute('messages'):find('cannot show a.txt', 1, true) ~= nil",
    );
    review.world.nvim.wait_until("pending", WAITS);
    review.world.nvim.lua::<()>(
        "require('pillion.diff.layout').open = layout_open",
        json!([]),
    );
    review.type_until(":PillionDiffs<CR>", SHOWN);
    review.world.look();
    review.world.nvim.input(":w<CR>");
    review.is_accepted(PROPOSED);
}
