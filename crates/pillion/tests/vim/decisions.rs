//! The actions that accept and those that reject, and that nothing else does.

use pillion_testkit::{VimVersion, each_vim};

use crate::review::{ORIGINAL, PROPOSED, Review};

#[each_vim]
fn what_is_typed_accepts_the_text_as_edited(version: VimVersion) {
    let mut review = Review::with(
        version,
        "command! -bar W write\nnnoremap ,w :w<CR>\nnnoremap ,c <Cmd>w<CR>\nnmap ,p <Plug>(pillion-accept)\n",
    );
    let edited = format!("{PROPOSED}mine\n");
    for keys in [
        ":w<CR>",
        ":wq<CR>",
        ":x<CR>",
        "ZZ",
        ":up<CR>",
        ":silent w<CR>",
        ":W<CR>",
        ",w",
        ",c",
        ",p",
        ":PillionAccept<CR>",
    ] {
        review.propose(PROPOSED);
        review
            .vim()
            .input_until("Gomine<Esc>", "line('$') == 7 && mode() == 'n'");
        review.vim().input(keys);
        review.is_accepted(&edited);
    }
    assert_eq!(
        review
            .vim()
            .get::<Vec<String>>("getline(1, '$')")
            .join("\n")
            + "\n",
        ORIGINAL
    );
    review.vim().assert_no_errors();
}

#[each_vim]
fn what_closes_the_proposal_rejects_it(version: VimVersion) {
    let mut review = Review::new(version);
    for keys in [
        ":q<CR>",
        "ZQ",
        ":tabclose<CR>",
        "<C-w>c",
        ":bdelete<CR>",
        ":bwipe<CR>",
        ":PillionReject<CR>",
        ":1tabnext | tabonly<CR>",
    ] {
        // What is typed for the one before closes nothing.
        review.propose(PROPOSED);
        review.vim().input(keys);
        review.is_rejected();
    }
    review.vim().assert_no_errors();
}

#[each_vim]
fn no_write_but_a_typed_one_accepts(version: VimVersion) {
    let mut review = Review::with(
        version,
        "set hidden autowriteall\nfunction Save()\nsilent! write\nendfunction\nnnoremap ,f :call Save()<CR>\n",
    );
    for keys in [
        ":wall<CR>",
        ":wqa<CR>",
        ":xa<CR>",
        ":qa<CR>",
        ":noautocmd w<CR>",
        ":1,2w<CR>",
        ":w >> x<CR>",
        ":saveas x<CR>",
        ":file x<CR>",
        ",f",
        ":call timer_start(1, {-> execute('silent! write')})<CR>",
        ":call timer_start(1, {-> execute(\"normal :w\\r\")})<CR>",
        ":call timer_start(1, {-> feedkeys('ZZ', 'xt')})<CR>",
        ":doautocmd CursorHold<CR>",
        ":bufdo w<CR>",
        ":windo w<CR>",
        ":tabdo silent! w<CR>",
        ":bufdo PillionAccept<CR>",
        ":silent windo PillionAccept<CR>",
        ":g/./PillionAccept<CR>",
    ] {
        // Some of them go elsewhere.
        if !review.is_in_view() {
            review.propose(PROPOSED);
        }
        review.vim().input(keys);
        review.vim().pane().wait_read();
        // It ends after what the keys put off.
        review
            .vim()
            .command("let g:ended = 0 | call timer_start(5, {-> execute('let g:ended = 1')})");
        review.vim().wait_until("a timer", "g:ended");
        review.is_pending(keys);
        // A message may wait for Enter.
        review.vim().input("<Esc>");
        review.vim().wait_until("normal mode", "mode(1) == 'n'");
        if !review.is_in_view() {
            review.close();
            review.vim().command("silent! tabonly | silent! only");
        }
    }
}

#[each_vim]
fn an_autosave_accepts_nothing_and_reports_that_once(version: VimVersion) {
    let mut review = Review::with(
        version,
        "set updatetime=50\nautocmd CursorHold,TextChanged,InsertLeave,BufLeave * ++nested silent! update\n",
    );
    review.propose(PROPOSED);
    review.vim().input("Gomine<Esc>");
    review.vim().wait_said("autosave");
    review.vim().input("gtgt");
    review.is_pending("an autosave");
    let said: usize = review
        .vim()
        .get("execute('messages')->split('autosave')->len()");
    assert_eq!(said, 2);
    review
        .vim()
        .wait_until("the proposal again", "bufname() =~ '^pillion://'");
    review.vim().input(":w<CR>");
    review.is_accepted(&format!("{PROPOSED}mine\n"));
}

#[each_vim]
fn a_command_that_was_not_carried_out_accepts_nothing(version: VimVersion) {
    let mut review = Review::with(version, "autocmd TextChanged * ++nested silent! update\n");
    review.propose(PROPOSED);
    review.vim().input(":w<Esc>x:up<Esc>x");
    review.is_pending("a command that was given up");
    review.vim().input(":w<CR>");
    review.is_accepted("one\n\nthree\nfour\nfive\nsix\n");
}

#[each_vim]
fn an_edited_proposal_is_not_quit_by_accident(version: VimVersion) {
    for vimrc in ["set hidden", "set nohidden"] {
        let mut review = Review::with(version, vimrc);
        review.propose(PROPOSED);
        review.vim().input("Gomine<Esc>:q<CR>");
        review.is_pending(":q");
        review
            .vim()
            .wait_until("an error", "execute('messages') =~ 'E37'");
        review.vim().input("<CR>:q!<CR>");
        review.is_rejected();
    }
}

/// Both agents ignore an empty text, and write their own proposal.
#[each_vim]
fn an_emptied_proposal_is_accepted_only_when_asked_twice(version: VimVersion) {
    let mut review = Review::new(version);
    review.propose(PROPOSED);
    review.vim().input("ggdG:w<CR>");
    review
        .vim()
        .wait_said("Gemini CLI ignores an empty text and writes its own");
    review.is_pending("one :w");
    std::thread::sleep(pillion_view::LOOK);
    review.vim().input(":w<CR>");
    review.is_accepted("");
}

#[each_vim]
fn hunk_by_hunk_it_becomes_what_it_was(version: VimVersion) {
    for layout in ["vertical", "unified"] {
        let mut review = Review::with(version, &format!("let g:pillion_diff_layout = '{layout}'"));
        review.propose(PROPOSED);
        review.vim().input(":PillionDropHunk<CR>");
        review
            .vim()
            .wait_until("the old line", "getline(2) == 'two'");
        review.vim().input(":PillionTakeHunk<CR>");
        review.vim().wait_until("the new line", "getline(2) == '2'");
        review
            .vim()
            .input(":PillionNextHunk<CR>:PillionDropHunk<CR>");
        review.vim().wait_until("no new line", "line('$') == 5");
        review.vim().input(":w<CR>");
        review.is_accepted("one\n2\nthree\nfour\nfive\n");
    }
}

#[each_vim]
fn the_unified_layout_shows_what_is_removed(version: VimVersion) {
    let mut review = Review::with(version, "let g:pillion_diff_layout = 'unified'");
    review.propose("2\nthree\nfour\n");
    let screen = review.vim().pane().screen();
    for line in ["one", "two", "five", "2", "_ four"] {
        assert!(
            screen
                .lines()
                .any(|row| row.trim_start_matches(['~', '_', '+']).trim()
                    == line.trim_start_matches("_ ")),
            "{line}\n{screen}"
        );
    }
    review.vim().input(":w<CR>");
    review.is_accepted("2\nthree\nfour\n");
    assert_eq!(review.vim().get::<usize>("len(prop_list(1))"), 0);
}
