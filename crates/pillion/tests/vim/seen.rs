//! A decision names what the person has seen on a drawn screen.

use crate::review::{PROPOSED, Review};

each_vim! {
    fn nothing_is_accepted_as_it_opens(version) {
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
}

each_vim! {
    fn a_newer_proposal_is_not_accepted_by_what_was_begun_before(version) {
        let mut review = Review::new(version);
        review.propose(PROPOSED);
        review.vim().input_until(":w", "mode() == 'c'");
        review.begin_again("another\n");
        review.look_at_newer();
        review.vim().input("<CR>");
        review.is_pending("a command line that was begun before");
        review.vim().wait_said("a newer proposal");
        review.look();
        review.vim().input(":w<CR>");
        review.is_accepted("another\n");
    }
}

each_vim! {
    fn a_proposal_out_of_sight_is_shown_before_it_is_accepted(version) {
        let mut review = Review::new(version);
        review.vim().input_until("ohello", "mode() == 'i'");
        review.gemini.propose(&review.path, PROPOSED);
        // It does not take the focus of a person who types.
        assert_eq!(review.vim().get::<String>("mode() .. bufname()->fnamemodify(':t')"), "ia.txt");
        review.vim().input("<Esc>u");
        review.vim().wait_until("normal mode", "mode() == 'n'");
        review.vim().input(":PillionAccept<CR>");
        review.vim().wait_said("has not been on the screen yet");
        review.is_pending("a look");
        review.look();
        review.vim().input(":PillionAccept<CR>");
        review.is_accepted(PROPOSED);
    }
}

each_vim! {
    fn a_macro_accepts_nothing(version) {
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
}
