//! Folders of the person's whose disk does not answer, such as a home on a server that is away: nothing can interrupt
//! who waits for one, so that it is named, and the command ends.

use std::path::{Path, PathBuf};
use std::process;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use crossbeam_channel::{Sender, TryRecvError, unbounded};
use pillion_discovery::Environment;
use pillion_protocol::Dialect;
use pillion_system::{spawn, time_limit};
use pillion_text::stderr;

use crate::failure::{self, Failure, Kind};

/// The time that looking for companions may take before the disks are suspected.
const PATIENCE: Duration = Duration::from_secs(5);

/// The time limit for a disk to tell that a folder is there.
const ANSWER_TIMEOUT: Duration = Duration::from_secs(1);

/// Ends this command if a disk keeps it from going on; dropped, it does not any more.
#[derive(Debug)]
pub struct Watch {
    /// None if there was one already, which goes on.
    goes_on: Option<Sender<()>>,
}

/// True while there is one.
static IS_WATCHED: AtomicBool = AtomicBool::new(false);

impl Watch {
    /// Watches whoever looks for companions in this environment from now on.
    pub fn start(environment: &Environment) -> Self {
        if IS_WATCHED.swap(true, Ordering::Relaxed) {
            return Self { goes_on: None };
        }
        let (goes_on, watched) = unbounded();
        let folders = folders(environment);
        let watch = move || {
            while watched.recv_timeout(PATIENCE).is_err()
                && watched.try_recv() == Err(TryRecvError::Empty)
            {
                // Something else may be slow.
                let silent = first_silent(&folders);
                if let Some(folder) = silent
                    && watched.try_recv() == Err(TryRecvError::Empty)
                {
                    end(&folder);
                }
            }
        };
        // Without a thread it waits, as before.
        let _ = spawn("disks", watch);
        let goes_on = Some(goes_on);
        Self { goes_on }
    }
}

impl Drop for Watch {
    fn drop(&mut self) {
        if self.goes_on.is_some() {
            IS_WATCHED.store(false, Ordering::Relaxed);
        }
    }
}

/// The kind of failure with which a command ends that a disk keeps from going on, if not as a refused one.
static ENDS_AS: OnceLock<Kind> = OnceLock::new();

/// Has this command end in this way if a disk keeps it from going on.
pub fn end_as(kind: Kind) {
    // Said once in a process.
    let _ = ENDS_AS.set(kind);
}

/// Has no disk end this command from now on: it ends by itself.
pub fn wait_for_ever() {
    IS_WATCHED.store(true, Ordering::Relaxed);
}

/// Says that what is in these folders is not known.
pub fn warn(silent: &[PathBuf]) {
    if silent.is_empty() {
        return;
    }
    // Then nothing is known of the disks, either.
    if let Err(error) = spawn("look", || {}) {
        return stderr::warn(format_args!(
            "companions are not looked for: this process cannot start a thread: {error}"
        ));
    }
    for folder in silent {
        stderr::warn(format_args!(
            "the disk of {} does not answer; companions that are found there are left out",
            folder.display()
        ));
    }
}

fn end(folder: &Path) -> ! {
    let message = format!("the disk of {} does not answer", folder.display());
    let hint = "Is it on a server that cannot be reached? This command needs that folder.";
    let kind = ENDS_AS.get().copied().unwrap_or(Kind::Refused);
    let _ = failure::report(&Failure::new(kind, message).hint(hint).into());
    process::exit(kind.code().into())
}

/// The folders that commands look at: outer ones first.
fn folders(environment: &Environment) -> Vec<PathBuf> {
    let places = Dialect::ALL.into_iter().flat_map(Dialect::places);
    let places: Vec<_> = places.collect();
    let bases = places.iter().map(|place| environment.base(place.base));
    let mut folders: Vec<PathBuf> = environment.home().into_iter().collect();
    folders.push(environment.current_dir().to_owned());
    folders.extend(bases.chain(environment.state_dirs()));
    folders.extend(places.iter().map(|place| environment.directory(place)));
    folders
}

/// The first of these that is on a disk that does not answer.
fn first_silent(folders: &[PathBuf]) -> Option<PathBuf> {
    let looks = folders.iter().cloned();
    let looks = looks.map(|folder| move || drop(folder.metadata()));
    let found = time_limit::run_all(ANSWER_TIMEOUT, looks);
    let mut silent = folders
        .iter()
        .zip(found)
        .filter(|(_, found)| found.is_none());
    silent.next().map(|(folder, _)| folder.clone())
}
