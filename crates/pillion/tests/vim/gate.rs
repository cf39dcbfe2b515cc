//! Pillion rules whether a decision counts: what it is told of what was seen, and what it answers.

use std::fmt::Write as _;
use std::thread::sleep;

use pillion_testkit::{Size, VimVersion, each_vim};
use pillion_view::LOOK;

use crate::review::{PROPOSED, Review};

/// Changes at the beginning, in the middle and at the end of what no screen shows at once.
fn long() -> (String, String) {
    let (mut before, mut after) = (String::new(), String::new());
    for number in 1..=120 {
        let _ = writeln!(before, "{number}");
        let mark = if [3, 60, 118].contains(&number) {
            "!"
        } else {
            ""
        };
        let _ = writeln!(after, "{number}{mark}");
    }
    (before, after)
}

impl Review {
    /// The agent proposes the long text, in which nothing is folded.
    fn propose_long(&mut self) -> String {
        let (before, after) = long();
        std::fs::write(&self.path, before).unwrap();
        self.vim().command("edit");
        self.propose(&after);
        after
    }
}

#[each_vim]
fn what_has_not_been_on_the_screen_is_asked_about_once(version: VimVersion) {
    let mut review = Review::with(version, "set diffopt+=context:9999");
    let after = review.propose_long();
    review.vim().input(":w<CR>");
    review
        .vim()
        .wait_said("2 of 3 changes have not been on the screen: accept again to go ahead");
    review.is_pending("what was not seen");
    sleep(LOOK);
    review.vim().input(":w<CR>");
    review.is_accepted(&after);
}

#[each_vim]
fn what_was_looked_at_or_taken_out_is_not_asked_about(version: VimVersion) {
    let steps: [&[(&str, &str)]; 4] = [
        &[("60G", "line('.') == 60"), ("G", "line('.') == 120")],
        &[
            ("60G", "line('.') == 60"),
            ("gg", "line('.') == 1"),
            ("G", "line('.') == 120"),
        ],
        &[
            ("45G", "line('.') == 45"),
            ("z<CR>", "line('w0') == 45"),
            ("G", "line('.') == 120"),
        ],
        &[
            (":60,61d<CR>", "line('$') == 118"),
            ("G", "line('.') == 118"),
        ],
    ];
    for keys in steps {
        let mut review = Review::with(version, "set diffopt+=context:9999");
        review.propose_long();
        for (keys, done) in keys {
            review
                .vim()
                .input_until(keys, &format!("{done} && state('S') == ''"));
        }
        let text: Vec<String> = review.vim().get("getline(1, '$')");
        review.vim().input(":w<CR>");
        review.is_accepted(&(text.join("\n") + "\n"));
    }
}

/// A fold shows none of its lines.
#[each_vim]
fn what_is_folded_is_not_seen(version: VimVersion) {
    let mut review = Review::with(version, "set diffopt+=context:9999");
    review.propose_long();
    review
        .vim()
        .input(":set foldenable foldmethod=manual | 20,115fold<CR>G");
    review.vim().wait_until("the fold", "foldclosed(60) > 0");
    review.vim().input(":w<CR>");
    review
        .vim()
        .wait_said("1 of 3 changes has not been on the screen");
    review.is_pending("a fold");
}

/// However narrow the screen is.
#[each_vim]
fn all_of_what_is_doubted_is_on_the_screen(version: VimVersion) {
    let mut review = Review::set_up(version, |setup| setup.size(Size::new(50, 30)));
    review.propose(PROPOSED);
    review.vim().input("ggdG:w<CR>");
    let all = review
        .vim()
        .pane()
        .wait_for("accept again", pillion_testkit::SOON);
    let text: String = all.split_whitespace().collect();
    assert!(
        text.contains("GeminiCLIignoresanemptytextandwritesitsown:acceptagain"),
        "{all}"
    );
    assert_eq!(review.vim().get::<String>("mode()"), "n");
    review.is_pending("a doubt");
}

/// A decision is carried out, whatever is typed meanwhile.
#[each_vim]
fn a_decision_outlives_what_is_typed_right_after_it(version: VimVersion) {
    for keys in [
        ":w<CR>:q<CR>",
        ":w<CR>:w<CR>:w<CR>",
        ":w<CR>dd",
        ":wq<CR>:q<CR>",
        "ZZZZ",
        ":w<CR>:qa<CR>",
        ":wq<CR>:qa!<CR>",
    ] {
        let mut review = Review::new(version);
        review.propose(PROPOSED);
        review.vim().input(keys);
        let expected =
            pillion_testkit::client::Update::accepted(review.path.display().to_string(), PROPOSED);
        assert_eq!(review.gemini.outcome(), expected, "{keys}");
    }
}

#[each_vim]
fn a_view_that_was_refused_is_still_there(version: VimVersion) {
    for keys in [":wq<CR>", ":x<CR>", "ZZ", ":PillionReject<CR>"] {
        // A Vim for each: a decision that follows the one before too fast is refused for that.
        let mut review = Review::new(version);
        review.begin(PROPOSED);
        review.vim().input(keys);
        review.vim().wait_said("has only just opened");
        review
            .vim()
            .wait_until("the view", "bufname() =~ '^pillion://' && winnr('$') == 2");
        review.look();
        review.vim().input(":w<CR>");
        review.is_accepted(PROPOSED);
        review.vim().assert_no_errors();
    }
}

/// Types `g:keys` in the moment in which a proposal has come.
const HASTY: &str = "let g:keys = ''
    autocmd User PillionDiffOpened call feedkeys(g:keys, 't')";

/// Letters that were meant for another buffer, in one go.
#[each_vim]
fn keys_that_come_with_a_proposal_change_nothing(version: VimVersion) {
    let mut review = Review::with(version, HASTY);
    review.vim().input("yy");
    for keys in [
        r"ohello\<Esc>",
        "xxdd",
        r"ihi\<Esc>",
        r"pAx\<Esc>J~",
        "do",
        r":PillionDropHunk\<CR>",
    ] {
        review.vim().command(&format!("let g:keys = \"{keys}\""));
        // Who has typed nothing since they decided looks for what comes next.
        review
            .vim()
            .input_until("j", "!exists('#PillionFollow#KeyInputPre')");
        let said = "len(filter(pillion#Messages(), 'v:val =~ \"keys count once you pause\"'))";
        let before: u32 = review.vim().get(said);
        review.begin(PROPOSED);
        review.vim().wait_until(keys, &format!("{said} > {before}"));
        review.look();
        let text = review.vim().get::<Vec<String>>("getline(1, '$')");
        assert_eq!(text.join("\n") + "\n", PROPOSED, "{keys}");
        assert!(!review.vim().get::<bool>("&modified ? v:true : v:false"));
        review
            .vim()
            .input_until("Gomine<Esc>", "line('$') == 7 && mode() == 'n'");
        review.vim().input(":w<CR>");
        review.is_accepted(&format!("{PROPOSED}mine\n"));
    }
    // Vim's own E21 is none of a script's.
    let messages: String = review.vim().get("execute('messages')");
    assert!(!messages.contains("Error detected"), "{messages}");
}

#[each_vim]
fn keys_count_at_once_in_a_proposal_that_the_person_goes_to(version: VimVersion) {
    let review = Review::new(version);
    review.begin(PROPOSED);
    review.look();
    review.vim().input_until("gt", "bufname() == 'a.txt'");
    review
        .vim()
        .input_until(":PillionDiffs<CR>", "bufname() =~ '^pillion://'");
    review
        .vim()
        .input_until("Gomine<Esc>", "line('$') == 7 && mode() == 'n'");
}
