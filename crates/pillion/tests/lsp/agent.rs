//! Agents whose calls wait while the test answers as the editor.

use std::future::Future;
use std::path::PathBuf;
use std::sync::Arc;
use std::thread::{self, JoinHandle};

use pillion_agent::{ClientError, Update};
use pillion_protocol::IdeContext;

use crate::client::{self, Editor};
use crate::sandbox::TestAgent;

/// A call that is under way; [`Call::end`] gives what came of it, or why it failed.
pub struct Call<T>(JoinHandle<Result<T, ClientError>>);

impl<T> Call<T> {
    pub fn end(self) -> Result<T, String> {
        self.0.join().unwrap().map_err(|error| error.to_string())
    }
}

/// The discovery files of a plugin that is ready.
pub fn files(editor: &mut Editor) -> Vec<PathBuf> {
    client::files(&editor.params("pillion/environment"))
}

/// A Gemini CLI.
pub fn connect(editor: &mut Editor) -> TestAgent {
    TestAgent::connect(&files(editor)[0])
}

impl TestAgent {
    pub fn proposing(&self, path: &str, content: &str) -> Call<()> {
        let client = Arc::clone(&self.client);
        let (path, content) = (path.to_owned(), content.to_owned());
        call(move || async move { client.open_diff(&path, &content).await })
    }

    pub fn closing(&self, path: &str) -> Call<String> {
        let (client, path) = (Arc::clone(&self.client), path.to_owned());
        call(move || async move { client.close_diff(&path).await })
    }

    /// Ends its session.
    pub fn leave(self) {
        let client = Arc::into_inner(self.client).expect("no call is under way");
        call(|| client.disconnect()).end().unwrap();
    }

    /// The next context that is as wanted.
    pub fn context(&mut self, wanted: impl Fn(&IdeContext) -> bool) -> IdeContext {
        let update =
            self.next(|update| matches!(update, Update::Context(context) if wanted(context)));
        match update {
            Update::Context(context) => context,
            other => panic!("{other:?}"),
        }
    }
}

fn call<T, F>(start: impl FnOnce() -> F + Send + 'static) -> Call<T>
where
    T: Send + 'static,
    F: Future<Output = Result<T, ClientError>>,
{
    Call(thread::spawn(|| {
        let mut runtime = tokio::runtime::Builder::new_current_thread();
        runtime.enable_all().build().unwrap().block_on(start())
    }))
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
