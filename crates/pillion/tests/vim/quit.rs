//! Quitting while a proposal waits: Vim stays, and one sentence says why.

use pillion_testkit::client::Update;
use pillion_testkit::{SOON, VimVersion, each_vim};

use crate::review::{ORIGINAL, PROPOSED, Review};

/// The message that the person reads.
const SAID: &str = "Gemini CLI's change to a.txt is pending: :qa! rejects it";

impl Review {
    /// The keys do not quit, and the sentence is all that is on the screen about it; nobody has to press a key for it.
    #[track_caller]
    fn says_what_waits(&mut self, keys: &str) {
        self.vim().command("messages clear");
        self.vim().input(keys);
        self.vim().pane().wait_for(SAID, SOON);
        self.vim().wait_until(keys, "mode(1) == 'n'");
        let screen = self.vim().pane().screen();
        for other in ["E37", "E162", "Press ENTER", "pillion://1/tmp"] {
            assert!(!screen.contains(other), "{keys}: {screen}");
        }
        self.is_pending(keys);
        let modified = "getbufinfo()->filter('v:val.changed')->map('v:val.name')";
        assert!(
            self.vim()
                .get::<Vec<String>>(modified)
                .iter()
                .all(|name| name.ends_with("/a.txt")),
            "{keys}"
        );
    }

    /// A proposal waits while the person types in the only window there is.
    #[track_caller]
    fn waits_in_one_window(&mut self) {
        self.vim().input_until("i", "mode() == 'i'");
        self.begin_again(PROPOSED);
        self.vim()
            .pane()
            .wait_for("Gemini CLI proposes a.txt", SOON);
    }
}

#[each_vim]
fn one_sentence_says_what_waits_and_no_error(version: VimVersion) {
    let mut review = Review::with(
        version,
        "nnoremap <C-n> <Cmd>qa<CR>\ncommand Qa qa\nnnoremap ,q :qa<CR>\nfunction Quit()\nquitall\nendfunction",
    );
    review.propose(PROPOSED);
    for keys in [
        ":qa<CR>",
        ":wqa<CR>",
        ":quitall<CR>",
        ":xa<CR>",
        ":conf qa<CR>",
        ",q",
        "<C-n>",
        ":Qa<CR>",
        ":call Quit()<CR>",
    ] {
        for tab in [2, 1] {
            review.vim().command(&format!("tabnext {tab}"));
            review.says_what_waits(keys);
        }
    }
    review.vim().input(":qa!<CR>");
    assert_eq!(review.vim().wait_exit(), 0);
    assert!(matches!(
        review.gemini.outcome(),
        Update::DiffRejected { .. }
    ));
}

/// That would end Vim, and with it what was never shown.
#[each_vim]
fn the_last_window_stays_while_a_proposal_waits(version: VimVersion) {
    let mut review = Review::new(version);
    for keys in [
        ":q<CR>", "ZQ", "ZZ", ":q!<CR>", ":wq<CR>", "<C-w>q", ":qa<CR>", ":wqa<CR>",
    ] {
        review.waits_in_one_window();
        review.says_what_waits(&format!("<Esc>{keys}"));
        review
            .vim()
            .wait_until("a view", "bufname() =~ '^pillion://'");
        review.close();
        // What is typed before counts for the view that has closed.
        review
            .vim()
            .wait_until("a pause", "!exists('#PillionLeft#CmdlineLeave')");
    }
    review.waits_in_one_window();
    review.vim().input("<Esc>:qa!<CR>");
    assert_eq!(review.vim().wait_exit(), 0);
    assert!(matches!(
        review.gemini.outcome(),
        Update::DiffRejected { .. }
    ));
}

/// Vim shows the first proposal's buffer before there ever was a view.
#[each_vim]
fn the_first_proposal_keeps_vim_too(version: VimVersion) {
    for keys in ["<Esc>ZZ", "<Esc>ZQ", "<Esc><C-w>q"] {
        let mut review = Review::new(version);
        review.waits_in_one_window();
        review.says_what_waits(keys);
        review
            .vim()
            .wait_until("a view", "bufname() =~ '^pillion://'");
        review.look();
        review.vim().input(":w<CR>");
        review.is_accepted(PROPOSED);
    }
}

#[each_vim]
fn wqa_writes_what_can_be_written(version: VimVersion) {
    let mut review = Review::with(version, "set hidden");
    let other = review.world.home.file("b.txt", "b\n");
    review
        .vim()
        .input_until(":edit b.txt<CR>", "bufname() == 'b.txt'");
    review
        .vim()
        .input_until("omine<Esc>", "&modified && mode() == 'n'");
    review.propose(PROPOSED);
    review.says_what_waits(":wqa<CR>");
    review
        .vim()
        .wait_until("written", "!getbufvar('b.txt', '&modified')");
    assert_eq!(std::fs::read_to_string(other).unwrap(), "b\nmine\n");
    assert_eq!(std::fs::read_to_string(&review.path).unwrap(), ORIGINAL);
    review.vim().input(":PillionReject<CR>");
    review.is_rejected();
    review.vim().input(":qa<CR>");
    assert_eq!(review.vim().wait_exit(), 0);
}

/// Whatever is quit, nothing unsaved is taken for saved.
#[each_vim]
fn an_unsaved_buffer_keeps_vim_from_quitting(version: VimVersion) {
    let review = Review::new(version);
    review.vim().command("set hidden | call setline(1, 'mine')");
    review.vim().command("edit other.txt");
    review.vim().input(":qa<CR>");
    review
        .vim()
        .wait_until("an error", "v:errmsg =~ 'E37\\|E162'");
    assert_eq!(
        review.vim().get::<u32>("getbufvar('a.txt', '&modified')"),
        1
    );
}

#[each_vim]
fn what_is_typed_twice_neither_quits_nor_writes_below_the_proposal(version: VimVersion) {
    // Typed as soon as the view is gone: no machine is so slow that the guard is over then.
    let mut review = Review::with(
        version,
        "let [g:again, g:written] = ['', 0]\n\
         autocmd User PillionDiffClosed call feedkeys(g:again, 't')\n\
         autocmd BufWritePost * let g:written += 1",
    );
    for (first, again) in [
        (":q<CR>", ":q"),
        (":q!<CR>", ":q!"),
        (":w<CR>", ":w"),
        (":wq<CR>", ":wq"),
        (":x<CR>", ":x"),
        ("ZZ", "ZZ"),
        ("<C-w>q", "<C-W>q"),
        ("", ":q"),
        ("", "ZQ"),
    ] {
        review.begin(PROPOSED);
        review.look();
        review.vim().command("messages clear");
        let end = if again.starts_with(':') { "\\<CR>" } else { "" };
        review.vim().command(&format!(
            "let g:again = \"{}{end}\"",
            again.replace('<', "\\<")
        ));
        match first {
            "" => review.close(),
            ":q<CR>" | ":q!<CR>" | "<C-w>q" => {
                review.vim().input(first);
                review.is_rejected();
            }
            _ => {
                review.vim().input(first);
                review.is_accepted(PROPOSED);
            }
        }
        review.vim().wait_said(&format!(
            "the proposal for a.txt has just closed: {again} counts here once you pause"
        ));
        let state: (String, u32) = review.vim().get("[bufname(), g:written]");
        assert_eq!(state, ("a.txt".to_owned(), 0), "{first}");
    }
    review.vim().command("let g:again = ''");
    review
        .vim()
        .wait_until("a pause", "!exists('#PillionLeft#CmdlineLeave')");
    assert_eq!(review.vim().get::<String>("maparg('ZZ', 'n')"), "");
    review.vim().input_until(":w<CR>", "g:written == 1");
    review.vim().assert_no_errors();
    review.vim().input("ZZ");
    assert_eq!(review.vim().wait_exit(), 0);
}

/// Under the keys of who is in it, it does not make room for what is below it.
#[each_vim]
fn a_proposal_that_is_settled_elsewhere_takes_the_keys_until_a_pause(version: VimVersion) {
    let review = Review::new(version);
    let before: Vec<String> = review.vim().get("getline(1, '$')");
    review.begin(PROPOSED);
    review.look();
    let hold = "let g:held = timer_start(20, {_ -> feedkeys('j', 't')}, {'repeat': -1})";
    review.vim().command(hold);
    review.gemini.close(&review.path).unwrap();
    review.vim().pane().wait_for("settled elsewhere", SOON);
    assert_eq!(review.vim().get::<u32>("&modifiable"), 0);
    review.vim().command("call timer_stop(g:held)");
    review.wait_gone();
    let after: Vec<String> = review.vim().get("getline(1, '$')");
    assert_eq!(after, before);
    review.vim().assert_no_errors();
}

/// Nobody has seen the one that comes in place of the one that was closed.
#[each_vim]
fn what_is_typed_twice_does_not_close_the_next_proposal(version: VimVersion) {
    let mut review = Review::with(
        version,
        // As soon as Vim waits for a key there: with a timer, a busy machine gave the person time to look.
        "let g:again = ''
         func TypeAgain()
           if bufname() =~ 'pillion://.*/b.txt' && g:again != ''
             let [keys, g:again] = [g:again, '']
             call feedkeys(keys, 't')
           endif
         endfunc
         autocmd SafeState * call TypeAgain()",
    );
    let other = review.world.home.file("b.txt", "b\n");
    for (again, keys) in [(":q", ":q\\r"), ("ZQ", "ZQ"), ("<C-W>q", "\\<C-W>q")] {
        review.propose(PROPOSED);
        review.gemini.propose(&other, "B\n");
        // It takes the place of the one that closes at once, while that is fresh.
        review
            .vim()
            .pane()
            .wait_for("Gemini CLI proposes b.txt", SOON);
        review.vim().command(&format!("let g:again = \"{keys}\""));
        review.vim().input(":q<CR>");
        let path = review.path.display().to_string();
        assert_eq!(review.gemini.outcome(), Update::DiffRejected { path });
        review.vim().wait_said(&format!(
            "the proposal for b.txt has just come: {again} counts here once you pause"
        ));
        review.is_pending(again);
        review
            .vim()
            .wait_until("a pause", "!exists('#PillionLeft#CmdlineLeave')");
        review.look();
        review.vim().input(":q<CR>");
        let path = other.display().to_string();
        assert_eq!(review.gemini.outcome(), Update::DiffRejected { path });
        review.wait_gone();
    }
    review.vim().assert_no_errors();
}
