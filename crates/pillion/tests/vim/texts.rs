//! Texts come back byte for byte through Vim's buffers, NUL and all.

use pillion_agent::Update;
use pillion_testkit::Home;

use crate::review::Review;
use crate::shared_texts::{assert_same, texts};
use crate::world::World;

each_vim! {
    fn texts_are_accepted_byte_for_byte(version) {
        let world = World::with(version, Home::new(), &[("a.txt", "one\n")], |setup| {
            // What people have for their files must not touch a proposal.
            setup.vimrc("set fixendofline fileformats=mac,dos,unix textwidth=20\nautocmd BufWritePre * %s/\\s\\+$//e")
        });
        let mut gemini = world.gemini();
        for (number, (name, text)) in texts().iter().enumerate() {
            let path = world.home.workspace().join(format!("{number}.txt"));
            gemini.propose(&path, text);
            world.vim.wait_until(name, "pillion#diff#IsReady()");
            world.vim.input(":w<CR>");
            let Update::DiffAccepted { content, .. } = gemini.outcome() else {
                panic!("{name}: not accepted")
            };
            assert_same(&content, text, name, "accepted");
            assert!(!path.exists(), "{name}: nothing is written");
        }
    }
}

each_vim! {
    fn texts_are_in_the_answer_when_the_agent_closes(version) {
        let world = World::open(version, &[("a.txt", "one\n")]);
        let gemini = world.gemini();
        for (number, (name, text)) in texts().iter().enumerate() {
            let path = world.home.workspace().join(format!("{number}.txt"));
            gemini.propose(&path, text);
            assert_same(&gemini.close(&path).unwrap(), text, name, "closed");
        }
    }
}

each_vim! {
    fn what_the_person_sets_counts(version) {
        let mut review = Review::new(version);
        for (keys, text) in [
            (":set fileformat=dos<CR>", "a\r\nb\r\n"),
            (":set noendofline<CR>", "a\nb"),
            (":set bomb<CR>", "\u{feff}a\nb\n"),
            ("ggdGax<Esc>", "x\n"),
            ("ggdGi<CR><Esc>dd", "\n"),
            ("Gdd", "a\n"),
        ] {
            review.propose("a\nb\n");
            review.vim().input(&format!("{keys}:w<CR>"));
            review.is_accepted(text);
        }
    }
}

each_vim! {
    fn bytes_that_are_no_text_are_not_accepted_and_not_lost(version) {
        let mut review = Review::new(version);
        review.propose("a\nb\n");
        review.vim().command("call setline(2, \"\\xff\")");
        review.vim().input(":wq<CR>");
        review.vim().wait_said("line 2 is not valid UTF-8");
        review.is_pending(":wq");
        review.vim().input_until("u", "getline(2) == 'b'");
        review.vim().input(":w<CR>");
        review.is_accepted("a\nb\n");
    }
}

each_vim! {
    fn without_utf_8_inside_vim_a_proposal_is_refused(version) {
        let world = World::with(version, Home::new(), &[("a.txt", "one\n")], |setup| setup.vimrc("set encoding=latin1"));
        let gemini = world.gemini();
        let error = gemini.try_propose(world.home.workspace().join("a.txt"), "two\n").unwrap_err().to_string();
        assert!(error.contains("'encoding' is latin1"), "{error}");
    }
}
