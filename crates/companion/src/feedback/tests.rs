//! The delivery of notes and edits.

use super::*;

const SHOWN: &str = "one\n\n  three\nfour\n";

fn note(first: u32, last: u32, text: &str) -> Note {
    let lines = Some(Lines { first, last });
    let text = text.to_owned();
    Note { lines, text }
}

fn remark(proposer: impl Into<Proposer>, outcome: &Outcome, notes: &[Note]) -> Remark {
    Remark::new(proposer, "/a", outcome, SHOWN, true, notes).unwrap()
}

fn rejected(text: &str) -> Remark {
    remark(
        Dialect::ClaudeCode,
        &Outcome::Rejected,
        &[Note::on_all(text)],
    )
}

fn context(selected: Option<&str>) -> Arc<IdeContext> {
    let file = File {
        selected_text: selected.map(str::to_owned),
        ..File::focused("/b", 7)
    };
    Arc::new(IdeContext::for_agents(vec![file], None))
}

fn session(name: &str) -> SessionId {
    name.into()
}

#[test]
fn a_model_reads_what_was_decided_and_which_lines_are_meant() {
    let text = |outcome: &Outcome, notes: &[Note]| remark(Dialect::ClaudeCode, outcome, notes).text;
    assert_eq!(
        text(&Outcome::Rejected, &[Note::on_all("use the\ntable")]),
        "The user rejected your change to /a and says: use the\ntable"
    );
    assert_eq!(
        text(&Outcome::accepted("x"), &[note(2, 2, "why?")]),
        "The user accepted your change to /a and says:\n- line 3 (`three`): why?"
    );
    assert_eq!(
        Remark::new(
            Dialect::ClaudeCode,
            "/a",
            &Outcome::Rejected,
            SHOWN,
            true,
            &[]
        ),
        None
    );
}

#[test]
fn a_person_is_always_told_whether_the_agent_gets_it() {
    let gets = |remark: &Remark| remark.told(false, false).clipboard.is_none();
    let notes = [Note::on_all("no")];
    for agent in [Dialect::ClaudeCode, Dialect::GeminiCli, Dialect::QwenCode] {
        let told = remark(agent, &Outcome::Rejected, &notes).told(false, false);
        assert!(told.message.starts_with(agent.display_name()), "{told:?}");
        let is_late = agent == Dialect::GeminiCli;
        assert_eq!(told.message.contains("but one"), is_late, "{told:?}");
        let told = remark(agent, &Outcome::accepted("x"), &notes).told(false, false);
        assert!(!told.message.contains("but one"), "{told:?}");
        assert_eq!(told.clipboard, None);
    }
    let printed = remark(Proposer::Pillion, &Outcome::Rejected, &notes);
    assert!(gets(&printed) && !printed.is_taken(true));
    // No context names a file that is not there, but Claude Code reads a selection anyway.
    let claudes = Remark::new(
        Dialect::ClaudeCode,
        "/a",
        &Outcome::Rejected,
        "",
        false,
        &notes,
    );
    let claudes = claudes.unwrap();
    assert!(gets(&claudes) && claudes.mention().is_none());
    let new = |outcome| Remark::new(Dialect::GeminiCli, "/a", &outcome, "", false, &notes).unwrap();
    assert!(gets(&new(Outcome::accepted("x"))));
    let told = new(Outcome::Rejected).told(false, false);
    assert!(told.message.contains("clipboard") && told.clipboard.unwrap().ends_with(": no"));
    // Nor is a note cut by the agent, which only hooks carry then.
    let long = rejected(&"é".repeat(MAX_TEXT));
    assert!(!gets(&long) && !long.is_taken(false) && long.mention().is_none());
    assert!(long.told(true, false).clipboard.is_none() && long.is_taken(true));
}

#[test]
fn a_person_is_told_by_which_way_each_agent_gets_it() {
    let notes = [Note::on_all("no")];
    let (no, yes) = (Outcome::Rejected, Outcome::accepted("x"));
    let next = "gets your note with your next prompt, unless you select something before";
    let late = "gets your note with your next prompt but one (it adds nothing to the prompt right after a rejection), \
                unless you select something before";
    let each = "gets your note with each prompt, until you select something";
    let until_new =
        "gets your note with each prompt, until it proposes a change or you select something";
    for (agent, outcome, expected) in [
        (Dialect::ClaudeCode, &no, next),
        (Dialect::ClaudeCode, &yes, next),
        (Dialect::OpenCode, &no, next),
        (Dialect::OpenCode, &yes, next),
        (Dialect::QwenCode, &no, next),
        (Dialect::QwenCode, &yes, next),
        (Dialect::GeminiCli, &no, late),
        (Dialect::GeminiCli, &yes, next),
        (Dialect::CopilotCli, &no, until_new),
        (Dialect::CopilotCli, &yes, each),
    ] {
        let told = remark(agent, outcome, &notes).told(false, false);
        let expected = format!("{} {expected}", agent.display_name());
        assert_eq!(told.message, expected, "{outcome:?}");
    }
}

#[test]
fn of_a_program_the_agent_is_named_whose_hook_it_is() {
    let notes = [Note::on_all("why?")];
    for (proposer, expected) in [
        (
            Proposer::Pillion,
            "your note is printed by the command that proposed the change",
        ),
        (
            Proposer::For(Dialect::CodexCli),
            "Codex CLI gets your note from its hook",
        ),
        (
            Proposer::For(Dialect::ClaudeCode),
            "Claude Code gets your note from its hook",
        ),
    ] {
        for outcome in [Outcome::Rejected, Outcome::accepted("x")] {
            let remark = remark(proposer, &outcome, &notes);
            assert_eq!(remark.told(true, false).message, expected);
            // All else is as for any command.
            assert!(!remark.is_taken(false) && remark.mention().is_none());
        }
    }
}

#[test]
fn where_hooks_are_run_the_model_reads_it_once_the_file_is_written() {
    let notes = [Note::on_all("and the tests?")];
    let accepted = remark(Dialect::ClaudeCode, &Outcome::accepted("x"), &notes);
    let when = "when it has written the file";
    assert!(accepted.told(true, false).message.ends_with(when));
    assert!(!accepted.told(false, false).message.ends_with(when));
    let with_prompt = "Claude Code gets your note with your next prompt";
    assert_eq!(rejected("no").told(true, false).message, with_prompt);
    let or_sent = format!("{with_prompt}, or when you send it");
    assert_eq!(rejected("no").told(true, true).message, or_sent);
    assert!(rejected("no").told_now().message.ends_with("and goes on"));

    let (mut feedback, mine) = (Feedback::default(), session("mine"));
    assert_eq!(feedback.take(&mine), None);
    feedback.add_for_hook(&mine, accepted);
    feedback.add_for_hook(&mine, rejected("no"));
    let selected = context(Some("x"));
    assert_eq!(
        feedback.with_context(&mine, Arc::clone(&selected)),
        selected
    );
    assert!(!feedback.turn_begins(&mine), "no prompt carries them");
    let told = feedback.take(&mine).unwrap();
    assert_eq!(
        told,
        "The user accepted your change to /a and says: and the tests?\n\
         The user rejected your change to /a and says: no"
    );
    assert_eq!(feedback.take(&mine), None);
    assert_eq!(feedback.with_context(&mine, context(None)), context(None));
}

#[test]
fn a_model_reads_what_was_edited_before_the_notes() {
    let (mut feedback, mine) = (Feedback::default(), session("mine"));
    feedback.add_edits(&mine, "/a", "one\ntwo\n", "one\nzwei\n");
    let edited = "The user edited your change to /a before accepting it. From what you proposed to what was accepted:\n\
                  @@ -1,2 +1,2 @@\n one\n-two\n+zwei\n";
    assert_eq!(feedback.take(&mine).as_deref(), Some(edited));
    assert_eq!(feedback.take(&mine), None);
    feedback.add(&mine, rejected("no"), &context(None));
    feedback.add_edits(&mine, "/a", "one\ntwo\n", "one\nzwei\n");
    let told = feedback.take(&mine).unwrap();
    assert!(
        told.starts_with(edited) && told.ends_with("says: no"),
        "{told}"
    );
    // Of another turn, it would be a surprise.
    feedback.add_edits(&mine, "/a", "one\n", "eins\n");
    feedback.turn_begins(&mine);
    assert_eq!(feedback.take(&mine), None);
    // Notes go with the prompt, what was edited does not.
    feedback.add_edits(&mine, "/a", "one\n", "eins\n");
    feedback.add_for_hook(&mine, rejected("no"));
    let told = feedback.take_notes(&mine).unwrap().text();
    assert!(told.starts_with("The user rejected"), "{told}");
    assert_eq!(feedback.take_notes(&mine), None);
}

#[test]
fn only_lines_that_the_file_will_have_are_mentioned() {
    let notes = [Note::on_all("all"), note(2, 3, "these")];
    let claude = |outcome: &Outcome| remark(Dialect::ClaudeCode, outcome, &notes);
    assert_eq!(claude(&Outcome::Rejected).mention(), Some(("/a", None)));
    let accepted = claude(&Outcome::accepted("x"));
    assert_eq!(accepted.mention(), Some(("/a", Some((2, 3)))));
    assert_eq!(
        remark(Dialect::GeminiCli, &Outcome::Rejected, &notes).mention(),
        None
    );
}

#[test]
fn notes_take_the_place_of_the_selection_until_the_next_prompt() {
    let (mut feedback, mine) = (Feedback::default(), session("mine"));
    let before = context(Some("sel"));
    feedback.add(&mine, rejected("first"), &before);
    let shown = feedback.with_context(&mine, Arc::clone(&before));
    let file = shown.active_file().unwrap();
    assert_eq!(file.path, "/a");
    assert_eq!(
        file.selected_text.as_deref(),
        Some("The user rejected your change to /a and says: first")
    );
    let paths: Vec<&str> = shown
        .files()
        .iter()
        .map(|file| file.path.as_str())
        .collect();
    assert_eq!(paths, ["/a", "/b"]);
    // Another session's agent has nothing to do with it.
    assert_eq!(
        feedback.with_context(&session("other"), Arc::clone(&before)),
        before
    );

    // Moving about, and a second note.
    let nothing = context(None);
    feedback.add(&mine, rejected("second"), &nothing);
    let shown = feedback.with_context(&mine, Arc::clone(&nothing));
    let text = shown.active_file().unwrap().selected_text.clone().unwrap();
    assert!(
        text.contains("first\nThe user") && text.ends_with("second"),
        "{text}"
    );

    assert!(feedback.turn_begins(&mine));
    assert!(!feedback.turn_begins(&mine));
    assert_eq!(feedback.with_context(&mine, Arc::clone(&nothing)), nothing);
}

#[test]
fn what_the_person_selects_afterwards_takes_their_place() {
    for (before, after, is_kept) in [
        (None, None, true),
        (None, Some("x"), false),
        (Some("x"), None, true),
        (Some("x"), Some("x"), true),
        (Some("x"), Some("y"), false),
    ] {
        let (mut feedback, mine) = (Feedback::default(), session("mine"));
        feedback.add(&mine, rejected("no"), &context(before));
        let now = context(after);
        let shown = feedback.with_context(&mine, Arc::clone(&now));
        assert_eq!(shown != now, is_kept, "{before:?} {after:?}");
        // For good.
        let later = feedback.with_context(&mine, context(None));
        assert_eq!(later != context(None), is_kept, "{before:?} {after:?}");
    }
}

#[test]
fn the_newest_notes_stay_where_there_is_no_room_for_all() {
    let (mut feedback, mine) = (Feedback::default(), session("mine"));
    for number in 0..10 {
        let text = format!("{number}{}", "x".repeat(MAX_TEXT / 4));
        feedback.add(&mine, rejected(&text), &context(None));
    }
    let shown = feedback.with_context(&mine, context(None));
    let text = shown.active_file().unwrap().selected_text.clone().unwrap();
    assert!(text.chars().count() <= MAX_TEXT);
    assert!(text.contains("says: 9x") && text.contains("says: 8x") && !text.contains("says: 1x"));
}

/// A rejection ends the turn, so what comes after it was asked for with a prompt; an accepted change may be followed by
/// another one of the same turn.
#[test]
fn a_proposal_after_a_rejection_takes_the_notes_away_and_one_after_an_acceptance_does_not() {
    let (agent, session) = (Dialect::CopilotCli, session("s"));
    let notes = [Note::on_all("no")];
    let accepted = || remark(agent, &Outcome::accepted("x"), &notes);
    let rejected = || remark(agent, &Outcome::Rejected, &notes);
    for (remarks, goes) in [
        (vec![accepted()], false),
        (vec![rejected()], true),
        (vec![accepted(), rejected()], true),
        (vec![], false),
    ] {
        let mut feedback = Feedback::default();
        for remark in remarks {
            feedback.add(&session, remark, &context(None));
        }
        assert_eq!(feedback.proposes(&session), goes);
        assert!(!goes || feedback.take(&session).is_none());
    }
    for (remark, until) in [(rejected(), "proposes a change"), (accepted(), "until you")] {
        let told = remark.told(false, false);
        assert!(
            told.message.contains(until) && told.clipboard.is_none(),
            "{told:?}"
        );
    }
}

#[test]
fn notes_that_did_not_get_through_come_before_later_ones() {
    let (mut feedback, mine) = (Feedback::default(), session("mine"));
    assert!(!feedback.waits(&mine));
    feedback.add_for_hook(&mine, rejected("first"));
    let notes = feedback.take_notes(&mine).unwrap();
    assert!(!feedback.waits(&mine));
    feedback.add_for_hook(&mine, rejected("second"));
    feedback.put_back(&mine, notes);
    let text = feedback.take_notes(&mine).unwrap().text();
    let first = text.find("says: first").unwrap();
    assert!(first < text.find("says: second").unwrap(), "{text}");
    // Also where nothing came later.
    feedback.add_for_hook(&mine, rejected("third"));
    let notes = feedback.take_notes(&mine).unwrap();
    feedback.put_back(&mine, notes);
    assert!(feedback.waits(&mine) && !feedback.turn_begins(&mine));
    assert!(feedback.take(&mine).unwrap().ends_with("says: third"));
}
