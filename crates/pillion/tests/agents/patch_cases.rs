//! Texts and patches that real programs apply: the same ones in each run.

use proptest::prelude::*;
use proptest::test_runner::{Config, RngAlgorithm, TestRng, TestRunner};

/// The number of patches that each release applies.
pub const PATCHES: u32 = 400;

/// Makes the cases.
pub fn runner() -> TestRunner {
    let config = Config {
        cases: PATCHES,
        failure_persistence: None,
        ..Config::default()
    };
    TestRunner::new_with_rng(config, TestRng::deterministic_rng(RngAlgorithm::ChaCha))
}

/// A text of few different lines, so that they are easily taken for each other.
pub fn some_text() -> impl Strategy<Value = String> {
    let lines = [
        "a",
        "b",
        "",
        " a",
        "a ",
        "+a",
        "*** End Patch",
        "@@",
        "\u{feff}ä",
        "\u{2013}",
    ];
    let line = prop::sample::select(lines.to_vec());
    let ending = prop::sample::select(vec!["\n", "\n", "\n", "\r\n"]);
    let lines = prop::collection::vec((line, ending), 0..10);
    (lines, any::<bool>(), any::<bool>()).prop_map(|(lines, is_mixed, has_last)| {
        let mut text = String::new();
        for (line, ending) in lines {
            text.push_str(line);
            text.push_str(if is_mixed { ending } else { "\n" });
        }
        match has_last {
            true => text,
            false => text + "end",
        }
    })
}

/// A patch that replaces lines of this file, or one that cannot be understood.
pub fn some_update(path: &str) -> impl Strategy<Value = String> {
    let line = r"([-+ ](a|b| a|a |-|\xe4)?\r?|[-+ ]|@@|@@ [ab]|\*\*\* End of File|)\n";
    let lines = prop::collection::vec(line, 1..9);
    let start = format!("*** Begin Patch\n*** Update File: {path}\n@@\n");
    lines.prop_map(move |lines| format!("{start}{}*** End Patch\n", lines.concat()))
}
