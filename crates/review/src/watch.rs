//! The files that are saved in the workspace: without an editor, they are the context.
//!
//! The folders are looked through when the system tells that something happens there, and otherwise every now and then. Of
//! each file it is known when it was written: one that has another time by now was saved. What is ignored is left out.

mod files;
mod rules;
mod saves;

use std::io;
use std::path::{Path, PathBuf};
use std::thread;
use std::time::{Duration, Instant, SystemTime};

use crossbeam_channel::{after, bounded, never, select};
use pillion_changes::FolderWatch;
use pillion_protocol::File;
use pillion_system::now_ms;
use pillion_system::spawn;

use files::Files;
use saves::Saves;

/// A save is several events; so long after the last one it counts.
const DEBOUNCE: Duration = Duration::from_millis(150);

/// So long after its first event it counts although events keep coming: some folders are never
/// quiet.
const LONGEST: Duration = Duration::from_millis(500);

/// The pause between looks where the system does not tell everything.
const POLL: Duration = Duration::from_secs(2);

/// Looking takes no more than this part of the time where much is written, and no more than that where nobody tells.
const BUSY: u32 = 20;
const UNTOLD: u32 = 100;

/// Watches `roots` on a thread of its own, and reports files that are saved from now on to `focus`.
///
/// # Errors
/// When there is no thread.
pub fn start(roots: Vec<PathBuf>, focus: impl Fn(File) + Send + 'static) -> io::Result<()> {
    // On a busy machine it takes a while until the folders are looked through.
    let since = SystemTime::now();
    spawn("watch", move || {
        let (stir, stirred) = bounded(1);
        let mut system = FolderWatch::start(move || _ = stir.try_send(())).ok();
        let (mut files, mut saves) = (Files::new(roots.clone(), since), Saves::default());
        loop {
            let started = Instant::now();
            let written = files.look();
            let cost = started.elapsed();
            for path in saves.of(written, started) {
                if let Some(path) = path.to_str() {
                    focus(File::focused(path, now_ms()));
                }
            }
            let watched = system
                .as_mut()
                .map(|it| it.set(roots.iter().map(PathBuf::as_path), files.folders()));
            let is_all = watched.is_some_and(|it| it.is_all);
            let pause = match watched.is_some_and(|it| it.has_new) {
                // What happened there until now was not told.
                true => after(Duration::ZERO),
                false if is_all => never(),
                false => after(POLL.max(cost * UNTOLD)),
            };
            select! {
                recv(stirred) -> _ => {}
                recv(pause) -> _ => {}
            }
            thread::sleep((cost * BUSY).saturating_sub(started.elapsed()));
            // Whatever happens from here on is told again.
            let is_quiet = || {
                let _ = stirred.try_recv();
                system.as_ref().is_none_or(FolderWatch::tell_again)
            };
            let first = Instant::now();
            is_quiet();
            while first.elapsed() < LONGEST {
                thread::sleep(DEBOUNCE);
                if is_quiet() {
                    break;
                }
            }
        }
    })
}

/// Files that editors and agents write beside the one that is saved.
fn is_made_by_an_editor(path: &Path) -> bool {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    let is_number = !name.is_empty() && name.bytes().all(|byte| byte.is_ascii_digit());
    let endings = [
        "~",
        ".swp",
        ".swo",
        ".swx",
        ".tmp",
        ".bak",
        ".orig",
        "___jb_tmp___",
    ];
    is_number
        || (name.starts_with('#') && name.ends_with('#'))
        || name.contains(".tmp.")
        || endings.iter().any(|ending| name.ends_with(ending))
}

#[cfg(test)]
mod tests;
