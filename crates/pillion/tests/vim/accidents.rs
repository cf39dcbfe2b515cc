//! What is left when somebody dies, and what the person's buffers show of what agents write.

use std::fs;

use pillion_agent::Update;

use crate::review::{ORIGINAL, PROPOSED, Review};

each_vim! {
    fn edits_outlive_a_companion_that_is_killed(version) {
        let review = Review::new(version);
        review.propose("\u{feff}one\r\ntwo");
        review.vim().input_until("Gomine<Esc>", "line('$') == 3 && mode() == 'n'");
        let pid: u32 = review.vim().get("pillion#Status().pid");
        review.vim().command(&format!("call system('kill -9 {pid}')"));
        review.vim().wait_said("your edits of a.txt are in buffer");
        review.vim().wait_until("no view left", "empty(getbufinfo()->filter('v:val.name =~ \"^pillion://\"'))");
        let kept: Vec<serde_json::Value> = review.vim().get(
            "getbufinfo({'buflisted': 1, 'bufmodified': 1})->map({_, info -> [getbufline(info.bufnr, 1, '$'), \
             getbufvar(info.bufnr, '&fileformat'), getbufvar(info.bufnr, '&bomb'), getbufvar(info.bufnr, '&endofline')]})",
        );
        assert_eq!(kept, [serde_json::json!([["one", "two", "mine"], "dos", 1, 0])]);
        review.vim().input(":qa<CR>");
        review.vim().wait_until("an error", "execute('messages') =~ 'E37\\|E162'");
    }
}

each_vim! {
    fn an_agent_that_goes_takes_its_view_along_and_leaves_edits(version) {
        let review = Review::new(version);
        review.propose(PROPOSED);
        review.vim().input_until("Gomine<Esc>", "line('$') == 7 && mode() == 'n'");
        review.gemini.disconnect();
        review.world.vim.wait_said("your edits of a.txt are in buffer");
        review.world.vim.wait_until("the layout of before", "tabpagenr('$') == 1 && winnr('$') == 1");
    }
}

each_vim! {
    fn an_agent_hears_when_vim_is_killed(version) {
        let mut review = Review::new(version);
        review.begin(PROPOSED);
        review.vim().kill();
        let path = review.path.display().to_string();
        assert_eq!(review.gemini.outcome(), Update::DiffRejected { path });
    }
}

each_vim! {
    fn a_newer_proposal_over_edits_is_undone_with_one_u(version) {
        let mut review = Review::new(version);
        review.propose(PROPOSED);
        review.vim().input_until("Gomine<Esc>", "line('$') == 7 && mode() == 'n'");
        review.begin_again("one\nother\n");
        review.vim().wait_said("u restores your edits");
        review.vim().input_until("u", "getline('$') == 'mine'");
        review.look();
        review.vim().input(":w<CR>");
        review.is_accepted(&format!("{PROPOSED}mine\n"));
    }
}

each_vim! {
    fn the_buffer_shows_what_the_agent_wrote(version) {
        let mut review = Review::new(version);
        review.propose(PROPOSED);
        review.vim().input(":w<CR>");
        review.is_accepted(PROPOSED);
        fs::write(&review.path, PROPOSED).unwrap();
        review.vim().wait_until("the new text", "getline(1, '$')->join(',') == 'one,2,three,four,five,six' && !&modified");
        // A modified one is left alone.
        review.vim().input_until("Gomine<Esc>", "&modified && mode() == 'n'");
        fs::write(&review.path, ORIGINAL).unwrap();
        review.vim().wait_said("changed on disk: :e! loads it");
        assert_eq!(review.vim().get::<String>("getline('$')"), "mine");
        review.vim().input("u");
        review.vim().wait_until("the text on disk", "line('$') == 5");
        review.vim().assert_no_errors();
    }
}

each_vim! {
    fn two_agents_propose_at_once(version) {
        let review = Review::new(version);
        let mut qwen = review.world.agent(pillion_protocol::Dialect::QwenCode);
        review.propose(PROPOSED);
        qwen.propose(&review.path, "other\n");
        review.vim().wait_said("proposes a.txt. :PillionDiffs shows it");
        review.vim().input(":w<CR>");
        let mut gemini = review.gemini;
        assert!(matches!(gemini.outcome(), Update::DiffAccepted { .. }));
        review.world.vim.wait_until("one view gone", "bufname() !~ '^pillion'");
        review.world.vim.input(":PillionDiffs<CR>");
        review.world.vim.wait_until("the other one", "pillion#diff#IsReady()");
        review.world.vim.input(":w<CR>");
        let path = review.path.display().to_string();
        assert_eq!(qwen.outcome(), Update::accepted(path, "other\n"));
    }
}
