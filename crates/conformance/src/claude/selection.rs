//! How the selections of the first seconds and those of moves are heard, once each, and a mention.

use std::path::Path;
use std::time::{Duration, Instant, SystemTime};

use pillion_protocol::claude::notifications::{AT_MENTIONED, SELECTION_CHANGED};
use serde_json::{Value, json};

use super::client::{Client, another, session};
use crate::claude_observation::{Mention, Selections};
use crate::files::some_file;
use crate::message::{NEWEST_VERSION, initialize_params};
use crate::observation::Moves;
use crate::rule::{Problem, unchecked};
use crate::test_context::{Step, TestContext};

/// How far the cursor is moved.
const LINES: u32 = 4;

/// How often it is moved in quick succession, if it comes to that: on a busy machine commands may
/// take effect far apart.
const BURSTS: usize = 8;

/// How many moves that are, and how far apart: less than a debounce lasts, and more than one that is
/// hardly any.
const BURST: u32 = 8;
const PACE: Duration = Duration::from_millis(15);

/// The lines that are mentioned.
const MENTIONED: (u32, u32) = (2, 3);

/// What was heard of selections, by one client.
pub(super) async fn selections(test: &TestContext) -> Result<&Selections, Problem> {
    let heard = test
        .claude
        .selections
        .get_or_init(|| Selections::hear(test));
    heard.await.as_ref().map_err(Clone::clone)
}

/// A mention that was brought about.
pub(super) async fn mention(test: &TestContext) -> Result<&Mention, Problem> {
    let heard = test.claude.mention.get_or_init(|| Mention::hear(test));
    heard.await.as_ref().map_err(Clone::clone)
}

/// Whether a message reports a selection.
pub(super) fn is_selection(message: &Value) -> bool {
    message["method"] == SELECTION_CHANGED
}

fn is_mention(message: &Value) -> bool {
    message["method"] == AT_MENTIONED
}

/// The selections that came from this message on, each with its time.
fn since(client: &Client<'_>, at: usize) -> Vec<(Instant, Value)> {
    let new = client.messages[at..]
        .iter()
        .filter(|(_, message)| is_selection(message));
    new.map(|(at, message)| (*at, message["params"].clone()))
        .collect()
}

/// Whether a selection is in this file, on this line, which is counted from 1.
fn stands_at(params: &Value, file: &str, line: u32) -> bool {
    is_in(params, file) && params["selection"]["start"]["line"] == line - 1
}

/// Whether a selection is in this file, however it is spelt.
pub(super) fn is_in(params: &Value, file: &str) -> bool {
    let real = |path: &str| Path::new(path).canonicalize().ok();
    params["filePath"]
        .as_str()
        .is_some_and(|path| path == file || real(path) == real(file))
}

impl Selections {
    async fn hear(test: &TestContext) -> Result<Self, Problem> {
        // Whether there are sessions at all is other rules' matter.
        session(test).await?.leave().await;
        let mut client = another(test, Client::connect).await?;
        let quiet = test.connection.timeouts.quiet;
        client
            .ask_with_id(json!(0), "initialize", initialize_params(NEWEST_VERSION))
            .await?;
        client.listen(quiet).await;
        let early = client.messages.iter().map(|(_, message)| message);
        let early = early.clone().find(|it| it.get("method").is_some()).cloned();
        client.notify("notifications/initialized", None).await?;
        client
            .notify("ide_connected", Some(json!({"pid": std::process::id()})))
            .await?;
        let answer = test.connection.timeouts.answer;
        client.wait_from(0, answer, is_selection).await;
        client.listen(quiet).await;
        let mut selections = Self {
            early,
            of_start: since(&client, 0)
                .into_iter()
                .map(|(_, params)| params)
                .collect(),
            of_moves: unchecked("the cursor was not moved"),
            of_bursts: Vec::new(),
            moved_to: None,
        };
        match moves(&mut client).await {
            Err(problem) => selections.of_moves = Err(problem),
            Ok((moves, moved_to)) => {
                if let Some((file, _)) = &moved_to {
                    selections.of_bursts = bursts(&mut client, &moves, file).await;
                }
                selections.of_moves = Ok(moves);
                selections.moved_to = moved_to;
            }
        }
        client.leave().await;
        Ok(selections)
    }
}

/// Has the cursor moved to where it does not stand already; what came of it, and where it stands
/// then, if that is known.
async fn moves(client: &mut Client<'_>) -> Result<(Moves, Option<(String, u32)>), Problem> {
    let test = client.test;
    let last = since(client, 0)
        .pop()
        .map(|(_, params)| params)
        .unwrap_or_default();
    let roots = test.connection.target.roots();
    let Some((file, has_lines)) = some_file(&roots, last["filePath"].as_str(), LINES as usize)
    else {
        return unchecked("there is no file in the workspace to focus");
    };
    let lines = if stands_at(&last, &file, LINES) {
        LINES - 1
    } else {
        LINES
    };
    let (at, asked) = (client.messages.len(), SystemTime::now());
    let step = Step::Move {
        file: file.clone(),
        lines,
    };
    let (time, is_done) = test.done_or_asked(&step).await?;
    let moved_to = (is_done && has_lines).then_some((file, lines));
    let is_effect = |message: &Value| match &moved_to {
        _ if !is_selection(message) => false,
        Some((file, line)) => stands_at(&message["params"], file, *line),
        None => true,
    };
    client.wait_from(at, time, is_effect).await;
    client.listen(test.connection.timeouts.quiet).await;
    let contexts = since(client, at);
    if contexts.is_empty() && !is_done {
        test.nobody_came();
        return unchecked(format!(
            "none arrived within {time:?}: the cursor was not moved, or it is not sent"
        ));
    }
    let moves = Moves {
        asked,
        // In a file without lines nothing moves.
        count: moved_to.is_some().then_some(lines),
        contexts,
    };
    Ok((moves, moved_to))
}

/// Has commands move the cursor in quick succession, until the moves were merged once.
async fn bursts(client: &mut Client<'_>, one_by_one: &Moves, file: &str) -> Vec<Moves> {
    let test = client.test;
    let mut bursts: Vec<Moves> = Vec::new();
    let has_moved = !one_by_one.contexts.is_empty();
    while has_moved && bursts.len() < BURSTS && !bursts.last().is_some_and(Moves::is_debounced) {
        // None ends where the one before did: that would be no change.
        let nth = u32::try_from(bursts.len()).unwrap_or_default();
        let step = Step::Burst {
            file: file.to_owned(),
            lines: (1..=BURST).map(|move_| (nth + move_) % LINES + 1).collect(),
            pace: PACE,
        };
        let (at, asked) = (client.messages.len(), SystemTime::now());
        // What comes is taken in at once: its time counts.
        let helped = client.listening(test.help(&step)).await;
        if helped.is_err() {
            break;
        }
        client
            .wait_from(at, test.connection.timeouts.answer, is_selection)
            .await;
        client.listen(test.connection.timeouts.quiet).await;
        bursts.push(Moves {
            asked,
            count: Some(BURST),
            contexts: since(client, at),
        });
    }
    bursts
}

impl Mention {
    async fn hear(test: &TestContext) -> Result<Self, Problem> {
        let roots = test.connection.target.roots();
        let Some((file, true)) = some_file(&roots, None, LINES as usize) else {
            return unchecked("there is no text of several lines in the workspace to mention");
        };
        let mut client = session(test).await?;
        // The companion knows by then that this client is initialized.
        let _ = client.is_served().await;
        let at = client.messages.len();
        let step = Step::Mention {
            file: file.clone(),
            lines: MENTIONED,
        };
        let helped = test.help(&step).await;
        let heard = match helped {
            Ok(time) => {
                client.wait_from(at, time, is_mention).await;
                client.listen(test.connection.timeouts.quiet).await;
                let new = client.messages[at..].iter();
                Ok(new
                    .filter(|(_, message)| is_mention(message))
                    .cloned()
                    .collect())
            }
            Err(problem) => Err(problem),
        };
        client.leave().await;
        Ok(Self {
            file,
            lines: MENTIONED,
            messages: heard?,
        })
    }
}
