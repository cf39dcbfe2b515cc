//! A newer proposal for a file whose former one the person has edited.

use pillion_testkit::{EmacsVersion, SOON, each_emacs};

use crate::world::{PROPOSED, World};

#[each_emacs]
fn edits_of_the_former_one_stay_and_the_view_says_where(version: EmacsVersion) {
    for (name, while_busy, after, kept) in [
        ("accepted", "", "", vec!["mine"]),
        ("edited again", "", "again", vec!["mine", "again"]),
        ("in a prompt", "<M-x>abc", "", vec!["mine"]),
        ("undone", "", "", vec![]),
    ] {
        let world = World::new(version);
        let mut gemini = world.gemini();
        world.propose(&gemini, PROPOSED);
        world
            .emacs
            .input_until("mine", "(string-search \"mine\" (buffer-string))");
        if kept.is_empty() {
            let is_undone = format!("(equal (buffer-string) {PROPOSED:?})");
            world.emacs.input_until("<C-/>", &is_undone);
        }
        if !while_busy.is_empty() {
            world.emacs.input_until(while_busy, "(minibufferp)");
        }
        gemini.propose(&world.path, "newer\n");
        if !while_busy.is_empty() {
            // With C-g, the system may drop what Emacs has drawn and the terminal has not read yet.
            let remark = "your edits of the former one: *Kept: a.txt*";
            world.emacs.pane().wait_for(remark, SOON);
            world.emacs.input("<C-g>");
        }
        world
            .emacs
            .wait_until("the newer one", "(equal (buffer-string) \"newer\\n\")");
        let mut last = "newer\n";
        if !after.is_empty() {
            world.look();
            world
                .emacs
                .input_until(after, &format!("(string-search {after:?} (buffer-string))"));
            gemini.propose(&world.path, "newest\n");
            world
                .emacs
                .wait_until("the newest one", "(equal (buffer-string) \"newest\\n\")");
            last = "newest\n";
        }
        let buffers = ["*Kept: a.txt*", "*Kept: a.txt*<2>"];
        if let Some(buffer) = kept
            .iter()
            .zip(buffers)
            .map(|(_, buffer)| buffer)
            .next_back()
        {
            world.emacs.wait_said(&format!(
                "your edits are in the buffer {buffer}, and undo restores them"
            ));
            world
                .emacs
                .pane()
                .wait_for(&format!("your edits of the former one: {buffer}"), SOON);
        }
        world.look();
        world.emacs.input("<C-c><C-c>");
        world.is_accepted(&mut gemini, last);
        for (text, buffer) in kept.iter().zip(buffers) {
            let found: String = world
                .emacs
                .get(&format!("(with-current-buffer {buffer:?} (buffer-string))"));
            assert!(found.contains(text), "{name}: {found}");
        }
        let count =
            "(seq-count (lambda (it) (string-prefix-p \"*Kept\" (buffer-name it))) (buffer-list))";
        assert_eq!(world.emacs.get::<usize>(count), kept.len(), "{name}");
        world.emacs.assert_no_errors();
    }
}
