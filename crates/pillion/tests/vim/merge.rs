//! Proposals for files of which the person has a buffer with changes that are not saved.

use std::fs;

use pillion_testkit::{SOON, VimVersion, each_vim};

use crate::review::{ORIGINAL, PROPOSED, Review};

#[each_vim]
fn unsaved_changes_are_merged_in_and_nothing_is_lost_when_the_agent_writes(version: VimVersion) {
    for (original, proposed, keys, merged, said) in [
        (
            ORIGINAL,
            PROPOSED,
            "ggOmine<Esc>",
            format!("mine\n{PROPOSED}"),
            "merged with your unsaved changes; u takes it back",
        ),
        (
            ORIGINAL,
            PROPOSED,
            "2GSzwei<Esc>",
            PROPOSED.replace("\n2\n", "\nzwei\n"),
            "merged, but 1 place that both changed: there your lines stay",
        ),
        (
            "one\r\ntwo\r\n",
            "one\r\ntwo\r\nthree\r\n",
            "ggOmine<Esc>",
            "mine\r\none\r\ntwo\r\nthree\r\n".to_owned(),
            "merged with your unsaved changes",
        ),
    ] {
        let mut review = Review::new(version);
        fs::write(&review.path, original).unwrap();
        review.vim().command("edit!");
        review.vim().input_until(keys, "&modified && mode() == 'n'");
        review.propose(proposed);
        review
            .vim()
            .pane()
            .wait_for("your buffer, unsaved: :PillionMerge merges", SOON);
        review
            .vim()
            .pane()
            .wait_for("unsaved lines not in it", SOON);
        let wanted = format!(
            "join(getline(1, '$'), ',') == '{}'",
            merged.replace('\r', "").trim_end().replace('\n', ",")
        );
        review.vim().input_until(":PillionMerge<CR>", &wanted);
        review.vim().wait_said(said);
        review
            .vim()
            .pane()
            .wait_for("has your unsaved changes", SOON);
        review.vim().input_until("u", &format!("!({wanted})"));
        review.vim().input_until("\u{12}", &wanted);
        review.look();
        review.vim().input(":w<CR>");
        review.is_accepted(&merged);
        assert!(
            review.vim().get::<bool>("&modified ? v:true : v:false"),
            "nothing is written yet"
        );
        fs::write(&review.path, &merged).unwrap();
        review
            .vim()
            .wait_until("what was written", &format!("{wanted} && !&modified"));
        review.vim().assert_no_errors();
    }
}

#[each_vim]
fn unsaved_changes_that_are_not_in_what_is_written_stay(version: VimVersion) {
    for (keys, after, written) in [
        // Taken back, changed, or written otherwise by the agent.
        ("u", PROPOSED.to_owned(), PROPOSED.to_owned()),
        ("ggdd", PROPOSED.to_owned(), PROPOSED.to_owned()),
        ("", format!("mine\n{PROPOSED}"), PROPOSED.to_owned()),
    ] {
        let mut review = Review::new(version);
        review
            .vim()
            .input_until("ggOmine<Esc>", "&modified && mode() == 'n'");
        review.propose(PROPOSED);
        review
            .vim()
            .input_until(":PillionMerge<CR>", "getline(1) == 'mine'");
        let wanted = format!(
            "join(getline(1, '$'), ',') == '{}'",
            after.trim_end().replace('\n', ",")
        );
        review.vim().input_until(keys, &wanted);
        review.look();
        review.vim().input(":w<CR>");
        review.is_accepted(&after);
        fs::write(&review.path, &written).unwrap();
        review
            .vim()
            .wait_said("changed on disk: :e! loads it, :w! keeps yours");
        let text: Vec<String> = review.vim().get("getline(1, '$')");
        assert_eq!(
            text.join("\n") + "\n",
            format!("mine\n{ORIGINAL}"),
            "{keys}"
        );
    }
}

#[each_vim]
fn where_nothing_is_unsaved_nothing_is_merged(version: VimVersion) {
    let review = Review::new(version);
    review.propose(PROPOSED);
    review.vim().input(":PillionMerge<CR>");
    review.vim().wait_said("there is nothing to merge with");
    assert_eq!(
        review
            .vim()
            .get::<Vec<String>>("getline(1, '$')")
            .join("\n")
            + "\n",
        PROPOSED
    );
}

/// The person is in a proposal, which has a tab page of its own.
#[each_vim]
fn a_file_that_changes_on_disk_is_read_in_another_tab_page(version: VimVersion) {
    let review = Review::new(version);
    let other = review.world.home.file("b.txt", "b\n");
    review.gemini.propose(&other, "B\n");
    review.look();
    fs::write(&review.path, format!("theirs\n{ORIGINAL}")).unwrap();
    let text = "join(getbufline('a.txt', 1, '$'), ',')";
    review.vim().wait_until(
        "the text",
        &format!("{text} == 'theirs,one,two,three,four,five'"),
    );
    review.vim().assert_no_errors();
}
