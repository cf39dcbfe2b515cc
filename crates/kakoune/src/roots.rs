//! The workspace roots of a Kakoune session: worked out anew, on a thread, when it works in other folders or files.

use std::io;
use std::path::PathBuf;

use crossbeam_channel::{Sender, bounded};
use pillion_discovery::workspace::Workspace;
use pillion_system::spawn;

use crate::disk::Done;

/// The facts that the roots depend on.
#[derive(Debug)]
pub struct Request {
    /// The process of the server, and the folder that it reported.
    pub server: u32,
    pub folder: String,
    pub files: Vec<PathBuf>,
}

impl Request {
    /// The folder in which Kakoune works: `:cd` runs no hook in every version.
    fn working_folder(&self) -> PathBuf {
        let current = std::fs::read_link(format!("/proc/{}/cwd", self.server));
        current.unwrap_or_else(|_| self.folder.clone().into())
    }
}

/// Has the roots worked out on a thread, for [`Done::Roots`]. While it waits for a disk it takes no more requests:
/// they are repeated.
///
/// # Errors
/// When the system has no thread for it.
pub fn follow(home: Option<PathBuf>, done: Sender<Done>) -> io::Result<Sender<Request>> {
    let (requests, received) = bounded::<Request>(1);
    let run = move || {
        for request in received {
            let workspace = Workspace {
                folders: vec![request.working_folder()],
                projects: Vec::new(),
                files: request.files,
                is_chosen: false,
            };
            let roots = workspace.roots(home.as_deref()).paths;
            if done.send(Done::Roots(roots)).is_err() {
                return;
            }
        }
    };
    spawn("roots", run)?;
    Ok(requests)
}
