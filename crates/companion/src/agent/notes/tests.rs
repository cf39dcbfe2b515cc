//! The delivery of notes and edits.

use pillion_protocol::{Dialect, Note, Outcome};

use super::*;
use crate::remark::MAX_TEXT;
use crate::remark::tests::{rejected, remark};

fn context(selected: Option<&str>) -> Arc<IdeContext> {
    let file = File {
        selected_text: selected.map(str::to_owned),
        ..File::focused("/b", 7)
    };
    Arc::new(IdeContext::for_agents(vec![file], None))
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
    assert!(
        rejected("no")
            .told_now()
            .message
            .ends_with("with the answer")
    );

    let mut waiting = Notes::default();
    assert_eq!(waiting.take(), None);
    waiting.add_for_hook(accepted);
    waiting.add_for_hook(rejected("no"));
    let selected = context(Some("x"));
    assert_eq!(waiting.with_context(Arc::clone(&selected)), selected);
    assert!(!waiting.turn_begins(), "no prompt carries them");
    let told = waiting.take().unwrap();
    assert_eq!(
        told,
        "The user accepted your change to /a and says: and the tests?\n\
         The user rejected your change to /a and says: no"
    );
    assert_eq!(waiting.take(), None);
    assert_eq!(waiting.with_context(context(None)), context(None));
}

#[test]
fn a_model_reads_what_was_edited_before_the_notes() {
    let mut waiting = Notes::default();
    waiting.add_edits("/a", "one\ntwo\n", "one\nzwei\n");
    let edited = "The user edited your change to /a before accepting it. From what you proposed to what was accepted:\n\
                  @@ -1,2 +1,2 @@\n one\n-two\n+zwei\n";
    assert_eq!(waiting.take().as_deref(), Some(edited));
    assert_eq!(waiting.take(), None);
    waiting.add(rejected("no"), &context(None), Instant::now());
    waiting.add_edits("/a", "one\ntwo\n", "one\nzwei\n");
    let told = waiting.take().unwrap();
    assert!(
        told.starts_with(edited) && told.ends_with("says: no"),
        "{told}"
    );
    // Of another turn, it would be a surprise.
    waiting.add_edits("/a", "one\n", "eins\n");
    waiting.turn_begins();
    assert_eq!(waiting.take(), None);
    // Notes go with the prompt, what was edited does not.
    waiting.add_edits("/a", "one\n", "eins\n");
    waiting.add_for_hook(rejected("no"));
    let told = waiting.take_remarks().map(|it| text(&it)).unwrap();
    assert!(told.starts_with("The user rejected"), "{told}");
    assert_eq!(waiting.take_remarks(), None);
}

#[test]
fn notes_take_the_place_of_the_selection_until_the_next_prompt() {
    let mut waiting = Notes::default();
    let before = context(Some("sel"));
    waiting.add(rejected("first"), &before, Instant::now());
    let shown = waiting.with_context(Arc::clone(&before));
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

    // Moving about, and a second note.
    let nothing = context(None);
    waiting.add(rejected("second"), &nothing, Instant::now());
    let shown = waiting.with_context(Arc::clone(&nothing));
    let text = shown.active_file().unwrap().selected_text.clone().unwrap();
    assert!(
        text.contains("first\nThe user") && text.ends_with("second"),
        "{text}"
    );

    assert!(waiting.turn_begins());
    assert!(!waiting.turn_begins());
    assert_eq!(waiting.with_context(Arc::clone(&nothing)), nothing);
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
        let mut waiting = Notes::default();
        waiting.add(rejected("no"), &context(before), Instant::now());
        let now = context(after);
        let shown = waiting.with_context(Arc::clone(&now));
        assert_eq!(shown != now, is_kept, "{before:?} {after:?}");
        // For good.
        let later = waiting.with_context(context(None));
        assert_eq!(later != context(None), is_kept, "{before:?} {after:?}");
    }
}

/// The newest are shown first, and the others once the agent has those.
#[test]
fn notes_for_which_there_is_no_room_wait_for_the_prompt_after() {
    let note = |number: usize| rejected(&format!("{number}{}", "x".repeat(MAX_TEXT / 4)));
    let mut waiting = Notes::default();
    for number in 0..5 {
        let displaced = if number < 3 { 0 } else { number - 2 };
        assert_eq!(waiting.displaced_by(&note(number)), displaced, "{number}");
        waiting.add(note(number), &context(None), Instant::now());
    }
    let mut told = Vec::new();
    while waiting.wait() {
        let shown = waiting.with_context(context(None));
        let text = shown.active_file().unwrap().selected_text.clone().unwrap();
        assert!(text.chars().count() <= MAX_TEXT);
        told.push(
            (0..5)
                .filter(|it| text.contains(&format!("says: {it}x")))
                .collect::<Vec<_>>(),
        );
        assert!(waiting.turn_begins());
    }
    assert_eq!(told, [vec![2, 3, 4], vec![0, 1]]);
    assert_eq!(waiting.take_told().len(), 5);
}

/// It asks for what is selected, and is given all of it.
#[test]
fn an_agent_that_asks_for_the_selection_has_all_notes() {
    let mut waiting = Notes::default();
    for text in ["first", "second"] {
        let text = text.repeat(MAX_TEXT / 8);
        waiting.add(rejected(&text), &context(None), Instant::now());
    }
    let text = |context: Arc<IdeContext>| {
        let file = context.active_file().unwrap();
        file.selected_text.clone().unwrap_or_default()
    };
    let shown = text(waiting.with_context(context(None)));
    assert!(!shown.contains("first") && shown.contains("second"));
    let read = text(waiting.read(context(None)));
    assert!(read.contains("first") && read.contains("second"));
    assert_eq!((waiting.wait(), waiting.take_told().len()), (false, 2));
    assert_eq!(text(waiting.read(context(Some("mine")))), "mine");
    // What a hook is to take is not in place of the selection.
    waiting.add_for_hook(rejected("no"));
    assert_eq!(text(waiting.read(context(None))), "");
    assert!(waiting.wait());
}

/// A rejection ends the turn, so what comes after it was asked for with a prompt; an accepted change may be followed by
/// another one of the same turn, unless nothing was heard of the agent for long.
#[test]
fn what_an_agent_does_in_its_next_turn_takes_the_notes_away() {
    let agent = Dialect::CopilotCli;
    let notes = [Note::on_all("no")];
    let accepted = || remark(agent, &Outcome::accepted("x"), &notes);
    let rejected = || remark(agent, &Outcome::Rejected, &notes);
    let now = Instant::now();
    let moment = Duration::from_millis(1);
    for (remarks, signs, goes) in [
        (vec![accepted()], &[now, now + SILENCE - moment][..], false),
        (vec![accepted()], &[now + SILENCE], true),
        (
            vec![accepted()],
            &[now + SILENCE - moment, now + SILENCE * 2 - moment * 2],
            false,
        ),
        (vec![rejected()], &[now], true),
        (vec![accepted(), rejected()], &[now], true),
        (vec![rejected(), accepted()], &[now], true),
        (vec![], &[now + SILENCE], false),
    ] {
        let mut waiting = Notes::default();
        for remark in remarks {
            waiting.add(remark, &context(None), now);
        }
        let last = signs.iter().map(|sign| waiting.works(*sign)).last();
        assert_eq!(last, Some(goes));
        assert!(!goes || waiting.take().is_none());
    }
    let long = [Note::on_all("x".repeat(500))];
    let all = "it asks for all of it or you select something";
    let next = "your note with your next prompt, unless you select something before";
    let beginning = "the beginning of your note with each prompt, until";
    for (remark, expected) in [
        (rejected(), next.to_owned()),
        (accepted(), next.to_owned()),
        (
            remark(agent, &Outcome::Rejected, &long),
            format!("{beginning} it proposes a change, {all}"),
        ),
        (
            remark(agent, &Outcome::accepted("x"), &long),
            format!("{beginning} {all}"),
        ),
    ] {
        let told = remark.told(false, false);
        let expected = format!("Copilot CLI gets {expected}");
        assert_eq!((told.message, told.clipboard), (expected, None));
        assert_eq!(remark.mention(), None);
    }
}

/// Its record says what was selected in its prompts. Of what it cuts there, its model has the beginning, and may ask for the rest.
#[test]
fn what_an_agent_has_sent_with_a_prompt_goes_away_once() {
    let note = |text: &str| {
        remark(
            Dialect::CopilotCli,
            &Outcome::Rejected,
            &[Note::on_all(text)],
        )
    };
    let long = "x".repeat(500);
    let sent = |texts: &[&str]| {
        let texts = texts.iter().map(|it| note(it).text().to_owned());
        texts.map(Recorded::Selected).collect::<Vec<_>>()
    };
    let both = ["one", "two"].map(|it| note(it).text().to_owned());
    for (waits, selections, left) in [
        (&["one", "two"][..], vec![], 2),
        (&["one", "two"], sent(&["three", "one more"]), 2),
        (&["one", "two"], sent(&["one"]), 1),
        (
            &["one", "two"],
            vec![Recorded::Selected(both.join("\n"))],
            0,
        ),
        (&["one", "two"], sent(&["two", "one"]), 0),
        (&[&*long], sent(&[&long]), 1),
    ] {
        let mut waiting = Notes::default();
        for text in waits {
            waiting.add(note(text), &context(None), Instant::now());
        }
        let mut are_sent = || {
            let told = selections.iter().filter(|it| waiting.recorded(it));
            told.count() > 0
        };
        assert_eq!(are_sent(), left < waits.len());
        assert!(!are_sent(), "once");
        assert_eq!(waiting.unread().count(), left, "{waits:?} {selections:?}");
        assert_eq!(waiting.take_told().len(), waits.len() - left);
    }
}

/// Its record says only that a prompt was sent: what it was shown then it has once its model has answered.
#[test]
fn what_an_agent_was_shown_when_a_prompt_was_sent_it_has_once_that_is_answered() {
    use Recorded::{Answer, Prompt};
    let note = |text: &str| {
        let remark = remark(Dialect::QwenCode, &Outcome::Rejected, &[Note::on_all(text)]);
        remark.named(text.to_owned())
    };
    let mut waiting = Notes::default();
    waiting.add(note("one"), &context(None), Instant::now());
    assert!(!waiting.recorded(&Answer), "of the prompt before");
    assert!(!waiting.recorded(&Prompt));
    waiting.add(note("two"), &context(None), Instant::now());
    assert_eq!(waiting.unread().count(), 2);
    assert!(waiting.recorded(&Answer));
    let unread: Vec<_> = waiting.unread().map(|it| it.name().to_owned()).collect();
    assert_eq!(
        (unread, waiting.take_told()),
        (vec!["two".to_owned()], vec!["one".to_owned()])
    );
    assert!(!waiting.recorded(&Answer), "once");
}

#[test]
fn notes_that_did_not_get_through_come_before_later_ones() {
    let mut waiting = Notes::default();
    assert!(!waiting.wait());
    waiting.add_for_hook(rejected("first"));
    let notes = waiting.take_remarks().unwrap();
    assert!(!waiting.wait());
    waiting.add_for_hook(rejected("second"));
    waiting.put_back(notes);
    let text = waiting.take_remarks().map(|it| text(&it)).unwrap();
    let first = text.find("says: first").unwrap();
    assert!(first < text.find("says: second").unwrap(), "{text}");
    // Also where nothing came later.
    waiting.add_for_hook(rejected("third"));
    let notes = waiting.take_remarks().unwrap();
    waiting.put_back(notes);
    assert!(waiting.wait() && !waiting.turn_begins());
    assert!(waiting.take().unwrap().ends_with("says: third"));
}

#[test]
fn what_a_hook_has_got_waits_again_until_the_agent_goes_on() {
    let mut notes = Notes::default();
    notes.add_for_hook(rejected("first"));
    let first = notes.hand().unwrap();
    assert!(notes.wait() && notes.hand().is_none() && notes.take_told().is_empty());
    notes.add_for_hook(rejected("second"));
    notes.is_prompted_again();
    let both = notes.hand().unwrap();
    assert!(both.starts_with(&first) && both.ends_with("says: second"));
    notes.add_answered(&"s".into(), rejected("third"));
    assert_eq!(notes.unread().count(), 3);
    notes.goes_on();
    assert_eq!((notes.take_told().len(), notes.wait()), (3, false));
    notes.is_prompted_again();
    assert_eq!(notes.hand(), None);
    // Whoever is to pass them on gets what a hook has got, too.
    notes.add_answered(&"s".into(), rejected("fourth"));
    assert!(notes.are_for_hook());
    assert!(
        notes
            .take_remarks()
            .map(|it| text(&it))
            .unwrap()
            .ends_with("fourth")
    );
    assert!(!notes.wait());
}
