//! One answer of several views: the problems that they show.

use std::collections::HashSet;
use std::sync::{Arc, Mutex};

use pillion_protocol::FileDiagnostics;
use pillion_system::lock;
use pillion_view::Reply;

/// The answers of views to one question.
pub(super) struct Gathered(Arc<Mutex<Answers>>);

/// Dropped with the last view that has answered, or never will.
struct Answers {
    /// With when each view was used.
    answers: Vec<(u64, Vec<FileDiagnostics>)>,
    found: Option<Reply<Vec<FileDiagnostics>>>,
}

impl Gathered {
    /// For whoever has asked.
    pub(super) fn new(found: Reply<Vec<FileDiagnostics>>) -> Self {
        let found = Some(found);
        let answers = Vec::new();
        Self(Arc::new(Mutex::new(Answers { answers, found })))
    }

    /// Returns the reply for a view that was used then.
    pub(super) fn of(&self, used: u64) -> Reply<Vec<FileDiagnostics>> {
        let all = Arc::clone(&self.0);
        Reply::new(move |answer: Result<Vec<FileDiagnostics>, String>| {
            let answer = (used, answer.unwrap_or_default());
            lock(&all).answers.push(answer);
        })
    }
}

impl Drop for Answers {
    fn drop(&mut self) {
        self.answers
            .sort_by_key(|(used, _)| std::cmp::Reverse(*used));
        let mut known = HashSet::new();
        let answers = std::mem::take(&mut self.answers).into_iter();
        let mut files: Vec<_> = answers.flat_map(|(_, files)| files).collect();
        files.retain(|file| known.insert(file.uri.clone()));
        if let Some(found) = self.found.take() {
            found.done(files);
        }
    }
}
