//! A comparison that takes long.

use std::fs;

use pillion_testkit::slow_text;
use serde_json::json;

use crate::agent::accepted;
use crate::plain::world::World;

#[test]
fn a_long_comparison_holds_up_no_request() {
    let text = slow_text(1);
    let mut world = World::with_files(&[("a.txt", &text)]);
    let target = world.target("a.txt", &text);
    let proposed = slow_text(2);
    let proposal = world.propose(&target, &proposed);
    world.diagnostics(&proposal.uri, |hunks| !hunks.is_empty());
    world
        .editor
        .answer(&proposal.request, json!({"success": true}));
    proposal.call.end().unwrap();
    let text = fs::read_to_string(&proposal.path).unwrap();
    // It is compared again, as the editor has it.
    world.did_open(&proposal.uri, &text);
    // More than one, because the loop takes what waits for it in any order.
    for id in 1000..1010 {
        let request = json!({"jsonrpc": "2.0", "id": id, "method": "pillion/none"});
        world.editor.send(request);
    }
    let passed = world.editor.passed();
    let is_published = |method: &String| method == "textDocument/publishDiagnostics";
    assert!(!passed.iter().any(is_published), "{passed:?}");
    world.diagnostics(&proposal.uri, |hunks| !hunks.is_empty());
    let answer = world.execute("pillion.accept", json!([1, 1]));
    assert!(answer.get("error").is_none(), "{answer}");
    assert_eq!(world.agent.outcome(), accepted(&target, &proposed));
}
