//! The notes of the person to the agent beside a decision: a reason, and notes on lines of the proposal.

use std::fs;

use pillion_testkit::{Home, SOON, VimVersion, each_vim};
use serde_json::{Value, json};

use crate::review::{ORIGINAL, PROPOSED, Review};
use crate::world::World;

/// A review in which what Vim sends is kept in a file of the home.
fn review(version: VimVersion) -> Review {
    let home = Home::new();
    let vimrc = format!("call ch_logfile('{}/sent')", home.root().display());
    let world = World::with(version, home, &[("a.txt", ORIGINAL)], |setup| {
        setup.vimrc(&vimrc)
    });
    let gemini = world.gemini();
    let path = world.home.workspace().join("a.txt");
    Review {
        world,
        gemini,
        path,
    }
}

impl Review {
    /// The notes that Vim has sent with its last decision.
    fn sent(&self) -> Value {
        let sent = fs::read(self.world.home.root().join("sent")).unwrap();
        let sent = String::from_utf8_lossy(&sent);
        let decisions = sent
            .split("Content-Length: ")
            .filter(|it| it.contains("\"pillion/decide\""));
        let last = decisions
            .last()
            .and_then(|it| it.find('{').map(|at| &it[at..]))
            .expect("a decision");
        let mut last = serde_json::Deserializer::from_str(last).into_iter::<Value>();
        last.next().unwrap().unwrap()["params"]["notes"].clone()
    }
}

fn on(first: u32, last: u32, text: &str) -> Value {
    json!({ "text": text, "lines": { "first": first, "last": last } })
}

#[each_vim]
fn a_reason_is_the_rest_of_the_line(version: VimVersion) {
    let mut review = review(version);
    for (keys, sent) in [
        (":PillionReject<CR>", Value::Null),
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
    ] {
        review.propose(PROPOSED);
        review.vim().input(keys);
        review.is_rejected();
        assert_eq!(review.sent(), sent, "{keys}");
    }
    // A number alone is that of a diff, and so is one that stands before a reason, seen from elsewhere.
    for reason in ["", " because"] {
        review.propose(PROPOSED);
        let id: u32 = review.vim().get("b:pillion_diff");
        review
            .vim()
            .input_until(":1tabnext<CR>", "bufname() == 'a.txt'");
        review
            .vim()
            .input(&format!(":PillionReject {id}{reason}<CR>"));
        review.is_rejected();
        let sent = if reason.is_empty() {
            Value::Null
        } else {
            json!([{ "text": "because" }])
        };
        assert_eq!(review.sent(), sent);
    }
}

#[each_vim]
fn notes_are_about_lines_and_move_with_them(version: VimVersion) {
    for (decision, reason, is_accepted) in [
        (":w<CR>", None, true),
        (":q!<CR>", None, false),
        (":PillionReject all<CR>", Some("all"), false),
    ] {
        let mut review = review(version);
        review.propose(PROPOSED);
        review
            .vim()
            .input_until("2G:PillionNote why | \"this\"?<CR>", "line('.') == 2");
        review
            .vim()
            .input(":4,5PillionNote both<CR>:1PillionNote x<CR>:1PillionNote! instead<CR>");
        review.vim().pane().wait_for("▸ lines 4 to 5: both", SOON);
        review.vim().pane().wait_for("▸ why | \"this\"?", SOON);
        review.vim().pane().wait_for("3 notes", SOON);
        review
            .vim()
            .input_until("ggOnew<Esc>", "line('$') == 7 && mode() == 'n'");
        let text: Vec<String> = review.vim().get("getline(1, '$')");
        review.vim().input(decision);
        match is_accepted {
            true => review.is_accepted(&(text.join("\n") + "\n")),
            false => review.is_rejected(),
        }
        let mut expected: Vec<Value> = reason
            .map(|text| json!({ "text": text }))
            .into_iter()
            .collect();
        expected.extend([
            on(1, 1, "instead"),
            on(2, 2, "why | \"this\"?"),
            on(4, 5, "both"),
        ]);
        assert_eq!(review.sent(), json!(expected), "{decision}");
    }
}

/// The text that the agent's model reads, and what the person is told of that, whole.
#[each_vim]
fn the_agent_gets_what_was_said(version: VimVersion) {
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
        let mut review = review(version);
        review.propose(PROPOSED);
        review.vim().input(keys);
        let told = told.replace("PATH", &review.path.display().to_string());
        review.world.active(&mut review.gemini, |file| {
            file.selected_text
                .as_deref()
                .is_some_and(|text| text.ends_with(&told))
        });
        review
            .vim()
            .wait_said("Gemini CLI gets your note with your next prompt");
        review
            .vim()
            .pane()
            .wait_for("gets your note with your next prompt", SOON);
    }
}

#[each_vim]
fn notes_are_listed_and_removed(version: VimVersion) {
    let mut review = review(version);
    review.propose(PROPOSED);
    review.vim().input(":PillionNote<CR>");
    review
        .vim()
        .wait_said("there are no notes on this proposal");
    review
        .vim()
        .input_until("2G:PillionNote first<CR>", "line('.') == 2");
    review
        .vim()
        .input(":4,5PillionNote second<CR>gg:PillionNote<CR>");
    review.vim().pane().wait_for("lines 4 to 5: second", SOON);
    review.vim().pane().wait_for("Go to which note?", SOON);
    review.vim().input_until("j<CR>", "line('.') == 4");
    review.vim().input(":PillionNote!<CR>");
    review.vim().pane().wait_for("1 note", SOON);
    review.vim().input(":1PillionNote!<CR>");
    review.vim().wait_said("there is no note on these lines");
    review.vim().input(":%PillionNote!<CR>");
    review.vim().pane().wait_gone("1 note", SOON);
    review.vim().input(":q<CR>");
    review.is_rejected();
    review.vim().assert_no_errors();
}

/// They stay, and can be shortened; who closes the view has decided.
#[each_vim]
fn notes_that_are_too_long_are_not_lost(version: VimVersion) {
    let mut review = review(version);
    review.propose(PROPOSED);
    review
        .vim()
        .input(":execute 'PillionNote' repeat('x y ', 5000)<CR>");
    review.vim().pane().wait_for("1 note", SOON);
    review.vim().input(":PillionReject<CR>");
    review.vim().wait_said("shorten them");
    review.is_pending("notes that are too long");
    review.vim().pane().wait_for("1 note", SOON);
    review.vim().input(":q<CR>");
    review.is_rejected();
    review.vim().wait_said("cannot be told your notes");
    let said: Vec<String> = review.vim().get("pillion#Messages()");
    assert!(!said.join("\n").contains("was not told"), "{said:?}");
    review.vim().assert_no_errors();
}

/// Whatever is in them, they are text; what the agent is not told stands in a message.
#[each_vim]
fn notes_are_only_text_and_are_not_lost(version: VimVersion) {
    let mut review = review(version);
    review.propose(PROPOSED);
    for text in [
        "'), execute('let g:ran = 1')",
        "%{execute('let g:ran = 1')} \u{16}\u{1b}[31m",
        "{g:ran}",
    ] {
        review.vim().input(&format!(":PillionNote {text}<CR>"));
    }
    review.vim().pane().wait_for("3 notes", SOON);
    review.close();
    review
        .vim()
        .wait_said("was not told your notes: '), execute(");
    assert_eq!(review.vim().get::<u8>("exists('g:ran')"), 0);
    review.vim().assert_no_errors();
}
