//! The clients of a session, and which process agents are to take for the editor. The server is part of the first
//! client; when that quits and others stay, the server goes on as another process, outside every terminal.
//!
//! Clients are known by their processes, because their names change. Agents find the session through the terminal
//! of the client that was used first; when that client is gone, another one is published.

use std::collections::HashMap;

use pillion_system::process;

use crate::context::Report;

/// The person's clients. Those in panes for proposals are not among them.
#[derive(Debug)]
pub struct Clients {
    /// The last report of each; the newest at the end.
    reports: Vec<Report>,
    /// The processes of those that are gone, each with when it had started. Kakoune may write a report of a client after
    /// it closed it.
    gone: HashMap<u32, Option<u64>>,
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
            gone: HashMap::new(),
            server,
            editor,
        }
    }

    pub fn reported(&mut self, report: Report) {
        self.forget(report.pid);
        self.gone.remove(&report.pid);
        self.reports.push(report);
    }

    /// The client of this process is gone.
    pub fn closed(&mut self, pid: u32) {
        self.forget(pid);
        self.gone.insert(pid, process::started_at(pid));
    }

    /// Returns true if a report is of a client that is gone, and not of another one whose process has the same
    /// number.
    pub fn is_late(&self, report: &Report) -> bool {
        let now = process::started_at(report.pid);
        let before = self.gone.get(&report.pid);
        before.is_some_and(|before| now.is_none() || now == *before)
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

#[cfg(test)]
mod tests {
    use super::*;

    fn report(client: &str, pid: u32) -> Report {
        let text = format!(
            "'s' '{client}' '{pid}' '' '/w/a' '0' '1.1,1.1' 'a' 'a' 'a' '80' '' '' '/w' '/w/a' 'end'"
        );
        Report::read(&text).expect("it is whole")
    }

    #[test]
    fn a_report_that_comes_after_the_end_is_late() {
        let pid = std::process::id();
        let mut clients = Clients::of(pid);
        let first = report("client0", pid);
        assert!(!clients.is_late(&first));
        clients.reported(first.clone());
        clients.closed(pid);
        assert!(clients.is_late(&first), "its process is still there");
        clients.gone.insert(pid, Some(0));
        assert!(!clients.is_late(&first), "another process has its number");
        clients.reported(first);
        assert_eq!(clients.name(), "client0");
    }

    #[test]
    fn a_report_of_a_process_that_ended_with_its_client_is_late() {
        // Larger than any process id.
        let gone = u32::MAX >> 1;
        let mut clients = Clients::of(std::process::id());
        clients.reported(report("client1", std::process::id()));
        let late = report("client0", gone);
        assert!(!clients.is_late(&late), "it is not known to be gone");
        clients.closed(gone);
        assert!(clients.is_late(&late));
        assert_eq!(clients.name(), "client1");
    }
}
