//! From the start to the end of a companion, and its lock files over time.

use crate::check::checks;
use crate::lifecycle::{answers, events, files_are_gone, is_closed, stop, whole_files};
use crate::rule::Finding;
use crate::test_context::TestContext;

checks! {
    Lifecycle:
    Must "P9-answers" => at_socket,
        "A companion answers on the socket of the lock file",
        "The agent reaches no companion, and takes no other for the folder until the file is gone.";
    Should "P9-atomic" => whole_files,
        "A lock file is rewritten atomically",
        "An agent that reads half of it ignores it.";
    Should "P9-events" => events in session,
        "Events are JSON-RPC messages without event ids",
        "A client that resumes streams asks for what came after the id, which no companion keeps.";
    // The last: nothing can be looked at afterwards.
    Must "P9-socket" => is_closed(stop, "an agent's event stream was open"),
        "A stopped companion no longer listens",
        "The agent goes on asking a companion without an editor.";
    Must "P9-files" => files_are_gone(stop),
        "A stopped companion leaves no lock file",
        "The agent goes on believing in it, and does not take another companion for the folder.";
}

async fn at_socket(test: &TestContext) -> Finding {
    answers(test)
        .await
        .map_err(|problem| problem.due_to(&["P1-socket", "P1-json", "P1-file"]))
}
