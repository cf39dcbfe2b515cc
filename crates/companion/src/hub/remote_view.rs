//! A front end in another process, as its companion sees it: what it is asked and told goes over its connection.

use std::sync::Arc;

use pillion_view::hub::link::Link;
use pillion_view::hub::wire::FromHub;
use pillion_view::{Compares, Editor, EditorEvent, Show};

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
            EditorEvent::Draft(..) | EditorEvent::Notes(..) if self.link.is_crowded() => {}
            EditorEvent::Status(status) => {
                let show = Box::new(Show::Status(status));
                self.link.send_latest(FromHub::Show(show));
            }
            // Its own end of the connection knows that.
            EditorEvent::Moved(_) => {}
            event => {
                if let Some(show) = event.with_ways(&*self.link) {
                    self.link.send(FromHub::Show(Box::new(show)));
                }
            }
        }
    }

    /// Views that join later may want it. Each compares it itself, as far as it wants that.
    fn compares(&self) -> Compares {
        Compares::Text
    }
}
