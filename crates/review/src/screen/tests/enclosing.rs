//! The function in which a hunk lies is on the screen, although its beginning is not.

use super::*;

#[test]
fn a_fold_and_the_line_below_name_what_the_hunk_lies_in() {
    let body = |at: usize| {
        (0..30)
            .map(|line| format!("    call({at}, {line});\n"))
            .collect::<String>()
    };
    let functions = (0..3).map(|at| format!("fn number_{at}() {{\n{}}}\n\n", body(at)));
    let before: String = functions.collect();
    let after = before.replace("call(1, 20)", "other(1, 20)");
    let mut person = reviewer(100, 24);
    person.open("a.rs", Some(&before), &after);
    let screen = see(&mut person);
    assert!(
        screen.contains("⋯ 51 unchanged lines · fn number_1()\n"),
        "{screen}"
    );
    // Of what is below the last hunk nothing is seen.
    assert!(screen.contains("⋯ 41 unchanged lines\n"), "{screen}");
    person.wait(60_000);
    let screen = see(&mut person);
    assert!(screen.contains("── fn number_1() ─"), "{screen}");
    person.press("S");
    let screen = see(&mut person);
    assert!(
        !screen.contains("── fn number_1() ─"),
        "of the list: {screen}"
    );
    person.press("S");
    // What agents write is shown as text.
    let after = after
        .replace("number_1", "number_1\u{202e}")
        .replace("fn number_0", "// \u{1b}[31m");
    person.open("b.rs", Some(&before), &after);
    assert!(!see(&mut person).contains(['\u{1b}', '\u{202e}']));
}
