//! What one front end says to the hub, from its first message on.

use std::os::unix::net::UnixStream;
use std::sync::{Arc, Weak};
use std::time::{Duration, Instant};

use pillion_protocol::File;
use pillion_system::clock;
use pillion_view::{Handle, Report};

use super::{Shared, Unattached};
use crate::hub::workspaces::ViewId;
use pillion_view::hub::lines::{Lines, MAX_LINE};
use pillion_view::hub::link::Link;
use pillion_view::hub::wire::{Attach, FromHub, FromView, Refused, RefusedKind};

/// How long a front end may take to say who it is, and how much.
const ATTACH_WITHIN: Duration = Duration::from_secs(10);
const MAX_ATTACH: usize = 4 << 20;

/// Serves a connection until it ends.
pub(super) fn serve(shared: &Arc<Shared>, stream: UnixStream) {
    let Ok(own) = stream.try_clone() else {
        return;
    };
    let mut lines = Lines::new(own, Some(Instant::now() + ATTACH_WITHIN));
    let first = match lines.next(MAX_ATTACH) {
        Ok(Some(line)) => line,
        // It only looked whether somebody is there.
        Ok(None) => return,
        Err(error) => return tracing::warn!(%error, "a connection without a front end"),
    };
    let link = match Link::start(stream) {
        Ok(link) => link,
        Err(error) => return tracing::warn!(%error, "cannot start a thread"),
    };
    let attached = match read_attach(&first) {
        Ok(attach) => shared.attach(attach, &link),
        Err(refused) => Err(Unattached::Refused(refused)),
    };
    let view = match attached {
        Ok(view) => view,
        Err(unattached) => {
            if let Unattached::Refused(refused) = unattached {
                tracing::warn!(reason = refused.reason, "a front end was refused");
                link.send(FromHub::Refused(refused));
            }
            return;
        }
    };
    // Also if something here panics: a companion without a front end would stay for ever.
    let seat = Seat { shared, view };
    // From now on the companion decides how long the connection is open.
    let link = {
        let held = link;
        Arc::downgrade(&held)
    };
    let handle = shared.lock().views.get(&view).cloned();
    let end = match (handle, lines.wait_for_ever()) {
        (Some(handle), Ok(())) => Inbox {
            shared,
            view,
            handle,
            link: &link,
        }
        .read(&mut lines),
        (_, waiting) => waiting,
    };
    if let Err(error) = end {
        tracing::warn!(%error, "a connection is broken");
    }
    // Before what it was asked counts as failed: then that is nobody else's turn.
    drop(seat);
    if let Some(link) = link.upgrade() {
        link.fail();
    }
}

/// A front end that is attached. Dropping it says that it has left.
struct Seat<'a> {
    shared: &'a Arc<Shared>,
    view: ViewId,
}

impl Drop for Seat<'_> {
    fn drop(&mut self) {
        self.shared.left(self.view, None);
    }
}

/// Who it is.
fn read_attach(line: &[u8]) -> Result<Attach, Refused> {
    match serde_json::from_slice(line) {
        Ok(FromView::Attach(attach)) => Ok(attach),
        Ok(_) | Err(_) => Err(Refused {
            kind: RefusedKind::Unserved,
            reason: "the hub does not understand this front end".to_owned(),
        }),
    }
}

/// Where the messages of one front end come in.
struct Inbox<'a> {
    shared: &'a Arc<Shared>,
    view: ViewId,
    handle: Handle,
    link: &'a Weak<Link<FromHub>>,
}

impl Inbox<'_> {
    fn read(&self, lines: &mut Lines) -> std::io::Result<()> {
        while let Some(line) = lines.next(MAX_LINE)? {
            let (message, bytes) = (serde_json::from_slice(&line), line.len());
            // It may be large, and the message has all of it.
            drop(line);
            match message {
                Ok(message) => self.received(message),
                // Of another version. What it says belongs into no log.
                Err(error) => {
                    tracing::warn!(kind = ?error.classify(), bytes, "not understood");
                }
            }
        }
        Ok(())
    }

    fn received(&self, message: FromView) {
        // Whoever is served no longer needs no answer.
        let Some(link) = self.link.upgrade() else {
            return;
        };
        match message {
            FromView::Attach(_) => tracing::warn!("a front end came twice"),
            FromView::Context { files, is_trusted } => {
                let files = files.into_iter().map(File::from).collect();
                self.handle.report_context(files, is_trusted);
            }
            FromView::Saved(file) => self.handle.saved(file.into()),
            FromView::Mention {
                request,
                path,
                lines,
            } => self.handle.mention(path, lines, link.reply(request)),
            FromView::Decide {
                request,
                decide,
                at,
            } => {
                let ruling = link.reply(request);
                self.handle
                    .report(Report::Decide(decide, clock::own(at), ruling));
            }
            FromView::Roots(roots) => {
                self.shared.change_roots(self.view, roots.clone());
                self.handle.change_roots(roots);
            }
            FromView::Editor(pid) => self.handle.change_editor(pid),
            FromView::Leave => self.shared.left(self.view, Some(link)),
            FromView::Answer(answer) => link.answered(answer),
        }
    }
}
