//! A decision names what the person has seen on a drawn screen.

use std::thread::sleep;

use pillion_testkit::{VimVersion, each_vim};
use pillion_view::HELD;

use crate::review::{PROPOSED, Review};

#[each_vim]
fn nothing_is_accepted_as_it_opens(version: VimVersion) {
    let mut review = Review::new(version);
    for keys in [":w<CR>", "ZZ", ":x<CR>", ":PillionAccept<CR>"] {
        review.begin(PROPOSED);
        review.vim().input(keys);
        review.vim().wait_said("just opened");
        review.is_pending(keys);
        review.vim().command("messages clear");
        review.close();
    }
}

#[each_vim]
fn a_newer_proposal_is_not_accepted_by_what_was_begun_before(version: VimVersion) {
    let mut review = Review::new(version);
    review.propose(PROPOSED);
    review.vim().input_until(":w", "mode() == 'c'");
    review.begin_again("another\n");
    review.look_at_newer();
    review.vim().input("<CR>");
    review.is_pending("a command line that was begun before");
    review.vim().wait_said("a newer proposal");
    sleep(HELD);
    review.look();
    review.vim().input(":w<CR>");
    review.is_accepted("another\n");
}

#[each_vim]
fn a_proposal_out_of_sight_is_shown_before_it_is_accepted(version: VimVersion) {
    let mut review = Review::new(version);
    review.vim().input_until("ohello", "mode() == 'i'");
    review.gemini.propose(&review.path, PROPOSED);
    // It does not take the focus of a person who types.
    assert_eq!(
        review
            .vim()
            .get::<String>("mode() .. bufname()->fnamemodify(':t')"),
        "ia.txt"
    );
    review.vim().input("<Esc>u");
    review.vim().wait_until("normal mode", "mode() == 'n'");
    review.vim().input(":PillionAccept<CR>");
    review.vim().wait_said("has not been on the screen yet");
    review.is_pending("a look");
    review.look();
    review.vim().input(":PillionAccept<CR>");
    review.is_accepted(PROPOSED);
}

#[each_vim]
fn a_macro_accepts_nothing(version: VimVersion) {
    let mut review = Review::new(version);
    review.vim().command("let @a = \":w\\<CR>\"");
    review.vim().command("let @b = \"ZZ\"");
    review.vim().command("let @c = \":PillionAccept\\<CR>\"");
    for keys in ["@a", "@b", "@c"] {
        review.propose(PROPOSED);
        review.vim().input(keys);
        review.is_pending(keys);
        review.close();
    }
}

/// A line as a minifier makes it: so many words, of which these are other ones in the proposal.
fn minified(words: usize, changed: &[usize]) -> (String, String) {
    let line = |mark: &str| {
        let word = |at: usize| {
            format!(
                "w{at:04}{};",
                if changed.contains(&at) { mark } else { "=" }
            )
        };
        format!("one\n{}\nlast\n", (0..words).map(word).collect::<String>())
    };
    (line("="), line("!"))
}

impl Review {
    /// The agent changes these words of one line of so many, each of which is seven columns wide.
    fn propose_minified(&mut self, words: usize, changed: &[usize]) -> String {
        let (before, after) = minified(words, changed);
        std::fs::write(&self.path, before).unwrap();
        self.vim().command("edit");
        self.propose(&after);
        after
    }

    /// The keys bring these words onto the screen, and then `:w` accepts without a question.
    fn is_accepted_once_seen(&mut self, after: &str, words: &[usize]) {
        for word in words {
            let column = word * 7 + 6;
            let shown = format!("col('.') == {column} && state('S') == ''");
            self.vim().input_until(&format!("2G{column}|"), &shown);
        }
        self.vim().input(":w<CR>");
        self.wait_gone();
        self.is_accepted(after);
    }

    fn is_asked_about(&mut self, why: &str) {
        self.vim().command("messages clear");
        self.vim().input(":w<CR>");
        self.vim()
            .wait_said("the change has not been on the screen as a whole");
        self.is_pending(why);
        // What is typed next is not from a key that is held down.
        sleep(HELD);
    }
}

#[each_vim]
fn a_change_far_to_the_right_is_seen_once_it_was_scrolled_to(version: VimVersion) {
    for layout in ["vertical", "horizontal"] {
        let mut review = Review::with(
            version,
            &format!("let g:pillion_diff_layout = '{layout}'\nset nowrap"),
        );
        let after = review.propose_minified(200, &[130]);
        review.is_asked_about(layout);
        review.close();
        review.propose_minified(200, &[130]);
        review.is_accepted_once_seen(&after, &[130]);
        // What is on the screen at once is not asked about.
        let after = review.propose_minified(200, &[1]);
        review.is_accepted_once_seen(&after, &[]);
    }
}

#[each_vim]
fn a_wrapped_line_is_seen_as_far_as_it_is_on_the_screen(version: VimVersion) {
    for (layout, vimrc) in [
        ("vertical", "set diffopt+=followwrap display=lastline"),
        ("unified", "set display=truncate nowrap"),
        ("unified", "set display= smoothscroll number"),
    ] {
        let mut review = Review::with(
            version,
            &format!("let g:pillion_diff_layout = '{layout}'\n{vimrc}"),
        );
        // As a whole on the screen.
        let after = review.propose_minified(130, &[120]);
        assert!(
            review.vim().get::<bool>("&wrap ? v:true : v:false"),
            "{vimrc}"
        );
        review.is_accepted_once_seen(&after, &[]);
        let after = review.propose_minified(900, &[880]);
        review.is_asked_about(vimrc);
        review.close();
        review.propose_minified(900, &[880]);
        review.is_accepted_once_seen(&after, &[880]);
    }
}

#[each_vim]
fn of_two_changes_in_a_line_both_are_to_be_seen(version: VimVersion) {
    let mut review = Review::with(version, "set nowrap");
    for changed in [[100, 400], [0, 300], [200, 239]] {
        let after = review.propose_minified(500, &changed);
        review.vim().input_until(
            &format!("2G{}|", changed[1] * 7 + 6),
            "state('S') == '' && col('.') > 1000",
        );
        review.vim().input_until("0", "col('.') == 1");
        if changed[0] > 0 {
            review.is_asked_about("the second one alone");
            review.close();
            review.propose_minified(500, &changed);
        }
        review.is_accepted_once_seen(&after, &changed);
    }
}

#[each_vim]
fn what_is_drawn_for_nobody_is_not_seen(version: VimVersion) {
    let mut review = Review::set_up(version, |setup| setup.without_screen());
    review.begin(PROPOSED);
    for keys in [":w<CR>", ":PillionAccept<CR>"] {
        review.vim().command("messages clear");
        review.vim().input(keys);
        review.vim().wait_said("has not been on the screen yet");
        review.is_pending(keys);
        sleep(HELD);
    }
}

#[each_vim]
fn what_was_seen_before_vim_was_suspended_is_looked_at_again(version: VimVersion) {
    let mut review = Review::new(version);
    review
        .vim()
        .command("autocmd VimResume * let g:is_back = v:true");
    review.propose(PROPOSED);
    // Nobody stops what is no job of a shell: it goes on at once.
    review.vim().input_until("<C-z>", "exists('g:is_back')");
    review.vim().input(":w<CR>");
    review.vim().wait_said("just opened");
    review.is_pending("a suspension");
    sleep(HELD);
    review.look();
    review.vim().input(":w<CR>");
    review.is_accepted(PROPOSED);
}
