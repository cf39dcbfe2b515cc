//! What the person has not saved is missing in a proposal, and is merged into it if they want that.

use serde_json::{Value, json};

use crate::diff::{ORIGINAL, Review};

const PROPOSED: &str = "one\n2\nthree\nfour\nfive\nsix\nseven\n";

fn said(text: &str) -> String {
    format!("vim.api.nvim_exec('messages', true):find('{text}', 1, true) ~= nil")
}

/// A review of a file with unsaved changes, which these keys make.
fn unsaved(version: pillion_testkit::NvimVersion, keys: &str) -> Review {
    let review = Review::with(version, "vim.o.columns = 200");
    review.type_until(
        keys,
        "vim.bo.modified and vim.api.nvim_get_mode().mode == 'n'",
    );
    review
}

each_neovim! {
    fn unsaved_changes_are_merged_into_a_proposal(version) {
        for (keys, merged) in [
            ("Gomine<Esc>", "one\n2\nthree\nfour\nfive\nsix\nseven\nmine\n"),
            ("ggOmine<Esc>6Gdd", "mine\none\n2\nthree\nfour\nsix\nseven\n"),
            ("4Gcc4<Esc>", "one\n2\nthree\n4\nfive\nsix\nseven\n"),
        ] {
            let mut review = unsaved(version, keys);
            review.propose(PROPOSED);
            review.type_until(":PillionMerge<CR>", &said("your unsaved changes are in the proposal"));
            assert_eq!(review.lines().join("\n") + "\n", merged, "{keys}");
            review.type_until("u", "not vim.bo.modified");
            assert_eq!(review.lines().join("\n") + "\n", PROPOSED, "{keys}");
            review.type_until("<C-r>", "vim.bo.modified");
            review.world.nvim.input(":w<CR>");
            review.is_accepted(merged);
        }
    }
}

each_neovim! {
    fn what_both_changed_stays_the_persons_and_is_said(version) {
        let mut review = unsaved(version, "2Gccmine<Esc>Golast<Esc>");
        review.propose(PROPOSED);
        review.type_until(":PillionMerge<CR>", &said("your own lines stand in one place"));
        let merged = format!("{}last\n", PROPOSED.replace('2', "mine"));
        assert_eq!(review.lines().join("\n") + "\n", merged);
        review.world.nvim.input(":w<CR>");
        review.is_accepted(&merged);
        let mine: Value = review.world.nvim.lua("return { vim.fn.getline(2), vim.bo.modified }", json!([]));
        assert_eq!(mine, json!(["mine", true]), "the person's own buffer");
        assert_eq!(std::fs::read_to_string(&review.path).unwrap(), ORIGINAL);
    }
}

each_neovim! {
    fn without_unsaved_changes_there_is_nothing_to_merge(version) {
        let review = Review::new(version);
        review.propose(PROPOSED);
        review.type_until(":PillionMerge<CR>", &said("your buffer has no unsaved changes"));
        assert_eq!(review.lines().join("\n") + "\n", PROPOSED);
    }
}
