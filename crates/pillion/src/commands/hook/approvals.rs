//! Approvals that outlive this process: the agent's own question about a change comes in another call of the hook.

use pillion_discovery::{Environment, approval};
use pillion_hooks::{Call, Change, Changes, Event, HookProtocol};
use pillion_protocol::Dialect;
use pillion_system::now_ms;
use pillion_text::fingerprint;
use serde_json::{Value, json};

use super::files::Disk;

/// Remembers that the person has approved this call with this input, at this event.
pub fn remember(
    agent: Dialect,
    protocol: &dyn HookProtocol,
    call: &Call,
    (event, input): (Event, Value),
) {
    let approved = Call {
        event,
        input,
        ..call.clone()
    };
    let Changes::Files(changes) = protocol.changes(&approved, &mut Disk) else {
        return;
    };
    let hash = hash(agent, &approved, &changes);
    if let Err(error) = approval::remember(&Environment::current(), &hash, now_ms()) {
        tracing::warn!(%error, "the agent asks again: an approval cannot be remembered");
    }
}

/// Returns true if the person has approved exactly these changes. It counts once.
pub fn take(agent: Dialect, call: &Call, changes: &[Change]) -> bool {
    let hash = hash(agent, call, changes);
    approval::take(&Environment::current(), &hash, now_ms())
}

/// What stands for these changes in this session at this event: with the texts before and after, so that the same call is
/// another one once a file has changed.
fn hash(agent: Dialect, call: &Call, changes: &[Change]) -> String {
    let changes: Vec<_> = changes
        .iter()
        .map(|change| json!([change.path, change.before, change.after.text()]))
        .collect();
    let all = json!([
        agent.name(),
        call.session,
        call.event == Event::Question,
        call.tool,
        changes
    ]);
    fingerprint::hash(all.to_string().as_bytes())
}
