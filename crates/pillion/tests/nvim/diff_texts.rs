//! Texts come back byte for byte through Neovim's buffers (C5.5, C5.6).

use pillion_agent::Update;
use pillion_testkit::Home;

use crate::diff::Review;
use crate::shared_texts::{assert_same, texts};
use crate::world::World;

each_neovim! {
    fn texts_are_accepted_byte_for_byte(version) {
        let world = World::with(version, Home::new(), &[("a.txt", "one\n")], |setup| {
            // What people have for their files must not touch a proposal.
            setup.init(
                "vim.o.fixendofline = true vim.o.fileformats = 'mac,dos,unix' vim.o.textwidth = 20
                 vim.cmd [[autocmd BufWritePre * %s/\\s\\+$//e]]",
            )
        });
        let mut gemini = world.gemini();
        for (number, (name, text)) in texts().iter().enumerate() {
            let path = world.home.workspace().join(format!("{number}.txt"));
            gemini.propose(&path, text);
            world.look();
            world.nvim.input(":w<CR>");
            let Update::DiffAccepted { content, .. } = gemini.outcome() else {
                panic!("{name}: not accepted")
            };
            assert_same(&content, text, name, "accepted");
            assert!(!path.exists(), "{name}: nothing is written (C5.9)");
        }
    }
}

each_neovim! {
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

each_neovim! {
    fn what_the_person_sets_counts(version) {
        let mut review = Review::new(version);
        for (keys, text) in [
            (":set fileformat=dos<CR>", "a\r\nb\r\n"),
            (":set noendofline<CR>", "a\nb"),
            (":set bomb<CR>", "\u{feff}a\nb\n"),
            ("ggdG:w<CR>", ""),
            ("ggdGax<Esc>", "x\n"),
            ("Gdd", "a\n"),
        ] {
            review.propose("a\nb\n");
            review.world.nvim.input(&format!("{keys}:w<CR>"));
            review.is_accepted(text);
        }
    }
}

each_neovim! {
    fn bytes_that_cannot_be_sent_are_not_accepted_and_not_lost(version) {
        let mut review = Review::new(version);
        review.propose("a\nb\n");
        review.world.nvim.command("call setline(2, \"\\xff\")");
        review.type_until(":wq<CR>", "vim.api.nvim_exec('messages', true):find('line 2 is not valid UTF%-8') ~= nil");
        review.type_until("u", "vim.fn.getline(2) == 'b'");
        review.world.nvim.input(":w<CR>");
        review.is_accepted("a\nb\n");
    }
}
