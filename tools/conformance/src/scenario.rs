//! An acceptance, a rejection and the contexts of the first seconds, seen once each.

use std::path::{MAIN_SEPARATOR_STR as SEPARATOR, Path};

use pillion_protocol::context::{CONTEXT_UPDATE, MAX_FILES};
use serde_json::Value;

use crate::agent::{Agent, params_since};
use crate::files::some_texts;
use crate::helper::Step;
use crate::message::{is_context, is_outcome};
use crate::moves::{Cursor, in_vain};
use crate::names::Names;
use crate::observation::{Contexts, CursorMoved, Scenario, Visits, once};
use crate::reply::ToolReply;
use crate::rule::{Problem, blocked};
use crate::session::Session;
use crate::shape::files;
use crate::test_context::TestContext;

/// Something of everything that programs spoil, and that a person can still accept.
pub(super) const TEXT: &str = "\u{feff}one\r\ntwo\t \n\0\u{2028}é e\u{301} 👩\u{200d}🚀\r";

/// The end of a name that does not survive as a URI that is not escaped, or is twice, nor where
/// names are composed.
const ODD_END: &str = " 20%20 #1 e\u{301}.txt";

/// The number of lines that follow: more than fits in 64 KiB, where some programs stop.
const MORE_LINES: usize = 2_000;

/// The way in which contexts show the cursor.
pub(super) const CURSOR: Cursor = Cursor {
    method: CONTEXT_UPDATE,
    file: |context| active(context)?["path"].as_str(),
    is_at: |context, file, line| {
        let is_it = |active: &Value| active["path"] == *file && active["cursor"]["line"] == line;
        active(context).is_some_and(is_it)
    },
};

/// New files, each with a text that is easily spoilt: first one with a name that is as well, behind
/// this prefix, and at last those that every companion takes. Whether NUL and such names are taken is
/// other rules' matter.
pub(super) fn proposals(names: &Names, prefix: &str, text: &str) -> [(String, String); 3] {
    let (folder, name) = (names.folder(), names.name());
    let odd = format!("{folder}{prefix}{}", name.replace(".txt", ODD_END));
    let plain = format!("{folder}{SEPARATOR}{name}");
    let more = (0..MORE_LINES).map(|number| format!("{number}: one more line of a long text\n"));
    let text = format!("{text}{}no final newline", more.collect::<String>());
    let without_nul = text.replace('\0', "");
    [
        (odd, text.clone()),
        (plain.clone(), text),
        (plain, without_nul),
    ]
}

/// The way of a proposal that was accepted.
pub(super) async fn accepted(test: &TestContext) -> Result<&Scenario, Problem> {
    let scenario = Scenario::of(test, Step::Accept);
    once(&test.observations.accepted, scenario).await
}

/// The way of a proposal that was rejected.
pub(super) async fn rejected(test: &TestContext) -> Result<&Scenario, Problem> {
    let scenario = Scenario::of(test, Step::Reject);
    once(&test.observations.rejected, scenario).await
}

/// The contexts of two sessions, and those that came when the cursor moved.
pub(super) async fn contexts(test: &TestContext) -> Result<&Contexts, Problem> {
    once(&test.observations.contexts, Contexts::gather(test)).await
}

impl Scenario {
    async fn of(test: &TestContext, step: impl Fn(String) -> Step) -> Result<Self, Problem> {
        let mut owner = test.session().await?;
        let (path, text) = propose(&mut owner).await?;
        let (time, is_done) = test.done_or_asked(&step(path.clone())).await?;
        let outcome = owner.wait_for(time, is_outcome).await;
        if outcome.is_none() && !is_done {
            let closed = owner.close_diff(&path, true).await;
            if closed.is_ok_and(|reply| reply.closed_content().is_ok()) {
                return in_vain(test, &owner, format!("nobody decided within {time:?}"));
            }
        }
        owner.listen(test.timeouts.quiet).await;
        Ok(Self {
            was_written: Path::new(&path).exists(),
            outcomes: owner.outcomes(),
            path,
            text,
        })
    }
}

/// Opens a view for a new file, spelt so that a companion that tidies paths is found out.
async fn propose(session: &mut Session<'_>) -> Result<(String, String), Problem> {
    session.has_views().await?;
    let prefix = format!("{SEPARATOR}{SEPARATOR}.{SEPARATOR}");
    let mut seen = String::new();
    for (path, text) in proposals(&session.test.names, &prefix, TEXT) {
        let opened = session.open_diff(&path, &text).await;
        match opened.and_then(ToolReply::success) {
            Ok(_) => return Ok((path, text)),
            Err(error) => seen = error.why,
        }
    }
    let why = format!("openDiff opens no view for a new file: {seen}");
    blocked(&["C5.2-open"], why)
}

impl Contexts {
    async fn gather(test: &TestContext) -> Result<Self, Problem> {
        let (answer, quiet) = (test.timeouts.answer, test.timeouts.quiet);
        let mut first = test.session().await?;
        let is_sent = first.wait_for(answer, is_context).await;
        first.listen(quiet).await;
        let of_first = params_since(&first, 0, CONTEXT_UPDATE);
        let is_asked = has_requests(&first);
        first.leave().await;
        let mut second = test.session().await?;
        if is_sent.is_some() {
            second.wait_for(answer, is_context).await;
        }
        second.listen(quiet).await;
        let of_second = params_since(&second, 0, CONTEXT_UPDATE);
        let of_cursor = CursorMoved::hear(test, &mut second, &CURSOR).await;
        let of_visits = match of_cursor.place() {
            Ok(_) => Visits::hear(test, &mut second).await,
            Err(_) => Visits::default(),
        };
        Ok(Self {
            of_sessions: [of_first, of_second],
            of_cursor,
            of_visits,
            is_asked: is_asked || has_requests(&second),
        })
    }

    /// Every context that was received.
    pub(super) fn all(&self) -> impl Iterator<Item = &Value> {
        let of_sessions = self.of_sessions.iter().flatten();
        let moved = self.of_cursor.contexts().chain(&self.of_visits.contexts);
        of_sessions.chain(moved).map(|(_, context)| context)
    }

    /// Every file in them.
    pub(super) fn files(&self) -> impl Iterator<Item = &Value> {
        self.all().flat_map(files)
    }
}

impl Visits {
    /// Has more files focused than may be listed.
    async fn hear(test: &TestContext, session: &mut Session<'_>) -> Self {
        let files = some_texts(&test.target.roots(), MAX_FILES + 1);
        let (count, last) = (files.len(), files.last().cloned());
        let before = session.messages().len();
        let mut visits = Self::default();
        if count <= MAX_FILES {
            visits.why_not = Some(format!(
                "there are only {count} text files in the workspace"
            ));
        } else if let Err(problem) = test.help(&Step::Visit(files)).await {
            visits.why_not = Some(match problem {
                Problem::Broken(why) | Problem::Unchecked(why) => why,
                Problem::Blocked { why, .. } => why,
            });
        } else {
            visits.count = count;
            let is_last = |message: &Value| {
                let active = active(&message["params"]);
                is_context(message) && active.and_then(|it| it["path"].as_str()) == last.as_deref()
            };
            let answer = test.timeouts.answer;
            session.wait_from(before, answer, is_last).await;
            session.listen(test.timeouts.quiet).await;
        }
        visits.contexts = params_since(session, before, CONTEXT_UPDATE);
        visits
    }
}

/// Returns true if a context came as a request, which nobody answers.
fn has_requests(session: &Session<'_>) -> bool {
    let mut heard = session.heard();
    heard.any(|it| is_context(it) && it.get("id").is_some())
}

/// The active file of a context.
pub(super) fn active(context: &Value) -> Option<&Value> {
    let mut files = files(context).iter();
    files.find(|file| file["isActive"] == true)
}
