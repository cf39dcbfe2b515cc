//! The plugin's messages, which must stop nobody: Vim must never ask for Enter for it.

use pillion_testkit::{SOON, Size, VimVersion, each_vim};

use crate::review::Review;

/// All that is on the screen, without blanks: wherever a line ends, the words are there.
fn words_on(screen: &str) -> String {
    screen.split_whitespace().collect()
}

/// True if a message is above the command line.
const SHOWN: &str =
    "indexof(popup_list(), {_, id -> getwinvar(id, 'pillion_message', v:false)}) >= 0";

/// A text of a hundred lines, and one that deletes most of it; if `is_unseen`, what is left has a change at its end.
fn long_texts(is_unseen: bool) -> (String, String) {
    let lines = |last: usize| {
        (2..=last)
            .map(|line| format!("line {line}\n"))
            .collect::<String>()
    };
    let before = format!("first\n{}", lines(100));
    match is_unseen {
        true => (before, format!("changed\n{}the end\n", lines(40))),
        false => (before, "first\n".to_owned()),
    }
}

/// Asks for changes that are doubted for one, two and four reasons.
fn ask_everywhere(version: VimVersion, columns: u16, shortmess: &str) {
    let vimrc = "set diffopt+=context:9999";
    let review = Review::set_up(version, |setup| {
        setup.vimrc(vimrc).size(Size::new(columns, 24))
    });
    // Not before: what Vim itself says of the file would ask for Enter.
    review.vim().command(&format!("set shortmess={shortmess}"));
    for (name, doubts) in [
        ("long.txt", &["lines are deleted"][..]),
        (
            "../long.txt",
            &["lines are deleted", "outside of the workspace"],
        ),
        (
            "../.envrc",
            &[
                "not been on the screen",
                "lines are deleted",
                "your shell runs",
                "outside of the workspace",
            ],
        ),
    ] {
        let what = format!("{name} at {columns}, shortmess {shortmess:?}");
        let (before, after) = long_texts(doubts.len() == 4);
        let path = review.world.home.workspace().join(name);
        std::fs::write(&path, before).unwrap();
        let path = path.canonicalize().unwrap();
        review.gemini.propose(&path, &after);
        review
            .vim()
            .wait_until("a view", "bufname() =~ '^pillion://'");
        review.look();
        review.vim().input("gg:w<CR>");
        for doubt in doubts {
            review.vim().wait_said(doubt);
        }
        let said: Vec<String> = review.vim().get("pillion#Messages()");
        let all = words_on(said.last().unwrap().split_once(' ').unwrap().1);
        review
            .vim()
            .pane()
            .wait_until("all of the message", SOON, |screen| {
                words_on(screen).contains(&all)
            });
        assert_eq!(review.vim().get::<String>("mode()"), "n", "{what}");
        review.vim().wait_until(
            "it in the log",
            "split(execute('messages'))->join() =~# 'accept again to go ahead'",
        );
        // The next key does what it does, and takes the message away.
        review.vim().input_until("x", "&modified");
        review.vim().wait_until(&what, &format!("!({SHOWN})"));
        // The message goes with the diff, too.
        review.vim().input_until("u", "!&modified");
        review.vim().input(":w<CR>");
        review.gemini.close(&path).unwrap();
        review.wait_gone();
        review.vim().wait_until(&what, &format!("!({SHOWN})"));
        assert_eq!(review.vim().get::<String>("mode()"), "n", "{what}");
    }
    review.vim().assert_no_errors();
}

#[each_vim]
fn no_question_asks_for_a_key_however_narrow_the_screen(version: VimVersion) {
    for (columns, shortmess) in [(80, ""), (60, "filnxtToOS"), (40, "a")] {
        ask_everywhere(version, columns, shortmess);
    }
}

/// Vim may take what came between two commands for output of the second, and ask for Enter after it.
#[each_vim]
fn the_next_command_asks_for_no_key_after_a_message(version: VimVersion) {
    for columns in [120, 60, 40] {
        let review = Review::set_up(version, |setup| setup.size(Size::new(columns, 24)));
        let vim = review.vim();
        vim.command("set shortmess=a");
        for round in 1..=8 {
            vim.input(":PillionSendNotes<CR>");
            vim.pane().wait_until("the answer", SOON, |screen| {
                words_on(screen).contains("nonotesarewaitingforanagent")
            });
            vim.input_until(
                &format!(":let g:typed = {round}<CR>"),
                &format!("get(g:, 'typed') == {round}"),
            );
            let mode: String = vim.get("mode()");
            assert_eq!(mode, "n", "{columns}, {round}: {}", vim.describe());
            vim.wait_until(
                "it in the log",
                &format!("execute('messages')->split()->join()->count('no notes are waiting for an agent') == {round}"),
            );
        }
        vim.assert_no_errors();
    }
}
