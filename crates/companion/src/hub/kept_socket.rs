//! Keeps the hub's socket where it is found, whoever deletes it or its folder: at once where the system tells of that, and otherwise
//! soon. What a hook cannot say meanwhile is lost.

use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use pillion_changes::FolderWatch;
use pillion_system::lock;

use super::Shared;
use crate::acceptor::Acceptor;

/// The interval at which it is put back, if it is missing: shorter than front ends try to reach the hub.
pub(super) const KEEP_INTERVAL: Duration = Duration::from_secs(4);

/// Puts the socket back whenever it is missing, until the hub has ended. Waits for disks.
pub(super) fn keep(acceptor: &Mutex<Option<Acceptor>>, shared: &Arc<Shared>, interval: Duration) {
    let stirred = Arc::new(AtomicBool::new(false));
    let (told, of_hub) = (Arc::clone(&stirred), Arc::clone(shared));
    let mut watch = FolderWatch::start(move || {
        let _state = of_hub.lock();
        told.store(true, Ordering::SeqCst);
        of_hub.changed.notify_all();
    })
    .ok();
    loop {
        let is_there = match &mut *lock(acceptor) {
            Some(acceptor) if !shared.lock().is_over => {
                stirred.store(false, Ordering::SeqCst);
                watch_folder(watch.as_mut(), acceptor);
                match acceptor.restore() {
                    // Its folder may be another one.
                    Some(true) => continue,
                    Some(false) => true,
                    // To try stirs the folder, too.
                    None => false,
                }
            }
            _ => return,
        };
        shared.wait_while(Instant::now() + interval, |state| {
            let is_stirred = is_there && stirred.load(Ordering::SeqCst);
            !state.is_over && !is_stirred
        });
    }
}

fn watch_folder(watch: Option<&mut FolderWatch>, acceptor: &Acceptor) {
    let path = acceptor.path();
    if let Some((watch, folder)) = watch.zip(path.parent().map(Path::to_owned)) {
        watch.set([folder.as_path()], std::slice::from_ref(&folder));
        watch.tell_again();
    }
}

#[cfg(all(test, any(target_os = "linux", target_os = "android")))]
mod tests {
    use std::{fs, io, thread};

    use pillion_discovery::Environment;

    use super::*;
    use crate::hub::{Hub, Server};

    const SOON: Duration = Duration::from_secs(60);

    /// The clock would take an hour.
    #[test]
    fn the_socket_is_back_at_once_however_often_its_folder_goes() {
        let folder = tempfile::tempdir().unwrap();
        let environment = Environment::from_pairs([("XDG_RUNTIME_DIR", folder.path())]);
        let Hub { socket, shared, .. } = Hub::listen(&environment).unwrap().unwrap();
        let path = socket.path();
        let server = Arc::new(Server(Arc::clone(&shared)));
        let acceptor = Acceptor::start(socket, server).unwrap();
        let acceptor = Mutex::new(Some(acceptor));
        thread::scope(|scope| {
            scope.spawn(|| keep(&acceptor, &shared, 60 * SOON));
            let inner = path.parent().unwrap();
            let aside = |name: &str| fs::rename(inner, folder.path().join(name));
            let deletes: [&dyn Fn() -> io::Result<()>; 4] = [
                &|| aside("one"),
                &|| fs::remove_file(&path),
                &|| aside("other"),
                &|| aside("third"),
            ];
            for delete in deletes {
                delete().unwrap();
                let started = Instant::now();
                while path.symlink_metadata().is_err() {
                    assert!(started.elapsed() < SOON, "it is not put back");
                }
            }
            shared.lock().is_over = true;
            shared.changed.notify_all();
        });
    }
}
