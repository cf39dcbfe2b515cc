//! Proposals and what a person makes of them, each kind seen once.

use std::path::{MAIN_SEPARATOR, Path};
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

use serde_json::Value;

use super::client::{Client, answers, session};
use crate::claude_observation::Decided;
use crate::rule::{Problem, blocked, unchecked};
use crate::session::ToolReply;
use crate::test_context::{Step, TestContext};

/// Something of everything that programs spoil. Line ends are LF, as the agent sends them.
const TEXT: &str = "\u{feff}one\ntwo\t \n\0\u{2028}é e\u{301} 👩\u{200d}🚀\r";

/// The end of a name that does not survive as a URI that is not escaped, or is twice, nor where
/// names are composed.
const ODD_END: &str = " 20%20 #1 e\u{301}.txt";

/// How many lines follow: more than fits in 64 KiB, where some programs stop.
const MORE_LINES: usize = 2_000;

/// How long a command that fails is run again, in times of an answer: no message tells when a view is
/// open, so it may have come too early.
const RETRY_ANSWERS: u32 = 3;
const RETRY_INTERVAL: Duration = Duration::from_millis(200);

/// A proposal that waits for its decision.
#[derive(Debug, Clone)]
pub(super) struct View {
    pub(super) tab: String,
    pub(super) path: String,
    /// The id of the call.
    pub(super) id: Value,
}

/// A name for the tab of a file, as the agent gives it.
pub(super) fn tab_name(test: &TestContext, path: &str) -> String {
    let name = path.rsplit(MAIN_SEPARATOR).next().unwrap_or(path);
    // No two are alike.
    let number = test.names.name();
    let number = number
        .trim_end_matches(".txt")
        .rsplit('-')
        .next()
        .unwrap_or_default()
        .to_owned();
    format!("✻ [Claude Code] {name} ({number:0>6}) ⧉")
}

/// Opens a view of a new file.
pub(super) async fn open_view(client: &mut Client<'_>, text: &str) -> Result<View, Problem> {
    let path = client.test.names.path();
    open_view_of(client, &path, text).await
}

/// Opens a view of this file.
pub(super) async fn open_view_of(
    client: &mut Client<'_>,
    path: &str,
    text: &str,
) -> Result<View, Problem> {
    has_views(client).await?;
    let tab = tab_name(client.test, path);
    let id = client.open_diff(&tab, path, text).await?;
    let path = path.to_owned();
    // An immediate answer has arrived by then.
    client.is_served().await?;
    still_open(client, View { tab, path, id })
}

/// Whether a view can be opened at all, which is tried once.
async fn has_views(client: &mut Client<'_>) -> Result<(), Problem> {
    if let Some(known) = client.test.claude.views.get() {
        return known.clone();
    }
    let path = client.test.names.path();
    let tab = tab_name(client.test, &path);
    let id = client.open_diff(&tab, &path, "text\n").await?;
    client.listen(client.test.connection.timeouts.quiet).await;
    let view = View { tab, path, id };
    let found = still_open(client, view.clone()).map(drop);
    // Whether that works is another rule's matter.
    let _ = client.close_tab(&view.tab).await;
    let _ = client.test.claude.views.set(found.clone());
    found
}

fn still_open(client: &Client<'_>, view: View) -> Result<View, Problem> {
    let by: &'static [&'static str] = &["K5-blocks", "K2-text"];
    if let Some(answer) = client.answers(&view.id).first() {
        let shown = answer.shown();
        return blocked(
            by,
            format!("openDiff is answered before the decision: {shown}"),
        );
    }
    match &client.end {
        Some(end) => blocked(by, format!("openDiff ends the connection: {end}")),
        None => Ok(view),
    }
}

/// Has a decision made; how long to wait for its effect, and whether it is made already.
pub(super) async fn decide(
    client: &mut Client<'_>,
    step: &Step,
) -> Result<(Duration, bool), Problem> {
    let test = client.test;
    let until = Instant::now() + RETRY_ANSWERS * test.connection.timeouts.answer;
    loop {
        let is_broken = test.claude.is_command_broken.load(Ordering::Relaxed);
        match client.listening(test.done_or_asked(step)).await {
            Err(Problem::Broken(_)) if !is_broken && Instant::now() < until => {
                client.listen(RETRY_INTERVAL).await;
            }
            Err(Problem::Broken(why)) => {
                test.claude.is_command_broken.store(true, Ordering::Relaxed);
                return Err(Problem::Broken(why));
            }
            other => return other,
        }
    }
}

/// The way of a proposal that was accepted.
pub(super) async fn accepted(test: &TestContext) -> Result<&Decided, Problem> {
    let scenario = || Decided::of(test, |file| Step::Accept { file });
    let seen = test.claude.accepted.get_or_init(scenario);
    seen.await.as_ref().map_err(Clone::clone)
}

/// The way of a proposal that was rejected.
pub(super) async fn rejected(test: &TestContext) -> Result<&Decided, Problem> {
    let scenario = || Decided::of(test, |file| Step::Reject { file });
    let seen = test.claude.rejected.get_or_init(scenario);
    seen.await.as_ref().map_err(Clone::clone)
}

/// The way of a proposal whose view was closed without a decision.
pub(super) async fn closed(test: &TestContext) -> Result<&Decided, Problem> {
    let scenario = || Decided::of(test, |file| Step::Close { file });
    let seen = test.claude.closed.get_or_init(scenario);
    seen.await.as_ref().map_err(Clone::clone)
}

impl Decided {
    async fn of(test: &TestContext, step: impl Fn(String) -> Step) -> Result<Self, Problem> {
        let mut client = session(test).await?;
        let decided = Self::see(&mut client, step).await;
        client.leave().await;
        decided
    }

    async fn see(client: &mut Client<'_>, step: impl Fn(String) -> Step) -> Result<Self, Problem> {
        let test = client.test;
        let (view, text) = propose(client).await?;
        let (time, is_done) = decide(client, &step(view.path.clone())).await?;
        let is_answer = |it: &Value| answers(it, &view.id);
        let answer = client.wait_from(0, time, is_answer).await;
        if answer.is_none() && !is_done {
            test.nobody_came();
            return unchecked(format!("nobody decided within {time:?}"));
        }
        client.listen(test.connection.timeouts.quiet).await;
        let mut closes = Vec::new();
        for _ in 0..2 {
            let reply = client.close_tab(&view.tab).await;
            closes.push(reply.map_err(|error| error.why));
        }
        client.listen(test.connection.timeouts.quiet).await;
        Ok(Self {
            was_written: Path::new(&view.path).exists(),
            answers: client.answers(&view.id),
            text,
            closes,
        })
    }
}

/// Opens a view for a new file with a name and a text that are easily spoilt.
async fn propose(client: &mut Client<'_>) -> Result<(View, String), Problem> {
    has_views(client).await?;
    let (folder, name) = (client.test.names.folder(), client.test.names.name());
    let odd = format!("{folder}{MAIN_SEPARATOR}{}", name.replace(".txt", ODD_END));
    let plain = format!("{folder}{MAIN_SEPARATOR}{name}");
    let more = (0..MORE_LINES).map(|number| format!("{number}: one more line of a long text\n"));
    let text = format!("{TEXT}{}no final newline", more.collect::<String>());
    let mut refused: Option<ToolReply> = None;
    // Whether NUL and such names are taken is other rules' matter.
    for (path, text) in [
        (odd, text.clone()),
        (plain.clone(), text.clone()),
        (plain, text.replace('\0', "")),
    ] {
        let tab = tab_name(client.test, &path);
        let id = client.open_diff(&tab, &path, &text).await?;
        client.listen(client.test.connection.timeouts.quiet).await;
        match client.answers(&id).into_iter().next() {
            None => return Ok((View { tab, path, id }, text)),
            Some(reply) => refused = Some(reply),
        }
    }
    let shown = refused.map(|reply| reply.shown()).unwrap_or_default();
    let why = format!("openDiff is answered before the decision: {shown}");
    blocked(&["K5-blocks", "K6-nul"], why)
}

/// Opens a view of a new file and has it accepted as it stands; the answer, and how much of it is a
/// matter of the text.
pub(super) async fn accept_text(client: &mut Client<'_>, text: &str) -> Result<ToolReply, Problem> {
    let path = client.test.names.path();
    has_views(client).await?;
    let tab = tab_name(client.test, &path);
    let id = client.open_diff(&tab, &path, text).await?;
    // As long as a view takes to open, so that the first command finds it.
    client.listen(client.test.connection.timeouts.quiet).await;
    if let Some(answer) = client.answers(&id).first() {
        let shown = answer.shown();
        return Err(Problem::Broken(format!(
            "it is answered before the decision: {shown}"
        )));
    }
    let (time, _) = decide(client, &Step::AcceptAgain { file: path }).await?;
    let time = time.max(client.limit);
    let is_answer = |it: &Value| answers(it, &id);
    match client.wait_from(0, time, is_answer).await {
        Some(answer) => Ok(ToolReply(answer)),
        None => match client.end.clone() {
            Some(end) => Err(Problem::Broken(end)),
            None => {
                let why = format!("no answer within {time:?} of the acceptance");
                blocked(&["K5-accepted"], why)
            }
        },
    }
}
