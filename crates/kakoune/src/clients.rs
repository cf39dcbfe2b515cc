//! The clients of a session, and which process agents are to take for the editor. The server is part of the first
//! client; when that quits and others stay, the server goes on as another process, outside every terminal.

use pillion_system::process;

use crate::context::Report;

/// The person's clients. Those in panes for proposals are not among them.
#[derive(Debug)]
pub struct Clients {
    /// What each reported last; the newest at the end.
    reports: Vec<Report>,
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
            server,
            editor,
        }
    }

    pub fn reported(&mut self, report: Report) {
        self.closed(report.pid);
        self.reports.push(report);
    }

    /// The client of this process is gone.
    pub fn closed(&mut self, pid: u32) {
        self.reports.retain(|known| known.pid != pid);
    }

    /// What the client reported that was used last.
    pub fn newest(&self) -> Option<&Report> {
        self.reports.last()
    }

    /// Its name: where the person is.
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
