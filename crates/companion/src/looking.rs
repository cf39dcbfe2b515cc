//! Shows what agents have written and nobody has seen, as proposals of the companion's own, and does what people decide about it.

use std::path::PathBuf;
use std::sync::Arc;

use pillion_changes::looking::{self, LookError, Looked, Shown, why_over};
use pillion_changes::{ChangeRef, Kept, Store, kept};
use pillion_protocol::{Dialect, ProposedFile, Proposer};
use pillion_system::lock;
use pillion_view::ask::{Look, LookedAt, MAX_FILES, Refused, Undecided};
use std::collections::HashSet;
use std::sync::Mutex;
use std::sync::atomic::Ordering;
use tokio::sync::{mpsc, watch};

use crate::commands::ToLoop;
use crate::event::Events;
use crate::judging::Shelf;
use crate::proposers::Proposed;
use crate::proposing;
use crate::stand_in::StandIn;
use crate::tasks;

/// Shows these changes, for views. What of it does not work, they are told when all are decided.
pub(crate) fn start(events: Events, change: Option<String>) {
    let to_loop = ToLoop(events);
    tasks::spawn(async move {
        let looked = look(to_loop.clone(), Look { change }).await;
        let problem = match looked {
            Ok(looked) => {
                let not_shown = match looked.undecided {
                    Some(Undecided::NotShown(why)) => Some(why),
                    _ => None,
                };
                let problems = looked.left_out.into_iter().chain(not_shown);
                problems.collect::<Vec<_>>().join("; ")
            }
            Err(refused) => refused.to_string(),
        };
        to_loop.send("look's end", |it, _| it.look_ended(problem));
    });
}

/// Shows these changes until all are decided.
pub(crate) async fn look(to_loop: ToLoop, look: Look) -> Result<LookedAt, Refused> {
    let shelf = to_loop.get("shelf", |it| it.shelf()).await?;
    let (store, lists) = (shelf.store.clone(), shelf.lists.clone());
    let deciding = Arc::clone(&shelf.deciding);
    let is_explained = Arc::clone(&shelf.is_explained);
    let found = tasks::spawn_blocking(move || find(&shelf, look.change.as_deref()));
    let (proposer, looked) = found.await.map_err(|_| "the disk does not answer")??;
    let (over, those_over) = mpsc::unbounded_channel();
    if let Some(store) = store {
        let names = looked.shown.iter().map(|it| it.name);
        let names = names.enumerate().collect();
        tasks::spawn(find_over(store, names, deciding, lists, over));
    }
    let files = looked.shown.into_iter().map(|shown| {
        let explains = !is_explained.swap(true, Ordering::Relaxed);
        proposed(shown, explains)
    });
    let files = files.collect();
    let (said, undecided) =
        proposing::propose_written(to_loop, proposer, files, those_over).await?;
    Ok(LookedAt {
        said,
        left_out: looked.left_out,
        undecided,
    })
}

/// Tells which of these changes were forgotten or taken back elsewhere, or are no longer in their files, whenever the lists change.
async fn find_over(
    store: Store,
    mut names: Vec<(usize, ChangeRef)>,
    deciding: Arc<Mutex<HashSet<ChangeRef>>>,
    mut lists: watch::Receiver<u64>,
    over: mpsc::UnboundedSender<usize>,
) {
    loop {
        tokio::select! {
            changed = lists.changed() => if changed.is_err() { return },
            () = over.closed() => return,
        }
        let (store, waiting, deciding) = (store.clone(), names, Arc::clone(&deciding));
        // What cannot be read may be there, and what is being decided here is not over elsewhere.
        let is_over = move |name| {
            !lock(&deciding).contains(&name)
                && why_over(&store, name, false).is_ok_and(|why| why.is_some())
        };
        let sort = move || {
            waiting
                .into_iter()
                .partition::<Vec<_>, _>(|(_, name)| is_over(*name))
        };
        let Ok((those, left)) = tasks::spawn_blocking(sort).await else {
            return;
        };
        names = left;
        // Whoever does not wait any more needs no answer.
        those.into_iter().for_each(|(at, _)| {
            let _ = over.send(at);
        });
    }
}

/// The changes of the turn that is meant, and whose it is: without a name, of the newest that has something nobody has seen.
fn find(shelf: &Shelf, name: Option<&str>) -> Result<(Proposer, Looked), String> {
    let store = shelf.store.as_ref();
    let store = store.ok_or("what agents change is not recorded here")?;
    let named = name.map(|it| it.parse().map_err(|_| format!("{it:?} names no change")));
    let name: ChangeRef = match named {
        Some(name) => name?,
        None => newest(store, &shelf.roots)?,
    };
    let in_full = |error: LookError| match error {
        LookError::Store(error) => error.in_full(),
        error => error.to_string(),
    };
    let kept = Kept::read(store, name.turn).map_err(|error| error.in_full())?;
    let looked = looking::look(store, &kept, name, &shelf.open, MAX_FILES);
    let looked = looked.map_err(in_full)?;
    match looked.shown.is_empty() {
        true if looked.left_out.is_empty() => Err(LookError::NoText(name).to_string()),
        true => Err(looked.left_out.join("; ")),
        false => {
            let agent = Dialect::from_name(&kept.turn.agent);
            Ok((agent.map_or(Proposer::Pillion, Proposer::For), looked))
        }
    }
}

fn newest(store: &Store, roots: &[PathBuf]) -> Result<ChangeRef, String> {
    let turns = Kept::of_folders(store, roots, drop).map_err(|error| error.in_full())?;
    let newest = turns.iter().rev().find(|kept| kept.unseen() > 0);
    let turn = newest
        .ok_or_else(|| kept::none_unseen(store, &turns))?
        .turn
        .number;
    Ok(ChangeRef { turn, change: None })
}

fn proposed(shown: Shown, explains: bool) -> Proposed {
    let file = ProposedFile {
        deletes: shown.present.now.is_none(),
        ..ProposedFile::new(shown.path.to_string_lossy(), shown.now.clone())
    };
    (file, Some(StandIn::Written(Arc::new(shown), explains)))
}

#[cfg(test)]
mod tests {
    use std::fs;

    use pillion_discovery::Environment;

    use super::*;

    #[test]
    fn changes_that_cannot_be_read_are_not_said_to_be_none() {
        let home = tempfile::tempdir().unwrap();
        let environment = Environment::from_pairs([("XDG_STATE_HOME", home.path())]);
        let store = Store::of(&environment).unwrap();
        let roots = [home.path().to_owned()];
        let none = newest(&store, &roots).unwrap_err();
        assert_eq!(none, "there are no unseen changes here");
        fs::create_dir_all(store.path()).unwrap();
        fs::write(store.path().join("turns"), "no folder").unwrap();
        let unreadable = newest(&store, &roots).unwrap_err();
        assert!(unreadable.contains("turns"), "{unreadable}");
    }
}
