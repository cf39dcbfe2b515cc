//! Keeps what outlives this process: the agent's own question about a change, and its word that a tool has run, come in other
//! calls of the hook.

use pillion_discovery::{Environment, approval};
use pillion_hooks::{Answer, Call, Change, Changes, Event, HookProtocol, Scope};
use pillion_protocol::Dialect;
use pillion_system::now_ms;
use pillion_text::fingerprint;
use serde_json::{Value, json};

use super::files::Disk;

/// Remembers what an answer approves for the agent's next calls, and what its model is to be told then.
pub fn remember(agent: Dialect, protocol: &dyn HookProtocol, call: &Call, answer: &mut Answer) {
    if let Some((event, input)) = answer.approved.take() {
        let approved = Call {
            event,
            input,
            ..call.clone()
        };
        if let Changes::Files(changes) = protocol.changes(&approved, &mut Disk) {
            write(&of_changes(agent, &approved, &changes), "");
        }
    }
    let scope = protocol.scope(call);
    if let (Scope::File(file), Some(told)) = (scope, answer.told_after.take()) {
        write(&of_file(agent, call, &file), &told);
    }
}

/// Returns true if the person has approved exactly these changes. It counts once.
pub fn take(agent: Dialect, call: &Call, changes: &[Change]) -> bool {
    read(&of_changes(agent, call, changes)).is_some()
}

/// Returns the message for the model now that the tool has run. It is told once.
pub fn take_told(agent: Dialect, protocol: &dyn HookProtocol, call: &Call) -> Option<String> {
    match protocol.scope(call) {
        Scope::File(file) => read(&of_file(agent, call, &file)),
        Scope::Nothing | Scope::Anything => None,
    }
}

fn write(hash: &str, text: &str) {
    let written = approval::remember(&Environment::current(), hash, text, now_ms());
    if let Err(error) = written {
        tracing::warn!(%error, "what was decided cannot be remembered for the agent's next call");
    }
}

fn read(hash: &str) -> Option<String> {
    approval::take(&Environment::current(), hash, now_ms())
}

/// The key of these changes in this session at this event: with the texts before and after, so that the same call is
/// another one once a file has changed.
fn of_changes(agent: Dialect, call: &Call, changes: &[Change]) -> String {
    let changes = changes.iter();
    let changes = changes.map(|it| json!([it.path, it.before, it.after.text()]));
    let is_question = call.event == Event::Question;
    hash(
        agent,
        call,
        json!([is_question, changes.collect::<Value>()]),
    )
}

/// The key of this file in this session, once it is written.
fn of_file(agent: Dialect, call: &Call, file: &str) -> String {
    hash(agent, call, json!(file))
}

fn hash(agent: Dialect, call: &Call, of: Value) -> String {
    let all = json!([agent.name(), call.session, of]);
    fingerprint::hash(all.to_string().as_bytes())
}
