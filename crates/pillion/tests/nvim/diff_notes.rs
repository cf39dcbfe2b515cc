//! The notes of the person to the agent beside a decision: a reason, and notes on lines of the proposal.

use std::time::Instant;

use pillion_testkit::{NvimVersion, SOON, Size, Tmux, each_neovim, pause};
use serde_json::{Value, json};

use crate::diff::Review;
use crate::install::pillion;
use crate::world::World;

const PROPOSED: &str = "one\n2\nthree\nfour\nfive\nsix\nseven\n";

/// Keeps what is sent with a decision, and puts `_G.answer` into its answer.
const LISTENS: &str = "local client = require('pillion.client')
    local request = client.request
    client.request = function(method, params, done)
      if method == 'pillion/decide' then
        _G.sent = params.notes or 'none'
      end
      return request(method, params, function(err, answer)
        done(err, type(answer) == 'table' and vim.tbl_extend('force', answer, _G.answer or {}) or answer)
      end)
    end";

fn review(version: NvimVersion) -> Review {
    let review = Review::new(version);
    review.world.nvim.lua::<()>(LISTENS, json!([]));
    review
}

impl World {
    /// The notes that were sent with the last decision.
    #[track_caller]
    fn sent(&self) -> Value {
        self.nvim.wait_for(
            "what was sent",
            "local sent = _G.sent _G.sent = nil return sent",
            json!([]),
        )
    }
}

/// That so many notes are on the proposal in focus.
fn counted(count: usize) -> String {
    format!(
        "require('pillion.diff.notes').count(require('pillion.diff.pending').focused()) == {count}"
    )
}

fn on(first: u32, last: u32, text: &str) -> Value {
    json!({ "text": text, "lines": { "first": first, "last": last } })
}

#[each_neovim]
fn a_reason_is_the_rest_of_the_line(version: NvimVersion) {
    let mut review = review(version);
    for (keys, sent) in [
        (":PillionReject<CR>", json!("none")),
        (
            ":PillionReject use the | table \"x\"  <CR>",
            json!([{ "text": "use the | table \"x\"" }]),
        ),
        (
            ":PillionReject 3 tests fail<CR>",
            json!([{ "text": "3 tests fail" }]),
        ),
        (
            ":Pillion reject no: %s #1 %<CR>",
            json!([{ "text": "no: %s #1 %" }]),
        ),
        (":q<CR>", json!("none")),
    ] {
        review.propose(PROPOSED);
        review.world.nvim.input(keys);
        review.is_rejected();
        assert_eq!(review.world.sent(), sent, "{keys}");
    }
    // A number alone is that of a diff, and so is one that stands before a reason, seen from elsewhere.
    for reason in ["", " because"] {
        review.propose(PROPOSED);
        let id: u32 = review
            .world
            .nvim
            .lua("return vim.b.pillion_diff", json!([]));
        review.world.nvim.command("1tabnext");
        review
            .world
            .nvim
            .input(&format!(":PillionReject {id}{reason}<CR>"));
        review.is_rejected();
        let sent = if reason.is_empty() {
            json!("none")
        } else {
            json!([{ "text": "because" }])
        };
        assert_eq!(review.world.sent(), sent);
    }
}

#[each_neovim]
fn notes_are_about_lines_and_move_with_them(version: NvimVersion) {
    for (decision, reason, is_accepted) in [
        (":w<CR>", None, true),
        (":q!<CR>", None, false),
        (":PillionReject all of it<CR>", Some("all of it"), false),
    ] {
        let mut review = review(version);
        review.propose(PROPOSED);
        review.world.nvim.input("2G:PillionNote why | \"this\"?<CR>:4,5PillionNote both<CR>Gk:PillionNote x<CR>:PillionNote! instead<CR>");
        review.world.nvim.input("ggVj:PillionNote selected<CR>");
        review.type_until(
            "ggOnew<Esc>",
            "vim.fn.line('$') == 8 and vim.api.nvim_get_mode().mode == 'n'",
        );
        review.world.nvim.wait_until("how many", &counted(4));
        let text = review.lines().join("\n") + "\n";
        review.world.nvim.input(decision);
        match is_accepted {
            true => review.is_accepted(&text),
            false => review.is_rejected(),
        }
        let mut expected: Vec<Value> = reason
            .map(|text| json!({ "text": text }))
            .into_iter()
            .collect();
        expected.extend([
            on(1, 2, "selected"),
            on(2, 2, "why | \"this\"?"),
            on(4, 5, "both"),
            on(6, 6, "instead"),
        ]);
        assert_eq!(review.world.sent(), json!(expected), "{decision}");
        // The next proposal has none.
        review.propose(PROPOSED);
        review.world.nvim.wait_until("none", &counted(0));
        review.world.nvim.input(":q<CR>");
        review.is_rejected();
        assert_eq!(review.world.sent(), json!("none"));
    }
}

/// The text that the agent's model reads, and what the person is told of that.
#[each_neovim]
fn the_agent_gets_what_was_said(version: NvimVersion) {
    for (keys, told) in [
        (
            ":PillionReject use the table<CR>",
            "rejected your change to PATH and says: use the table",
        ),
        (
            "2G:PillionNote why?<CR>:w<CR>",
            "accepted your change to PATH and says:\n- line 2 (`2`): why?",
        ),
        (
            "2G:PillionNote a<CR>:3,4PillionNote b<CR>:q<CR>",
            "rejected your change to PATH and says:\n- line 2 (`2`): a\n- lines 3 to 4 (`three`): b",
        ),
    ] {
        let mut review = Review::new(version);
        review.propose(PROPOSED);
        review.world.nvim.input(keys);
        let told = told.replace("PATH", &review.path());
        review.world.active(&mut review.gemini, |file| {
            file.selected_text
                .as_deref()
                .is_some_and(|text| text.ends_with(&told))
        });
        review.world.nvim.wait_until("the message", "vim.api.nvim_exec('messages', true):find('Gemini CLI gets your note with your next prompt', 1, true) ~= nil");
    }
}

#[each_neovim]
fn notes_are_listed_and_removed(version: NvimVersion) {
    let mut review = review(version);
    review.propose(PROPOSED);
    review.world.nvim.lua::<()>(
        "vim.ui.select = function(items, options, done)
            vim.g.listed = vim.tbl_map(options.format_item, items) done(items[2]) end",
        json!([]),
    );
    review.type_until(
        ":PillionNote<CR>",
        "vim.api.nvim_exec('messages', true):find('there are no notes', 1, true) ~= nil",
    );
    review
        .world
        .nvim
        .input("2G:PillionNote first<CR>:4,6PillionNote second\u{16}\u{1b}<CR>gg:PillionNote<CR>");
    review
        .world
        .nvim
        .wait_until("the list", "vim.g.listed ~= nil");
    let listed: Vec<String> = review.world.nvim.lua("return vim.g.listed", json!([]));
    assert_eq!(listed[0], "line 2: first");
    assert!(listed[1].starts_with("lines 4 to 6: second"), "{listed:?}");
    review
        .world
        .nvim
        .wait_until("the note", "vim.fn.line('.') == 4");
    for (keys, left) in [
        ("gg:PillionNote!<CR>", 2),
        (":5PillionNote!<CR>", 1),
        (":%PillionNote!<CR>", 0),
    ] {
        review.world.nvim.input(keys);
        review.world.nvim.wait_until(keys, &counted(left));
    }
    review.world.nvim.input(":q<CR>");
    review.is_rejected();
    assert_eq!(review.world.sent(), json!("none"));
}

#[each_neovim]
fn notes_are_shown_and_a_proposal_that_goes_leaves_them_in_a_message(version: NvimVersion) {
    let tmux = Tmux::start();
    let (world, agent) = crate::messages::with_agent(version, &tmux, Size::new(100, 24));
    let path = world.home.workspace().join("a.txt");
    agent.propose(&path, "a\nb\nc\n");
    world.look();
    world
        .nvim
        .input("2G:PillionNote why this?<CR>:2,3PillionNote \u{16}\u{1b}[31m and more<CR>");
    let pane = world.nvim.pane();
    pane.wait_for("▸ why this?", SOON);
    pane.wait_for("▸ lines 2 to 3: ^[[31m and more", SOON);
    pane.wait_for("2 notes", SOON);
    agent.close(&path).unwrap();
    pane.wait_for("was not told your notes: why this?;", SOON);
    assert_eq!(world.nvim.blocked_in(), None);
}

/// With a clipboard and without one.
#[each_neovim]
fn what_no_agent_takes_is_on_the_clipboard(version: NvimVersion) {
    for init in [
        "vim.g.clipboard = { name = 'test', copy = { ['+'] = function(lines) vim.g.copied = lines end },
               paste = { ['+'] = function() return {} end } }",
        "package.preload['vim.ui.clipboard.osc52'] = function()
               return { copy = function() return function(lines) vim.g.copied = lines end end } end
             local has = vim.fn.has
             vim.fn.has = function(what) return what == 'clipboard' and 0 or has(what) end",
    ] {
        let mut review = Review::with(version, init);
        review.world.nvim.lua::<()>(LISTENS, json!([]));
        review.world.nvim.lua::<()>("_G.answer = { message = 'it is on the clipboard', clipboard = 'one\\ntwo' }", json!([]));
        review.propose(PROPOSED);
        review.world.nvim.input(":PillionReject no<CR>");
        review.is_rejected();
        review.world.nvim.wait_until("the clipboard", "vim.deep_equal(vim.g.copied, { 'one', 'two' })");
        review.world.nvim.wait_until("the message", "vim.api.nvim_exec('messages', true):find('it is on the clipboard', 1, true) ~= nil");
    }
}

#[each_neovim]
fn a_program_that_knows_no_notes_is_named_and_they_are_kept(version: NvimVersion) {
    let init = "vim.g.clipboard = { name = 'test', copy = { ['+'] = function(lines) vim.g.copied = lines end },
            paste = { ['+'] = function() return {} end } }";
    for (keys, copied) in [
        (":PillionReject no<CR>", "no"),
        ("2G:PillionNote why?<CR>:w<CR>", "why?"),
        ("2G:PillionNote a<CR>:q<CR>", "a"),
    ] {
        let mut review = Review::with(version, init);
        review.world.nvim.lua::<()>(LISTENS, json!([]));
        review.world.nvim.lua::<()>(
            "_G.answer = { message = vim.NIL, clipboard = vim.NIL }",
            json!([]),
        );
        review.propose(PROPOSED);
        review.world.nvim.input(keys);
        review.gemini.outcome();
        review.world.nvim.wait_until(
            "the clipboard",
            &format!("vim.deep_equal(vim.g.copied, {{ '{copied}' }})"),
        );
        review.world.nvim.wait_until(
            "the message",
            "vim.api.nvim_exec('messages', true):find('cannot be told your notes', 1, true) ~= nil",
        );
    }
}

/// Whatever is in them, they are text, and nothing is lost of them.
#[each_neovim]
fn notes_are_only_text(version: NvimVersion) {
    let mut review = review(version);
    for text in [
        "'); vim.g.ran = 1 --",
        "%#Error# %{execute('let g:ran = 1')} <CR>:let g:ran = 1",
        &"long ".repeat(4000),
    ] {
        review.propose(PROPOSED);
        review.world.nvim.lua::<()>(
            "vim.api.nvim_cmd({ cmd = 'PillionNote', args = { (...) } }, {})",
            json!([text]),
        );
        review.world.nvim.wait_until("one note", &counted(1));
        review.world.nvim.input(":PillionReject<CR>");
        if text.len() > 10_000 {
            // They stay, and can be shortened.
            review.world.nvim.wait_until(
                "a refusal",
                "vim.api.nvim_exec('messages', true):find('shorten them', 1, true) ~= nil",
            );
            review.world.nvim.wait_until("one note", &counted(1));
            assert_eq!(review.world.nvim.blocked_in(), None);
            // Who closes the view has decided.
            review.world.nvim.input(":q<CR>");
            review.is_rejected();
            break;
        }
        review.is_rejected();
        assert_eq!(review.world.sent()[0]["text"], json!(text.trim()));
    }
    review.world.nvim.wait_until(
        "the message",
        "vim.api.nvim_exec('messages', true):find('cannot be told your notes', 1, true) ~= nil",
    );
    assert!(!review.world.nvim.messages().contains("was not told"));
    assert!(
        review
            .world
            .nvim
            .lua::<bool>("return vim.g.ran == nil", json!([]))
    );
    review.world.nvim.assert_no_errors();
}

/// Neovim quits before the person decides: what they had to say goes with the rejection, and waits for the agent.
#[each_neovim]
fn notes_outlive_neovim(version: NvimVersion) {
    let mut review = Review::new(version);
    review.propose(PROPOSED);
    review
        .world
        .nvim
        .input("2G:PillionNote why?<CR>:PillionNote! because<CR>");
    review.is_pending("notes decide nothing");
    review.world.nvim.input(":qa!<CR>");
    assert_eq!(review.world.nvim.wait_exit(), 0);
    let path = review.path();
    let rejected = pillion_testkit::client::Update::DiffRejected { path: path.clone() };
    assert_eq!(review.gemini.outcome(), rejected);
    let said = format!("rejected your change to {path} and says:\n  - line 2 (`2`): because\n");
    let start = Instant::now();
    let notes = || pillion(&review.world.home, &["notes"]);
    while !notes().ends_with(&said) {
        assert!(start.elapsed() < SOON, "{}", notes());
        pause(start);
    }
}
