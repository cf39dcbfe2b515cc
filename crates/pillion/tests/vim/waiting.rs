//! A proposal that cannot be shown when it comes is pending all the same, says so on the screen, and opens once the
//! person is done.

use pillion_testkit::{SOON, Size, VimVersion, each_vim};

use crate::review::{ORIGINAL, PROPOSED, Review};

const SHOWN: &str = "bufname() =~ '^pillion://' && mode() == 'n'";

/// The message that stays on the screen while the person is busy.
const NOTICE: &str = "Gemini CLI proposes a.txt";

impl Review {
    /// The person is in the middle of something until the keys `end` it.
    #[track_caller]
    fn waits_for(&mut self, begin: &str, middle: &str, end: &str) {
        self.vim().input_until(begin, middle);
        let tabs: u32 = self.vim().get("tabpagenr('$')");
        self.begin_again(PROPOSED);
        self.vim().pane().wait_for(NOTICE, SOON);
        self.vim()
            .wait_until(begin, &format!("{middle} && tabpagenr('$') == {tabs}"));
        self.opens_after(end);
        assert_eq!(
            self.vim().get::<Vec<String>>("getline(1, '$')").join("\n") + "\n",
            ORIGINAL,
            "after {begin}"
        );
    }

    #[track_caller]
    fn opens_after(&mut self, end: &str) {
        self.vim().input_until(end, SHOWN);
        self.vim().wait_until(
            "that it is said",
            "join(pillion#Messages()[-2 :]) =~ 'Gemini CLI proposed a.txt meanwhile'",
        );
        let screen = self.vim().pane().screen();
        assert!(
            !screen.contains(NOTICE) || screen.contains(":w accepts"),
            "{screen}"
        );
        self.look();
        self.vim().input(":w<CR>");
        self.is_accepted(PROPOSED);
        self.vim()
            .wait_until("back", "bufname() !~ '^pillion' && mode() == 'n'");
        self.vim().assert_no_errors();
    }
}

#[each_vim]
fn it_opens_when_the_mode_ends(version: VimVersion) {
    let mut review = Review::with(version, "set laststatus=0");
    for (begin, mode, end) in [
        ("i", "i", "<Esc>"),
        ("R", "R", "<Esc>"),
        ("v", "v", "<Esc>"),
        ("<C-v>j", "\\x16", "<Esc>"),
        ("gh", "s", "<Esc>"),
        ("d", "no", "<Esc>"),
        (":echo 1", "c", "<Esc>"),
        ("/one", "c", "<Esc>"),
        (":let g:answer = input('? ')<CR>", "c", "yes<CR>"),
    ] {
        review.waits_for(begin, &format!("mode(1) == \"{mode}\""), end);
    }
    review.waits_for("qa", "reg_recording() == 'a'", "q");
    review.waits_for("qai", "reg_recording() == 'a' && mode() == 'i'", "<Esc>q");
}

#[each_vim]
fn it_opens_when_the_command_line_window_is_left(version: VimVersion) {
    let mut review = Review::new(version);
    for begin in ["q:", "q/", ":\u{6}", "/\u{6}"] {
        review.waits_for(begin, "getcmdwintype() != ''", ":q<CR><Esc>");
    }
    review.waits_for(
        "q:i",
        "getcmdwintype() != '' && mode() == 'i'",
        "<Esc>:q<CR>",
    );
}

/// The keys that Vim is fed to find out if the person is in the middle of a command change nothing in it.
#[each_vim]
fn it_opens_after_a_half_typed_command_which_does_what_it_does(version: VimVersion) {
    let mut review = Review::with(
        version,
        "nnoremap ,x :let g:mapped = 1<CR>\nset timeoutlen=100000 ttimeoutlen=5",
    );
    for (begin, end, done) in [
        ("\"", "ayy", "@a == \"one\\n\""),
        ("\"b", "yy", "@b == \"one\\n\""),
        ("2", "j", "line('.') == 3"),
        ("2\"c2", "yy", "@c =~ '^three\\nfour\\nfive\\n'"),
        ("f", "e", "line('.') == 3 && col('.') == 4"),
        ("g", "g", "line('.') == 1"),
        ("m", "q", "line(\"'q\") == 1"),
        ("z", "z", "line('.') == 1"),
        ("y", "j", "@\" == \"one\\ntwo\\n\""),
        ("yf", "e", "@\" == 'one'"),
        ("\u{17}", "w", "winnr() == 1"),
        ("'", "q", "line('.') == 1"),
        (",", "x", "get(g:, 'mapped', 0) == 1"),
    ] {
        review.vim().input(begin);
        let state = "state('moS') != '' || mode(1) == 'no'";
        review.vim().wait_until(begin, state);
        review.begin_again(PROPOSED);
        review.vim().pane().wait_for(NOTICE, SOON);
        for _ in 0..3 {
            review.vim().command("call pillion#busy#Refresh()");
        }
        review.vim().wait_until(begin, state);
        review.vim().input_until(end, done);
        review.opens_after("");
    }
}

#[each_vim]
fn it_opens_after_a_question_and_after_a_script_that_waits_for_a_key(version: VimVersion) {
    let mut review = Review::with(version, "nnoremap <C-g> <Cmd>let g:key = getcharstr()<CR>");
    for (begin, end) in [
        (":call popup_menu(['a', 'b'], {})<CR>", "<CR>"),
        (
            ":call popup_dialog('sure?', #{filter: 'popup_filter_yesno'})<CR>",
            "y",
        ),
    ] {
        review.waits_for(begin, "!empty(popup_list())", end);
    }
    review.waits_for("\u{7}", "state('S') != ''", "k");
    assert_eq!(review.vim().get::<String>("g:key"), "k");
    for (begin, end) in [
        (":echo 'a' | echo 'b'<CR>", "<CR>"),
        (":call confirm('sure?')<CR>", "o"),
    ] {
        review.vim().input_until(begin, "mode() == 'r'");
        review.begin_again(PROPOSED);
        review
            .vim()
            .wait_until("pending", "pillion#Status().pendingDiffs == 1");
        review.opens_after(end);
    }
}

#[each_vim]
fn a_terminal_that_leaves_no_room_says_what_waits(version: VimVersion) {
    let mut review = Review::with(version, "set hidden");
    for open in [
        "terminal ++curwin",
        "tab terminal",
        "call popup_create(term_start('sh', #{hidden: 1, term_finish: 'close'}), #{minwidth: 60, minheight: 10})",
    ] {
        review.vim().command(open);
        review.vim().wait_until("a terminal", "mode() == 't'");
        review.begin_again(PROPOSED);
        review
            .vim()
            .pane()
            .wait_for("proposes a.txt: CTRL-W N shows it", SOON);
        review.vim().input("echo he''llo<CR>");
        review.vim().pane().wait_for("hello", SOON);
        let (leave, back) = match open.starts_with("call") {
            true => ("exit<CR>", "mode() == 'n'"),
            false => ("<C-w>N", "&buftype == 'terminal'"),
        };
        review.vim().input_until(leave, SHOWN);
        review.look();
        review.vim().input(":w<CR>");
        review.is_accepted(PROPOSED);
        review.vim().wait_until("back", back);
        review
            .vim()
            .command("silent! tabonly! | buffer a.txt | only!");
        review
            .vim()
            .wait_until("the file", "bufname() == 'a.txt' && mode() == 'n'");
    }
}

#[each_vim]
fn no_tab_line_takes_a_row_from_a_terminal(version: VimVersion) {
    let mut review = Review::new(version);
    let in_terminal = "&buftype == 'terminal' && mode() == 't'";
    review.vim().command("botright vertical terminal ++cols=30");
    review.vim().wait_until("a terminal", in_terminal);
    let height: u32 = review.vim().get("winheight(0)");
    review.begin_again(PROPOSED);
    review.vim().wait_until(
        "beside it",
        &format!("tabpagenr('$') == 2 && {in_terminal}"),
    );
    assert_eq!(review.vim().get::<u32>("winheight(0)"), height);
    review.close();
    assert_eq!(review.vim().get::<u32>("&showtabline"), 1);
}

#[each_vim]
fn keys_that_follow_the_end_of_typing_go_where_they_went(version: VimVersion) {
    let mut review = Review::new(version);
    review.vim().input_until("Gomine", "mode() == 'i'");
    review.begin_again(PROPOSED);
    review.vim().pane().wait_for(NOTICE, SOON);
    // All of them come before a pause.
    review.vim().input("<Esc>ggxxxA!<Esc>");
    review.vim().wait_until("the proposal", SHOWN);
    assert_eq!(
        review
            .vim()
            .get::<Vec<String>>("getline(1, '$')")
            .join("\n")
            + "\n",
        PROPOSED
    );
    let typed: Vec<String> = review.vim().get("getbufline('a.txt', 1, '$')");
    assert_eq!((typed[0].as_str(), typed[5].as_str()), ("!", "mine"));
    review.vim().input(":q<CR>");
    review.is_rejected();
}

#[each_vim]
fn several_that_wait_open_one_after_the_other(version: VimVersion) {
    let mut review = Review::new(version);
    let other = review.world.home.file("b.txt", "b\n");
    review.vim().input_until("i", "mode() == 'i'");
    review.begin_again(PROPOSED);
    review.gemini.propose(&other, "B\n");
    // A newer one takes the place of the first.
    review.begin_again("newer\n");
    review
        .vim()
        .pane()
        .wait_for("proposes a.txt (1 of 2)", SOON);
    review.vim().input_until("<Esc>", SHOWN);
    assert_eq!(
        review.vim().get::<Vec<String>>("getline(1, '$')"),
        ["newer"]
    );
    review.vim().pane().wait_for("proposes b.txt", SOON);
    review.look();
    review.vim().input(":q<CR>");
    let path = review.path.display().to_string();
    assert_eq!(
        review.gemini.outcome(),
        pillion_testkit::client::Update::DiffRejected { path }
    );
    review.vim().wait_until(
        "the other one",
        "bufname() =~ 'b.txt$' && bufname() =~ '^pillion://'",
    );
}

#[each_vim]
fn one_that_its_agent_takes_back_is_never_shown(version: VimVersion) {
    let review = Review::new(version);
    for (begin, end) in [("i", "<Esc>"), ("q:", ":q<CR>"), ("qa", "q")] {
        review.vim().input_until(
            begin,
            "mode() == 'i' || getcmdwintype() != '' || reg_recording() != ''",
        );
        review.begin_again(PROPOSED);
        review.vim().pane().wait_for(NOTICE, SOON);
        assert_eq!(review.gemini.close(&review.path).unwrap(), PROPOSED);
        review.vim().input_until(
            end,
            "getcmdwintype() == '' && mode() == 'n' && reg_recording() == ''",
        );
        review.wait_gone();
        assert_eq!(review.vim().get::<u32>("tabpagenr('$')"), 1, "{begin}");
        assert!(!review.vim().pane().screen().contains(NOTICE), "{begin}");
    }
}

/// The notice says what it is, which file, and what ends it; then the keys that decide are in sight, whatever is said.
#[each_vim]
fn a_narrow_screen_has_room_for_what_waits_and_for_the_keys(version: VimVersion) {
    let long = ":echo 'a command line of more columns than there are'";
    for (begin, middle, notice, end) in [
        (
            "i",
            "mode() == 'i'",
            "proposed: a.txt: opens later",
            "<Esc>",
        ),
        (
            "q:i",
            "getcmdwintype() != '' && mode() == 'i'",
            "proposed: a.txt: opens later",
            "<Esc>:q<CR>",
        ),
        (
            long,
            "mode() == 'c'",
            "proposed: a.txt: opens later",
            "<Esc>",
        ),
        (
            ":terminal ++curwin<CR>",
            "mode() == 't'",
            "proposed: a.txt: CTRL-W N",
            "<C-w>N",
        ),
    ] {
        let mut review = Review::set_up(version, |setup| {
            setup
                .size(Size::new(40, 12))
                .vimrc("set hidden laststatus=2")
        });
        review.vim().input_until(begin, middle);
        review.begin_again(PROPOSED);
        review.vim().pane().wait_for(notice, SOON);
        review.vim().input_until(end, SHOWN);
        review
            .vim()
            .pane()
            .wait_for("Pillion: Gemini CLI proposed", SOON);
        let screen = review.vim().pane().screen();
        assert!(
            screen.contains(":w yes, :q no") && !screen.contains(notice),
            "{begin}: {screen}"
        );
        review.look();
        review.vim().input(":w<CR>");
        review.is_accepted(PROPOSED);
        assert!(
            review.vim().get::<Vec<u32>>("popup_list()").is_empty(),
            "{begin}"
        );
    }
}
