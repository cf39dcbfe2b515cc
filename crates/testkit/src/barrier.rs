//! A barrier in place of a pause: when it is passed, what a person did in a view before has been handled to the end. That
//! nothing was decided is then a fact that can be looked up.
//!
//! A hub is asked for the text of each proposal, which it asks the view that shows it. The editor answers when it has
//! nothing else to do, and over the same pipes as it decides, so that a decision from before has reached the hub by then.
//! Twice: what an editor puts off until it is idle comes between the two. At last the hub lists what is pending, once no
//! acceptance is being weighed any more.

use std::path::Path;
use std::time::{Duration, Instant};

use pillion_discovery::Environment;
use pillion_discovery::state;
use pillion_view::ask::{DiffRef, Diffs, GetDiff, PendingDiff, Refused};
use pillion_view::{Client, ClientError};

use crate::{Home, pause};

/// The time limit for an editor to answer. One that asks its person something answers nothing.
const ANSWERED_WITHIN: Duration = Duration::from_secs(60);

/// The diffs that are pending in this home, now that everything which its person did before has been handled.
///
/// # Panics
/// If a view does not tell the text of a proposal, or the hub does not answer.
#[track_caller]
pub fn pending_diffs(home: &Home) -> Vec<PendingDiff> {
    let clients = clients(home);
    assert!(!clients.is_empty(), "no companion answers");
    clients.iter().flat_map(settled).collect()
}

/// Rejects the proposal for this file by a command. It is nobody's child: those of an agent decide nothing, and the agent
/// is in this process.
///
/// # Panics
/// If it is not rejected.
#[track_caller]
pub(crate) fn reject(home: &Home, pillion: &Path, path: &Path) {
    let is_it = |diff: &PendingDiff| Path::new(&diff.path) == path;
    let started = Instant::now();
    let mut said = String::new();
    while let Some(diff) = clients(home).iter().flat_map(list).find(is_it) {
        assert!(
            started.elapsed() < ANSWERED_WITHIN,
            "{diff:?} is not rejected: {said}"
        );
        let name = diff.key.to_string();
        let words = [pillion.as_os_str(), "reject".as_ref(), name.as_ref()];
        said = home.run_as_person(&words).stderr;
    }
}

/// The companions that answer in this home.
pub(crate) fn clients(home: &Home) -> Vec<Client> {
    let env = home.env();
    let named = env
        .iter()
        .filter_map(|(name, value)| Some((name.to_str()?, value)));
    let companions = state::list(&Environment::from_pairs(named));
    companions.iter().filter_map(Client::new).collect()
}

/// Those that are pending of one companion.
#[track_caller]
fn settled(client: &Client) -> Vec<PendingDiff> {
    for _ in 0..2 {
        for diff in list(client) {
            wait_for_view(client, &diff);
        }
    }
    list(client)
}

#[track_caller]
fn list(client: &Client) -> Vec<PendingDiff> {
    let listed = client.ask(Diffs);
    listed.unwrap_or_else(|error| panic!("the hub lists no diffs: {error}"))
}

/// Waits until the view of a diff has answered, or the diff is gone.
#[track_caller]
fn wait_for_view(client: &Client, diff: &PendingDiff) {
    let started = Instant::now();
    loop {
        let get = GetDiff {
            diff: DiffRef::exactly(diff.key.id.0, diff.key.revision),
            is_printed: false,
        };
        match client.ask(get) {
            Ok(found) if found.standing.is_some() => return,
            Ok(_) => {}
            Err(ClientError::Refused(
                Refused::NotPending { .. } | Refused::OtherRevision { .. },
            )) => return,
            Err(error) => panic!("the hub does not tell {diff:?}: {error}"),
        }
        assert!(
            started.elapsed() < ANSWERED_WITHIN,
            "no view tells the text of {diff:?}"
        );
        pause(started);
    }
}

/// Checks that nothing was decided about the proposal for this file.
///
/// # Errors
/// The diffs that are pending, if that is not among them.
#[track_caller]
pub(crate) fn check_pending(home: &Home, path: impl AsRef<Path>) -> Result<(), String> {
    let (path, pending) = (path.as_ref(), pending_diffs(home));
    match pending.iter().any(|diff| Path::new(&diff.path) == path) {
        true => Ok(()),
        false => Err(format!("only these are pending: {pending:?}")),
    }
}
