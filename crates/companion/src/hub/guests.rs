//! Guests: views that come for one proposal of another view, their host, whose process they name. They join the
//! companion of the host, are in no workspace themselves, and leave with the host at the latest.

use std::collections::HashMap;
use std::sync::Arc;

use pillion_view::Options;
use pillion_view::hub::link::Link;
use pillion_view::hub::wire::{self, FromHub, Refused};

use super::{Shared, Unattached, attach_to};
use crate::hub::workspaces::ViewId;

/// The guests of each view. A state machine, without I/O.
#[derive(Debug, Default)]
pub(super) struct Guests {
    hosts: HashMap<ViewId, Host>,
    /// Each with its host.
    guests: HashMap<ViewId, ViewId>,
}

/// A view that may have guests.
#[derive(Debug, Clone, Copy)]
struct Host {
    process: u32,
    editor_pid: u32,
}

impl Guests {
    /// A view is there that may have guests.
    pub(super) fn add_host(&mut self, view: ViewId, process: u32, editor_pid: u32) {
        let host = Host {
            process,
            editor_pid,
        };
        self.hosts.insert(view, host);
    }

    fn host(&self, process: u32) -> Option<(ViewId, Host)> {
        let mut hosts = self.hosts.iter().filter(|(_, it)| it.process == process);
        hosts.next().map(|(view, host)| (*view, *host))
    }

    /// A view leaves. Returns the guests that leave with it.
    pub(super) fn left(&mut self, view: ViewId) -> Vec<ViewId> {
        self.hosts.remove(&view);
        self.guests.remove(&view);
        let guests = self.guests.extract_if(|_, host| *host == view);
        guests.map(|(guest, _)| guest).collect()
    }
}

impl Shared {
    /// A guest comes to the view of the process `host`.
    pub(super) fn attach_guest(
        &self,
        host: u32,
        options: Options,
        link: &Arc<Link<FromHub>>,
    ) -> Result<ViewId, Unattached> {
        let mut state = self.lock();
        let gone = || {
            let reason = format!("no view of process {host} is here");
            Unattached::Refused(Refused::cannot_start(reason))
        };
        let (view, host) = state.guests.host(host).ok_or_else(gone)?;
        let workspace = state.workspaces.of(view);
        let companion = workspace.and_then(|it| state.companions.get(&it));
        let companion = companion.ok_or_else(gone)?;
        let is_in_hosts_editor = host.editor_pid == options.editor_pid;
        let port = companion.port();
        let attached = attach_to(companion, &options, link, move |files, link| {
            link.send(match files {
                Ok(files) => FromHub::Attached(wire::Attached {
                    is_in_hosts_editor,
                    ..wire::Attached::here(port, files)
                }),
                Err(reason) => FromHub::Refused(Refused::cannot_start(reason)),
            });
        });
        let guest = state.next_view();
        state.views.insert(guest, attached);
        state.guests.guests.insert(guest, view);
        Ok(guest)
    }
}
