//! Patches, as the real program reads and applies them: all of one answer, without asking.

use std::fs;

use pillion_testkit::{ClaudeNpm, Copilot, Model, Turn};
use pillion_text::patch::{FileChange, Program, read, write};
use proptest::prelude::*;
use proptest::strategy::ValueTree;

use super::Home;
use crate::patch_cases::{PATCHES, runner, some_text, some_update};

/// A file, a patch of it, and what is to come of it.
struct Case {
    name: String,
    before: String,
    patch: String,
    after: String,
}

/// A patch that is written by us, for a text that is to become another one.
fn written(name: String, (before, after): (String, String)) -> Option<Case> {
    let change = FileChange {
        path: &name,
        move_to: None,
        before: Some(&before),
        after: Some(&after),
    };
    let patch = write(Program::Copilot, &[change]).ok()?;
    Some(Case {
        name,
        before,
        patch,
        after,
    })
}

/// A patch of a model, if it is understood. Copilot CLI may find other lines than those that are exactly the same; the cases
/// have none of these.
fn understood(name: String, (before, patch): (String, String)) -> Option<Case> {
    let files = read(&patch).ok()?;
    let after = files[0].operation.apply(Program::Copilot, 2, Some(&before));
    let after = after.ok()??;
    Some(Case {
        name,
        before,
        patch,
        after,
    })
}

fn some<T>(
    strategy: &impl Strategy<Value = T>,
    runner: &mut proptest::test_runner::TestRunner,
) -> T {
    let tree = strategy.new_tree(runner);
    tree.expect("a case can be made").current()
}

#[test]
#[ignore = "in --all: needs the real agents and Copilot CLI: cargo xtask test --all"]
fn copilot_applies_patches_as_is_expected_of_it_byte_for_byte() {
    let (home, model) = (Home::new(), Model::start());
    Copilot::set_up(&home, &home.workspace());
    let mut runner = runner();
    let mut cases = Vec::new();
    for number in 0..PATCHES {
        let texts = some(&(some_text(), some_text()), &mut runner);
        cases.extend(written(format!("w{number}"), texts));
        let name = format!("u{number}");
        let update = some(&(some_text(), some_update(&name)), &mut runner);
        cases.extend(understood(name, update));
    }
    let are_written = cases
        .iter()
        .filter(|case| case.name.starts_with('w'))
        .count();
    assert!(are_written > 100, "{are_written} of {PATCHES} were written");
    assert!(
        cases.len() - are_written > 10,
        "{} were understood",
        cases.len() - are_written
    );
    for case in &cases {
        home.file(&case.name, &case.before);
    }
    let calls = cases.iter().map(|case| Turn::CallTool {
        name: "apply_patch",
        input: case.patch.as_str().into(),
    });
    model.script([Turn::at_once(calls), Turn::say("done")]);
    let program = ClaudeNpm::from_env().copilot_bin().join("copilot");
    let output = std::process::Command::new(program)
        .args(["-p", "change it", "--allow-all-tools"])
        .env_clear()
        .envs(
            Copilot::env(home.env(), &model)
                .with("COPILOT_MODEL", "gpt-5.5")
                .iter(),
        )
        .current_dir(home.workspace())
        .output()
        .expect("the program runs");
    let mut wrong = String::new();
    for case in &cases {
        let found = fs::read(home.workspace().join(&case.name)).expect("the file is there");
        let found = String::from_utf8(found).expect("it is in UTF-8");
        if found != case.after {
            wrong += &format!(
                "{:?} became {found:?}, not {:?}, by\n{:?}\n",
                case.before, case.after, case.patch
            );
        }
    }
    assert!(
        wrong.is_empty(),
        "{wrong}{}",
        String::from_utf8_lossy(&output.stderr)
    );
}
