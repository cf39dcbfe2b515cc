//! What is said, and what people are told of it.

use pillion_protocol::verdict::Lines;

use super::*;

const SHOWN: &str = "one\n\n  three\nfour\n";

fn note(first: u32, last: u32, text: &str) -> Note {
    let lines = Some(Lines { first, last });
    let text = text.to_owned();
    Note::at(lines, text)
}

pub(crate) fn remark(proposer: impl Into<Proposer>, outcome: &Outcome, notes: &[Note]) -> Remark {
    Remark::new(proposer, "/a", outcome, SHOWN, true, notes).unwrap()
}

pub(crate) fn rejected(text: &str) -> Remark {
    remark(
        Dialect::ClaudeCode,
        &Outcome::Rejected,
        &[Note::on_all(text)],
    )
}

#[test]
fn a_model_reads_what_was_decided_and_which_lines_are_meant() {
    let text =
        |outcome: &Outcome, notes: &[Note]| remark(Dialect::ClaudeCode, outcome, notes).note.text;
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
    let (no, yes) = (Outcome::Rejected, Outcome::accepted("x"));
    let next = "gets your note with your next prompt, unless you select something before";
    let late = "gets your note with your next prompt but one (it adds nothing to the prompt right after a rejection), \
                unless you select something before";
    let each = "gets the beginning of your note with each prompt, until it asks for all of it or you select something";
    let until_new = "gets the beginning of your note with each prompt, until it proposes a change, it asks for all of it or \
                     you select something";
    let long = "no ".repeat(200);
    for (agent, outcome, note, expected) in [
        (Dialect::ClaudeCode, &no, "no", next),
        (Dialect::ClaudeCode, &yes, "no", next),
        (Dialect::OpenCode, &no, "no", next),
        (Dialect::OpenCode, &yes, "no", next),
        (Dialect::QwenCode, &no, "no", next),
        (Dialect::QwenCode, &yes, "no", next),
        (Dialect::GeminiCli, &no, "no", late),
        (Dialect::GeminiCli, &yes, "no", next),
        (Dialect::CopilotCli, &no, "no", next),
        (Dialect::CopilotCli, &yes, "no", next),
        (Dialect::CopilotCli, &no, &*long, until_new),
        (Dialect::CopilotCli, &yes, &*long, each),
    ] {
        let told = remark(agent, outcome, &[Note::on_all(note)]).told(false, false);
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
            "your note was sent to Codex CLI with the answer",
        ),
        (
            Proposer::For(Dialect::ClaudeCode),
            "your note was sent to Claude Code with the answer",
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
fn only_lines_that_the_file_will_have_are_mentioned() {
    let notes = [Note::on_all("all"), note(2, 3, "these")];
    let mentioned = |agent: Dialect, outcome: &Outcome| {
        let mention = remark(agent, outcome, &notes).mention();
        mention.map(|it| (it.path, it.lines))
    };
    let file = |lines| Some(("/a".to_owned(), lines));
    let (rejected, accepted) = (Outcome::Rejected, Outcome::accepted("x"));
    assert_eq!(mentioned(Dialect::ClaudeCode, &rejected), file(None));
    assert_eq!(
        mentioned(Dialect::ClaudeCode, &accepted),
        file(Some((2, 3)))
    );
    assert_eq!(mentioned(Dialect::GeminiCli, &rejected), None);
}
