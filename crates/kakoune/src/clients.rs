//! The clients of a session, and which process agents are to take for the editor. The server is part of the first
//! client; when that quits and others stay, the server goes on as another process, outside every terminal.
//!
//! Clients are known by their processes, because their names change. Agents find the session through the terminal
//! of the client that was used first; when that client is gone, another one is published.

use std::collections::HashSet;

use pillion_system::process;

use crate::context::Report;

/// The person's clients. Those in panes for proposals are not among them.
#[derive(Debug)]
pub struct Clients {
    /// The last report of each; the newest at the end.
    reports: Vec<Report>,
    /// The processes of all that are there, as Kakoune has said.
    there: HashSet<u32>,
    pub server: u32,
    /// The process by whose terminal agents find the editor.
    pub editor: u32,
}

impl Clients {
    /// None yet, of a session whose server was this process when it began.
    pub fn of(server: u32) -> Self {
        // A process that is gone leads no agent here, and Qwen Code removes what names one.
        let editor = match process::is_alive(server) {
            true => server,
            false => std::process::id(),
        };
        Self {
            reports: Vec::new(),
            there: HashSet::new(),
            server,
            editor,
        }
    }

    /// The client of this process is there.
    pub fn come(&mut self, pid: u32) {
        self.there.insert(pid);
    }

    /// Returns false of one that is gone, too: Kakoune may write a report of a client after it closed it.
    pub fn is_there(&self, pid: u32) -> bool {
        self.there.contains(&pid)
    }

    pub fn reported(&mut self, report: Report) {
        self.forget(report.pid);
        self.reports.push(report);
    }

    /// The client of this process is gone.
    pub fn closed(&mut self, pid: u32) {
        self.forget(pid);
        self.there.remove(&pid);
    }

    fn forget(&mut self, pid: u32) {
        self.reports.retain(|known| known.pid != pid);
    }

    /// The report of the client that was used last.
    pub fn newest(&self) -> Option<&Report> {
        self.reports.last()
    }

    /// The name of the client that the person is in.
    pub fn name(&self) -> &str {
        self.newest().map_or("client0", |report| &report.client)
    }

    /// The editor's process, if it is another one now. A client stays it for as long as it is there: its files are not
    /// written anew whenever the person goes from one to another.
    pub fn changed_editor(&mut self) -> Option<u32> {
        if self.reports.iter().any(|known| known.pid == self.editor) {
            return None;
        }
        let newest = self.newest().map_or(self.server, |report| report.pid);
        let is_new = newest != self.editor && process::is_alive(newest);
        is_new.then(|| {
            self.editor = newest;
            newest
        })
    }
}
