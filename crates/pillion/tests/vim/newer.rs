//! A person's edits of a proposal outlive a newer one.

use std::thread::sleep;

use pillion_testkit::{SOON, VimVersion, each_vim};
use pillion_view::LOOK;

use crate::review::{PROPOSED, Review};

const NEWER: &str = "one\nzwei\nthree\nfour\nfive\n";

impl Review {
    /// The text of the buffer that the last message names, and its number.
    fn kept(&self) -> (u32, String) {
        let number: u32 = self.vim().get(
            "matchstr(join(pillion#Messages()), '.*your edits are in buffer \\zs\\d\\+')->str2nr()",
        );
        let lines: Vec<String> = self.vim().get(&format!("getbufline({number}, 1, '$')"));
        (number, lines.join("\n") + "\n")
    }
}

#[each_vim]
fn edits_stay_in_a_buffer_that_is_named(version: VimVersion) {
    for (keys, edited, newer) in [
        // Beside what the newer one changes, in the same place, and while the person types.
        ("Gomine<Esc>", format!("{PROPOSED}mine\n"), NEWER),
        ("2GSdeux<Esc>", PROPOSED.replace("\n2\n", "\ndeux\n"), NEWER),
        ("ggOmine", format!("mine\n{PROPOSED}"), "quite another\n"),
    ] {
        let mut review = Review::new(version);
        review.propose(PROPOSED);
        review.vim().input_until(
            keys,
            &format!(
                "join(getline(1, '$'), ',') == '{}'",
                edited.trim_end().replace('\n', ",")
            ),
        );
        review.begin_again(newer);
        review.vim().wait_until(
            "the newer one",
            &format!(
                "join(getline(1, '$'), ',') == '{}'",
                newer.trim_end().replace('\n', ",")
            ),
        );
        review.vim().input_until("<Esc>", "mode() == 'n'");
        review
            .vim()
            .wait_said("Gemini CLI revised a.txt; your edits are in buffer");
        let (number, kept) = review.kept();
        assert_eq!(kept, edited, "{keys}");
        review
            .vim()
            .pane()
            .wait_for(&format!("your edits: buffer {number}"), SOON);
        review.vim().input_until(
            "u",
            &format!(
                "join(getline(1, '$'), ',') == '{}'",
                edited.trim_end().replace('\n', ",")
            ),
        );
        review
            .vim()
            .input_until("\u{12}", &format!("line('$') == {}", newer.lines().count()));
        // Accepting the newer one takes nothing along.
        review.look();
        sleep(LOOK);
        review.vim().input(":w<CR>");
        review
            .vim()
            .wait_until("the view gone", "bufname() == 'a.txt'");
        let path = review.path.display().to_string();
        assert_eq!(
            review.gemini.outcome(),
            pillion_testkit::client::Update::accepted(path, newer)
        );
        let name = review.world.home.root().join("saved.txt");
        review.vim().input_until(
            &format!(":buffer {number}<CR>:w! {}<CR>", name.display()),
            &format!("bufnr() == {number} && filereadable('{}')", name.display()),
        );
        assert_eq!(std::fs::read_to_string(name).unwrap(), edited);
        review.vim().assert_no_errors();
    }
}

#[each_vim]
fn each_newer_one_leaves_its_own_and_none_what_was_not_edited(version: VimVersion) {
    let mut review = Review::new(version);
    review.propose(PROPOSED);
    review.begin_again(NEWER);
    review.vim().wait_said("Gemini CLI revised a.txt");
    let kept =
        "getbufinfo()->filter('v:val.name =~ \"^pillion-kept\"')->map('v:val.bufnr')->sort('n')";
    assert!(review.vim().get::<Vec<u32>>(kept).is_empty());
    for (mine, newer) in [("first", PROPOSED), ("second", NEWER)] {
        review.look();
        review.vim().input_until(
            &format!("Go{mine}<Esc>"),
            &format!("getline('$') == '{mine}' && mode() == 'n'"),
        );
        review.begin_again(newer);
        review
            .vim()
            .wait_until("the newer one", &format!("getline('$') != '{mine}'"));
    }
    review
        .vim()
        .wait_until("both", &format!("len({kept}) == 2"));
    let texts: Vec<String> = review
        .vim()
        .get(&format!("{kept}->map('getbufline(v:val, \"$\")[0]')"));
    assert_eq!(texts, ["first", "second"]);
    // Vim quits without a question, as after an edited proposal was closed.
    review.look();
    review.vim().input(":q<CR>");
    let path = review.path.display().to_string();
    assert_eq!(
        review.gemini.outcome(),
        pillion_testkit::client::Update::DiffRejected { path }
    );
    review
        .vim()
        .wait_until("the view gone", "bufname() == 'a.txt'");
    review
        .vim()
        .wait_until("a pause", "!exists('#PillionLeft#CmdlineLeave')");
    review.vim().input(":qa<CR>");
    assert_eq!(review.vim().wait_exit(), 0);
}

/// `:PillionMerge` puts other lines in place of those that were far down.
#[each_vim]
fn a_merge_shows_nothing(version: VimVersion) {
    for keys in ["ggOmine<Esc>", "Gomine<Esc>", ":60d<CR>"] {
        let mut review = Review::with(version, "set diffopt+=context:9999");
        let lines = |mark: &str| {
            (1..=120)
                .map(|at| format!("{at}{}\n", if at == 100 { mark } else { "" }))
                .collect::<String>()
        };
        std::fs::write(&review.path, lines("")).unwrap();
        review.vim().command("edit!");
        review.vim().input_until(keys, "&modified && mode() == 'n'");
        // The first change is on the screen, the other one is not.
        let proposed = lines("!").replacen("3\n", "3!\n", 1);
        review.propose(&proposed);
        review.vim().input(":PillionMerge<CR>");
        review.vim().wait_said("merged with your unsaved changes");
        sleep(LOOK);
        review.vim().input(":w<CR>");
        review.vim().wait_said("not been on the screen");
        review.is_pending(keys);
    }
}
