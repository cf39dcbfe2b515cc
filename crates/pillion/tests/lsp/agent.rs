//! Agents of the editor under test.

use std::path::PathBuf;

use pillion_agent::Update;
use pillion_testkit::TestAgent;

use crate::client::{self, Editor};

/// The discovery files of a plugin that is ready.
pub fn files(editor: &mut Editor) -> Vec<PathBuf> {
    client::files(&editor.params("pillion/environment"))
}

/// A Gemini CLI.
pub fn connect(editor: &mut Editor) -> TestAgent {
    TestAgent::connect(&files(editor)[0])
}

pub fn accepted(path: &str, content: &str) -> Update {
    Update::DiffAccepted {
        path: path.to_owned(),
        content: content.to_owned(),
    }
}

pub fn rejected(path: &str) -> Update {
    Update::DiffRejected {
        path: path.to_owned(),
    }
}
