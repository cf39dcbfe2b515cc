//! A front end in another process, as its companion sees it: what it is asked and told goes over its connection.

use std::sync::Arc;

use pillion_view::hub::link::Link;
use pillion_view::hub::wire::FromHub;
use pillion_view::{Compares, Editor, EditorEvent};

/// Its end of the connection. Dropping it closes that, once everything else is said.
pub(super) struct RemoteView {
    link: Arc<Link<FromHub>>,
}

impl RemoteView {
    pub(super) fn new(link: Arc<Link<FromHub>>) -> Self {
        Self { link }
    }
}

impl Editor for RemoteView {
    fn event(&mut self, event: EditorEvent) {
        match event {
            EditorEvent::Open(_, shown) if self.link.is_crowded() => {
                shown.failed("the editor does not read its messages");
            }
            // Dropping the request is an answer.
            EditorEvent::Text(..) | EditorEvent::Diagnostics(..) if self.link.is_crowded() => {}
            EditorEvent::Open(diff, shown) => {
                let diff = Box::new(diff);
                self.link
                    .ask(shown, |request| FromHub::Open { request, diff });
            }
            EditorEvent::Close(id, reason, closed) => {
                self.link.ask(closed, |request| FromHub::Close {
                    request,
                    id,
                    reason,
                })
            }
            EditorEvent::Text(key, told) => {
                self.link
                    .ask(told, |request| FromHub::Text { request, key });
            }
            EditorEvent::Draft(..) if self.link.is_crowded() => {}
            EditorEvent::Draft(key, text) => self.link.send(FromHub::Draft { key, text }),
            EditorEvent::Shared(key) => self.link.send(FromHub::Shared(key)),
            EditorEvent::Diagnostics(uri, found) => {
                self.link
                    .ask(found, |request| FromHub::Diagnostics { request, uri });
            }
            EditorEvent::Status(status) => {
                self.link.send_latest(FromHub::Status(Box::new(status)));
            }
            EditorEvent::Lost(lost) => self.link.send(FromHub::Lost(Box::new(lost))),
            EditorEvent::Stopped => self.link.send(FromHub::Stopped),
            // Its own end of the connection knows that.
            EditorEvent::Moved(_) => {}
        }
    }

    /// Views that join later may want it. Each compares it itself, as far as it wants that.
    fn compares(&self) -> Compares {
        Compares::Text
    }
}
