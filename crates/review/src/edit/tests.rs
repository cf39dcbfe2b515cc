//! The editor is a real command here, and never a shell.

use std::convert::Infallible;

use crossbeam_channel::{Receiver, unbounded};

use super::*;

fn session(path: &str, text: &str) -> (Session, Receiver<Infallible>) {
    let (unfinished, finished) = unbounded();
    let session = Session::new(Path::new(path), text.to_owned(), unfinished);
    (session.unwrap(), finished)
}

/// Runs a script as the editor.
fn run(session: &Session, script: &str) -> (io::Result<ExitStatus>, Edit) {
    let editor = format!("sh -c '{script}' editor");
    let command = EditorCommand::new(None, Some(editor.into())).unwrap();
    let mut child = session.draft.start(&command, 1).unwrap();
    (child.wait(), session.draft.read())
}

fn outcome(before: &str, script: &str) -> Edit {
    let (mut session, _) = session("/w/src/app.ts", before);
    let (status, edit) = run(&session, script);
    session.finish(status, edit)
}

fn text(edit: Edit) -> String {
    match edit {
        Edit::Text(text) => text,
        other => panic!("{other:?}"),
    }
}

fn failed(edit: Edit) -> String {
    match edit {
        Edit::Failed(reason) | Edit::Kept(reason) => reason,
        other => panic!("{other:?}"),
    }
}

#[test]
fn the_edited_text_comes_back_byte_for_byte() {
    let edited = outcome("a\r\nb", r#"printf "A\r\nb\0\n\n" > "$1""#);
    assert_eq!(text(edited), "A\r\nb\0\n\n");
    assert!(matches!(outcome("a", "true"), Edit::Unchanged));
    assert_eq!(text(outcome("a\n", r#": > "$1""#)), "");
}

#[test]
fn a_newline_that_the_editor_added_is_not_an_edit() {
    assert!(matches!(outcome("a", r#"echo >> "$1""#), Edit::Unchanged));
    assert!(matches!(outcome("", r#"echo >> "$1""#), Edit::Unchanged));
    assert_eq!(text(outcome("a\nb", r#"printf "A\nb\n" > "$1""#)), "A\nb");
    assert_eq!(text(outcome("a\nb", r#"printf "a\nB\n" > "$1""#)), "a\nB\n");
    assert_eq!(text(outcome("a\n", r#"echo >> "$1""#)), "a\n\n");
}

#[test]
fn an_editor_that_fails_changes_nothing_and_loses_nothing() {
    let reason = failed(outcome("a", "exit 3"));
    assert!(reason.ends_with("the proposal is unchanged"), "{reason}");
    let reason = failed(outcome("a", r#"echo b > "$1"; exit 3"#));
    let (_, place) = reason.split_once("kept in ").unwrap();
    assert_eq!(fs::read_to_string(place).unwrap(), "b\n");
    fs::remove_dir_all(Path::new(place).parent().unwrap()).unwrap();
}

#[test]
fn a_text_whose_proposal_was_replaced_comes_with_what_it_was_made_of() {
    let finish = |script: &str| {
        let (mut session, _) = session("/w/a.txt", "first\n");
        let (status, edit) = run(&session, script);
        session.finish_for(status, edit, Err(Stale::Replaced))
    };
    assert!(matches!(finish("true"), Edit::Late { text: None, .. }));
    let Edit::Late { base, text } = finish(r#"echo mine > "$1""#) else {
        panic!("it was replaced");
    };
    assert_eq!(
        (base.as_str(), text.as_deref()),
        ("first\n", Some("mine\n"))
    );
    let reason = failed(finish(r#"echo mine > "$1"; exit 1"#));
    let (_, place) = reason.split_once("your text is kept in ").unwrap();
    assert_eq!(fs::read_to_string(place).unwrap(), "mine\n");
    fs::remove_dir_all(Path::new(place).parent().unwrap()).unwrap();
}

#[test]
fn no_text_is_said_to_be_kept_that_is_not_there() {
    for now in [Ok(()), Err(Stale::Replaced), Err(Stale::NotPending)] {
        for script in [r#"rm "$1""#, r#"rm "$1"; exit 1"#, r#"mv "$1" "$1.old""#] {
            let (mut session, _) = session("/w/a.txt", "first\n");
            let folder = session.draft.file.parent().unwrap().to_owned();
            let (status, edit) = run(&session, script);
            let edit = session.finish_for(status, edit, now);
            let Edit::Lost(reason) = edit else {
                panic!("{edit:?}");
            };
            assert!(!reason.contains("is kept"), "{reason}");
            assert!(reason.contains("No such file"), "{reason}");
            // An editor may have left another file there.
            assert!(folder.is_dir());
            fs::remove_dir_all(folder).unwrap();
        }
    }
}

/// Ends a session without a word, and answers what is in its file then.
fn dropped(script: &str, settle: Option<&str>) -> Option<Vec<u8>> {
    let (mut session, finished) = session("/w/a.txt", "first\n");
    let _ = run(&session, script);
    if let Some(text) = settle {
        session.settle(text.to_owned());
    }
    let file = session.draft.file.clone();
    drop(session);
    assert!(finished.recv().is_err());
    let left = fs::read(&file).ok();
    let folder = file.parent().unwrap();
    assert_eq!(folder.exists(), left.is_some());
    let _ = fs::remove_dir_all(folder);
    left
}

#[test]
fn no_file_goes_that_has_a_text_which_is_nowhere_else() {
    let mine = Some(b"mine\n".to_vec());
    assert_eq!(dropped("true", None), None);
    assert_eq!(dropped(r#"echo mine > "$1""#, None), mine);
    assert_eq!(dropped(r#"echo mine > "$1"; exit 1"#, None), mine);
    assert_eq!(dropped(r#"echo mine > "$1""#, Some("mine\n")), None);
    assert_eq!(dropped(r#"echo mine > "$1""#, Some("former\n")), mine);
    let renamed = r#"echo mine > "$1.new"; mv "$1.new" "$1""#;
    assert_eq!(dropped(renamed, None), mine);
    let latin1 = dropped(r#"printf "caf\351\n" > "$1""#, None);
    assert_eq!(latin1, Some(b"caf\xe9\n".to_vec()));
}

#[test]
fn what_a_killed_editor_left_beside_the_text_stays() {
    let (session, finished) = session("/w/a.txt", "first\n");
    let _ = run(
        &session,
        r#"touch "$(dirname "$1")/.a.txt.swp"; kill -9 $$"#,
    );
    let folder = session.draft.file.parent().unwrap().to_owned();
    drop(session);
    assert!(finished.recv().is_err());
    assert!(folder.join(".a.txt.swp").exists());
    fs::remove_dir_all(folder).unwrap();
}

#[test]
fn each_save_is_noticed_once_and_so_is_going_back() {
    let (session, _) = session("/w/a.txt", "first\n");
    let mut saves = Saves::of(session.draft());
    let mut saved = |script: &str| {
        let _ = run(&session, script);
        let next = saves.next();
        assert!(saves.next().is_none(), "nothing was saved since");
        next
    };
    assert!(saved("true").is_none());
    assert_eq!(text(saved(r#"echo mine > "$1""#).unwrap()), "mine\n");
    let renamed = r#"echo more of it > "$1.new"; mv "$1.new" "$1""#;
    assert_eq!(text(saved(renamed).unwrap()), "more of it\n");
    assert!(saved(r#"printf "caf\351" > "$1""#).is_none());
    assert!(saved(r#"rm "$1""#).is_none());
    let back = saved(r#"echo first > "$1""#);
    assert!(matches!(back, Some(Edit::Unchanged)), "{back:?}");
}

#[test]
fn a_text_that_is_not_utf8_is_kept_aside() {
    let reason = failed(outcome("a", r#"printf "\377" > "$1""#));
    assert!(reason.starts_with("the edited text is not UTF-8: your text is kept in "));
    let (_, place) = reason.split_once("kept in ").unwrap();
    fs::remove_dir_all(Path::new(place).parent().unwrap()).unwrap();
}

#[test]
fn the_command_is_visual_then_editor_then_vi() {
    let words = |visual: &str, editor: &str| {
        let command = EditorCommand::new(Some(visual.into()), Some(editor.into())).unwrap();
        let arguments = command.arguments(Path::new("a"), 1);
        let arguments = arguments
            .iter()
            .map(|word| word.to_str().unwrap().to_owned());
        [command.program().to_owned()]
            .into_iter()
            .chain(arguments)
            .collect::<Vec<_>>()
    };
    assert_eq!(words("nano -x", "code"), ["nano", "-x", "+1", "a"]);
    assert_eq!(words(" ", "'my editor' -n"), ["my editor", "-n", "a"]);
    assert!(EditorCommand::new(None, None).is_ok());
    let error = EditorCommand::new(Some("'".into()), None).unwrap_err();
    assert!(error.starts_with("$VISUAL"), "{error}");
    let (session, _) = session("/w/a", "");
    let missing = EditorCommand::new(Some("no-such-editor-here".into()), None).unwrap();
    let error = session.draft.start(&missing, 1).unwrap_err();
    assert!(
        error.starts_with("cannot start no-such-editor-here: "),
        "{error}"
    );
}

#[test]
fn the_copy_is_named_like_the_file_unless_that_does_harm() {
    let name = |path: &str| kept_text::file_name(Path::new(path));
    assert_eq!(name("/w/src/[id].tsx"), "[id].tsx");
    assert_eq!(name("/w/漢字.rs"), "漢字.rs");
    assert_eq!(name("/w/.exrc"), "proposal.exrc");
    assert_eq!(name("/w/-c quit"), "proposal-c quit");
    assert_eq!(name("/w/a\nb"), "proposal.txt");
    assert_eq!(name("/w/%:p|!sh"), "proposal.txt");
}

#[test]
#[cfg(unix)]
fn the_copy_is_private() {
    use std::os::unix::fs::PermissionsExt;
    let (session, finished) = session("/w/a.ts", "secret");
    let mode = |path: &Path| fs::metadata(path).unwrap().permissions().mode() & 0o777;
    let folder = session.draft.file.parent().unwrap().to_owned();
    assert_eq!(mode(&session.draft.file), 0o600);
    assert_eq!(mode(&folder), 0o700);
    drop(session);
    assert!(finished.recv().is_err());
    assert!(!folder.exists());
}

#[test]
fn the_persons_own_file_is_opened_and_left_alone() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("a.txt");
    fs::write(&file, "one\n").unwrap();
    let (unfinished, _all_done) = crossbeam_channel::bounded(0);
    let mut session = Session::of_file(file.clone(), unfinished);
    assert!(matches!(session.draft().read(), Edit::File(false)));
    fs::write(&file, "two and more\n").unwrap();
    let edit = session.draft().read();
    assert!(matches!(edit, Edit::File(true)), "{edit:?}");
    let edit = session.finish_for(Ok(ExitStatus::default()), edit, Ok(()));
    assert!(matches!(edit, Edit::File(true)), "{edit:?}");
    drop(session);
    assert_eq!(fs::read_to_string(&file).unwrap(), "two and more\n");
}
