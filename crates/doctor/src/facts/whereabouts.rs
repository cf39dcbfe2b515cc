//! Companions that look dead from here and may live in another container, whose processes are not seen.

use pillion_discovery::listens;
use pillion_discovery::survey::{Companion, Liveness};
use pillion_system::namespaces;

use super::dial::{Dialled, Outcome};

/// The ports of those, in no particular order. One whose files say where it runs is not in doubt.
pub fn doubtful(companions: &[Companion], dialled: &[Dialled]) -> Vec<u16> {
    let in_doubt = companions.iter().filter(|companion| {
        let looks_dead = !companion.is_alive() && companion.liveness != Liveness::OutOfReach;
        looks_dead && !companion.says_where() && may_live(companion, dialled)
    });
    in_doubt.map(|companion| companion.port).collect()
}

fn may_live(companion: &Companion, dialled: &[Dialled]) -> bool {
    let is_other = |it: &&Dialled| {
        let is_another = matches!(it.outcome, Outcome::NoCompanion(_) | Outcome::TokenRefused);
        it.dial.port == companion.port && is_another
    };
    if companion.liveness == Liveness::ProcessGone && listens(companion.port) {
        return !dialled.iter().any(|it| is_other(&it));
    }
    let pids = companion.pids.iter().copied();
    let parents = companion.files.iter().filter_map(|file| file.content.ppid);
    !namespaces::sees_all_processes() || pids.chain(parents).any(namespaces::is_anyones_own)
}
