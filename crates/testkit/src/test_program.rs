//! A program that has a person decide about files, over the hub's socket, as `pillion diff` does.

use std::thread::{self, JoinHandle};
use std::time::Instant;

use pillion_protocol::ProposedFile;
use pillion_view::Connected;
use pillion_view::ask::{Decisions, End, Propose};

use crate::barrier::clients;
use crate::{Home, SOON, pause};

/// A connected program. Dropping it withdraws what it has proposed.
#[derive(Debug)]
pub struct TestProgram(Connected);

/// A program whose files are being shown, while the test answers as the editor.
#[derive(Debug)]
pub struct Proposing(JoinHandle<TestProgram>);

impl TestProgram {
    /// Waits until a companion runs in this home, and proposes these texts for its files as one set. Returns when all are shown.
    pub fn propose(home: &Home, files: &[(&str, &str)]) -> Self {
        Self::proposing(home, files).shown()
    }

    /// Begins to propose.
    pub fn proposing(home: &Home, files: &[(&str, &str)]) -> Proposing {
        let mut program = Self(connect(home));
        let file = |(name, text): &(&str, &str)| {
            let path = home.workspace().join(name);
            ProposedFile::new(path.to_str().expect("the home is UTF-8"), *text)
        };
        let files = files.iter().map(file).collect();
        Proposing(thread::spawn(move || {
            let shown = program.0.ask(Propose {
                files,
                ..Propose::default()
            });
            shown.unwrap_or_else(|error| panic!("the files are not shown: {error}"));
            program
        }))
    }

    /// Returns the place and the end of the next file about which a person decides.
    pub fn decided(&mut self) -> (usize, End) {
        let decided = self.0.ask(Decisions);
        let decided = decided.unwrap_or_else(|error| panic!("nobody decides: {error}"));
        let end = decided.ends.into_iter().next();
        end.unwrap_or_else(|| panic!("nobody decided: {:?}", decided.why))
    }

    /// Returns the place of the next file about which a person decides, and the text that they accepted; none if they rejected it.
    pub fn accepted(&mut self) -> (usize, Option<String>) {
        let (at, end) = self.decided();
        assert!(end.is_decided(), "file {at} was withdrawn: {end:?}");
        (at, end.accepted().map(str::to_owned))
    }
}

impl Proposing {
    /// Waits until all files are shown.
    pub fn shown(self) -> TestProgram {
        self.0.join().expect("the files are shown")
    }
}

fn connect(home: &Home) -> Connected {
    let started = Instant::now();
    loop {
        let connected = clients(home).pop().map(|client| client.connect());
        if let Some(Ok(connected)) = connected {
            return connected;
        }
        assert!(started.elapsed() < SOON, "no companion runs");
        pause(started);
    }
}
