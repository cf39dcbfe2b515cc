//! Proposals for files of which the person has a buffer with changes that are not saved.

use std::fs;

use pillion_testkit::{EmacsVersion, SOON, each_emacs};

use crate::world::{ORIGINAL, PROPOSED, World};

/// Has this in the person's buffer, as if typed a while ago.
fn write_unsaved(world: &World, code: &str) {
    world.emacs.eval(&format!(
        "(with-current-buffer \"a.txt\" (save-excursion (goto-char (point-min)) {code}))"
    ));
}

/// The text of the person's buffer, and whether it has changes that are not saved.
fn buffer(world: &World) -> (String, bool) {
    world.emacs.get(
        "(with-current-buffer \"a.txt\" (list (buffer-string) (if (buffer-modified-p) t :json-false)))",
    )
}

#[each_emacs]
fn unsaved_changes_are_merged_in_and_nothing_is_lost_when_the_agent_writes(version: EmacsVersion) {
    let mine = "(insert \"mine\\n\")";
    let two = "(search-forward \"two\") (replace-match \"zwei\")";
    for (original, proposed, code, merged, said) in [
        (
            ORIGINAL,
            PROPOSED,
            mine,
            format!("mine\n{PROPOSED}"),
            "merged with your unsaved changes; undo",
        ),
        (
            ORIGINAL,
            PROPOSED,
            two,
            PROPOSED.replace("\n2\n", "\nzwei\n"),
            "1 place that both changed has your lines alone",
        ),
        (
            "one\r\ntwo\r\n",
            "one\r\ntwo\r\nthree\r\n",
            mine,
            "mine\r\none\r\ntwo\r\nthree\r\n".to_owned(),
            "merged with your unsaved changes; undo",
        ),
    ] {
        let world = World::new(version);
        let mut gemini = world.gemini();
        fs::write(&world.path, original).unwrap();
        world.emacs.eval("(revert-buffer t t)");
        write_unsaved(&world, code);
        world.propose(&gemini, proposed);
        world
            .emacs
            .pane()
            .wait_for("unsaved changes: C-c RET merges", SOON);
        let text = format!("{:?}", merged.replace('\r', ""));
        world
            .emacs
            .input_until("<C-c><RET>", &format!("(equal (buffer-string) {text})"));
        world.emacs.wait_said(said);
        world
            .emacs
            .pane()
            .wait_for("has your unsaved changes", SOON);
        world.look();
        world.emacs.input("<C-c><C-c>");
        world.is_accepted(&mut gemini, &merged);
        assert!(buffer(&world).1, "nothing is written yet");
        fs::write(&world.path, &merged).unwrap();
        world.emacs.wait_until("what was written", &format!("(with-current-buffer \"a.txt\" (and (equal (buffer-string) {text}) (not (buffer-modified-p))))"));
        world.emacs.assert_no_errors();
    }
}

#[each_emacs]
fn unsaved_changes_that_are_not_in_what_is_written_stay(version: EmacsVersion) {
    for (keys, after, written) in [
        // Taken back, changed, or written otherwise by the agent.
        ("<C-/>", PROPOSED.to_owned(), PROPOSED.to_owned()),
        ("<M-lt><C-k><C-k>", PROPOSED.to_owned(), PROPOSED.to_owned()),
        ("", format!("mine\n{PROPOSED}"), PROPOSED.to_owned()),
    ] {
        let world = World::new(version);
        let mut gemini = world.gemini();
        write_unsaved(&world, "(insert \"mine\\n\")");
        world.propose(&gemini, PROPOSED);
        world
            .emacs
            .input_until("<C-c><RET>", "(string-prefix-p \"mine\" (buffer-string))");
        world
            .emacs
            .input_until(keys, &format!("(equal (buffer-string) {after:?})"));
        world.look();
        world.emacs.input("<C-c><C-c>");
        world.is_accepted(&mut gemini, &after);
        fs::write(&world.path, &written).unwrap();
        world
            .emacs
            .wait_said("changed on disk, and you have unsaved changes");
        assert_eq!(
            buffer(&world),
            (format!("mine\n{ORIGINAL}"), true),
            "{keys}"
        );
        world.emacs.assert_no_errors();
    }
}

#[each_emacs]
fn where_nothing_is_unsaved_nothing_is_merged(version: EmacsVersion) {
    let world = World::new(version);
    let gemini = world.gemini();
    world.propose(&gemini, PROPOSED);
    world.emacs.input("<C-c><RET>");
    world.emacs.wait_said("there is nothing to merge with");
    assert_eq!(world.emacs.get::<String>("(buffer-string)"), PROPOSED);
}
