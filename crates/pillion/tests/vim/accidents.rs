//! The remains when an agent or the editor dies, and how the person's buffers show what agents write.

use std::fs;

use pillion_testkit::{VimVersion, each_vim};

use crate::review::{ORIGINAL, PROPOSED, Review};

#[each_vim]
fn edits_outlive_a_companion_that_is_killed(version: VimVersion) {
    let review = Review::new(version);
    review.propose("\u{feff}one\r\ntwo");
    review
        .vim()
        .input_until("Gomine<Esc>", "line('$') == 3 && mode() == 'n'");
    let pid: u32 = review.vim().get("pillion#Status().pid");
    review
        .vim()
        .command(&format!("call system('kill -9 {pid}')"));
    review.vim().wait_said("your edits of a.txt are in buffer");
    review.vim().wait_until(
        "no view left",
        "empty(getbufinfo()->filter('v:val.name =~ \"^pillion://\"'))",
    );
    let kept: Vec<serde_json::Value> = review.vim().get(
        "getbufinfo({'buflisted': 1, 'bufmodified': 1})->map({_, info -> [getbufline(info.bufnr, 1, '$'), \
         getbufvar(info.bufnr, '&fileformat'), getbufvar(info.bufnr, '&bomb'), getbufvar(info.bufnr, '&endofline')]})",
    );
    assert_eq!(
        kept,
        [serde_json::json!([["one", "two", "mine"], "dos", 1, 0])]
    );
    review.vim().input(":qa<CR>");
    review
        .vim()
        .wait_until("an error", "execute('messages') =~ 'E37\\|E162'");
}

#[each_vim]
fn an_agent_that_goes_takes_its_view_along_and_leaves_edits(version: VimVersion) {
    let review = Review::new(version);
    review.propose(PROPOSED);
    review
        .vim()
        .input_until("Gomine<Esc>", "line('$') == 7 && mode() == 'n'");
    review.gemini.disconnect();
    review
        .world
        .vim
        .wait_said("your edits of a.txt are in buffer");
    // It goes when its person does.
    review.world.vim.input("gt");
    review.world.vim.wait_until(
        "the layout of before",
        "tabpagenr('$') == 1 && winnr('$') == 1",
    );
}

#[each_vim]
fn the_buffer_shows_what_the_agent_wrote(version: VimVersion) {
    let mut review = Review::new(version);
    review.propose(PROPOSED);
    review.vim().input(":w<CR>");
    review.is_accepted(PROPOSED);
    fs::write(&review.path, PROPOSED).unwrap();
    review.vim().wait_until(
        "the new text",
        "getline(1, '$')->join(',') == 'one,2,three,four,five,six' && !&modified",
    );
    // A modified one is left alone.
    review
        .vim()
        .input_until("Gomine<Esc>", "&modified && mode() == 'n'");
    fs::write(&review.path, ORIGINAL).unwrap();
    review.vim().wait_said("changed on disk: :e! loads it");
    assert_eq!(review.vim().get::<String>("getline('$')"), "mine");
    review.vim().input("u");
    review
        .vim()
        .wait_until("the text on disk", "line('$') == 5");
    review.vim().assert_no_errors();
}

#[each_vim]
fn a_proposal_opens_after_a_reload_that_jumps(version: VimVersion) {
    let mut review = Review::new(version);
    review.vim().command("autocmd BufReadPost * normal! g`\"");
    review.propose(PROPOSED);
    review.vim().input(":w<CR>");
    review.is_accepted(PROPOSED);
    fs::write(&review.path, PROPOSED).unwrap();
    review.vim().wait_until(
        "the new text",
        "getline(1, '$')->join(',') == 'one,2,three,four,five,six' && !&modified",
    );
    review.propose(ORIGINAL);
}

/// An agent that writes UTF-8 changes what was Latin-1, and the other way round.
#[each_vim]
fn a_file_in_another_encoding_is_read_in_it(version: VimVersion) {
    for vimrc in ["set noautoread", "set autoread"] {
        for (before, encoding, after, text) in [
            (
                &b"h\xe4\xdf\n"[..],
                "latin1",
                "häß und mehr\n".as_bytes(),
                "häß und mehr",
            ),
            (
                "häß\n".as_bytes(),
                "utf-8",
                &b"h\xe4\xdf und mehr\n"[..],
                "häß und mehr",
            ),
            (
                &b"\xff\xfeh\0\xe4\0\n\0"[..],
                "utf-16le",
                "hä!\n".as_bytes(),
                "hä!",
            ),
        ] {
            let review = Review::with(
                version,
                &format!("{vimrc} fileencodings=ucs-bom,utf-8,latin1"),
            );
            fs::write(&review.path, before).unwrap();
            review.vim().command("edit!");
            review
                .vim()
                .wait_until("the encoding", &format!("&fileencoding == '{encoding}'"));
            review.gemini.propose(&review.path, &format!("{text}\n"));
            review
                .vim()
                .wait_until("a view", "bufname() =~ '^pillion://'");
            if encoding != "utf-8" {
                review
                    .vim()
                    .pane()
                    .wait_for(&format!("{encoding} → utf-8"), pillion_testkit::SOON);
            }
            review.look();
            review.vim().input(":w<CR>");
            review.wait_gone();
            fs::write(&review.path, after).unwrap();
            review
                .vim()
                .wait_until(text, &format!("getline(1) ==# '{text}' && !&modified"));
            assert_eq!(
                review.vim().get::<u8>("&g:autoread"),
                u8::from(vimrc == "set autoread")
            );
        }
    }
}
