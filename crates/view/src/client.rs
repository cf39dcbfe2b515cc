//! The client of programs that ask a companion, and are no front ends. Blocking.

use std::io;
use std::process;
use std::time::Duration;

use pillion_discovery::program::{Aside, Connection, Open};
use pillion_discovery::socket::Address;
use pillion_discovery::{CompanionState, FileError};
use pillion_protocol::Dialect;

use crate::ask::{Ask, AwaitNotes, PassedOn, Program, Refused};

/// The time limit for a companion to answer; the editor alone may take 10 s.
const ANSWERED_WITHIN: Duration = Duration::from_secs(15);

/// Asks one companion.
#[derive(Debug, Clone)]
pub struct Client {
    address: Address,
    open: Open,
    port: u16,
    commanded_by: Vec<Dialect>,
}

/// The notes that the person sends to an agent. Until [`Woken::passed_on`], they are not sent.
#[derive(Debug)]
pub struct Woken {
    /// Their notes, as the agent's model reads them.
    pub text: String,
    connection: Connected,
}

/// A connection with one companion.
#[derive(Debug)]
pub struct Connected {
    port: u16,
    connection: Connection,
}

/// The reason why a command did not get through.
#[derive(Debug, thiserror::Error)]
pub enum ClientError {
    /// Nobody listens.
    #[error("the companion on port {port} cannot be reached")]
    Unreachable {
        /// Its port.
        port: u16,
        /// The cause.
        #[source]
        source: FileError,
    },
    /// It does not answer.
    #[error("the companion on port {port} did not answer within {ANSWERED_WITHIN:?}")]
    Silent {
        /// Its port.
        port: u16,
    },
    /// The connection broke, or something else answers, such as another version of Pillion.
    #[error("the companion on port {port} gave no answer that is understood")]
    Broken {
        /// Its port.
        port: u16,
        /// The cause.
        #[source]
        source: io::Error,
    },
    /// The companion refused, and why.
    #[error(transparent)]
    Refused(Refused),
}

impl Client {
    /// A client for a companion that was found.
    pub fn new(companion: &CompanionState) -> Option<Self> {
        Some(Self {
            address: companion.address.clone()?,
            open: companion.open.clone(),
            port: companion.port,
            commanded_by: Vec::new(),
        })
    }

    /// The same with these agents' variables in its environment.
    #[must_use]
    pub fn commanded_by(self, commanded_by: Vec<Dialect>) -> Self {
        Self {
            commanded_by,
            ..self
        }
    }

    /// Asks, on a connection of its own.
    ///
    /// # Errors
    /// When the companion refuses, or cannot be reached.
    pub fn ask<A: Ask>(&self, ask: A) -> Result<A::Answer, ClientError> {
        self.connect()?.ask(ask)
    }

    /// Waits beside an agent until the person sends it their notes, however long that takes; none if the agent is not
    /// connected there or goes, the companion ends, or another process waits for the agent.
    ///
    /// # Errors
    /// When the companion cannot be reached, or the connection breaks.
    pub fn woken(&self, ask: AwaitNotes) -> Result<Option<Woken>, ClientError> {
        let mut connection = self.connect()?;
        let text = connection.ask_within(None, ask)?;
        Ok(text.map(|text| Woken { text, connection }))
    }

    /// Connects, for several requests, or goes on with the connection on which the companion was found.
    ///
    /// # Errors
    /// When the companion cannot be reached.
    pub fn connect(&self) -> Result<Connected, ClientError> {
        let port = self.port;
        let connection = match self.open.take() {
            Some(connection) => connection,
            None => self.dial()?,
        };
        let connection = connection.to(port);
        Ok(Connected { port, connection })
    }

    fn dial(&self) -> Result<Connection, ClientError> {
        let port = self.port;
        let stream = self.address.connect();
        let stream = stream.map_err(|source| ClientError::Unreachable { port, source })?;
        let names = self.commanded_by.iter().map(|agent| agent.name());
        let program = Program {
            pid: process::id(),
            commanded_by: names.map(str::to_owned).collect(),
        };
        let connection = Connection::new(stream, program);
        connection.map_err(|source| ClientError::Broken { port, source })
    }
}

impl Connected {
    /// Asks.
    ///
    /// # Errors
    /// When the companion refuses, or does not answer.
    pub fn ask<A: Ask>(&mut self, ask: A) -> Result<A::Answer, ClientError> {
        self.ask_within(Some(ANSWERED_WITHIN), ask)
    }

    /// Asks, and waits for the answer as long as it takes.
    ///
    /// # Errors
    /// When the companion refuses, or ends.
    pub fn wait_for<A: Ask>(&mut self, ask: A) -> Result<A::Answer, ClientError> {
        self.ask_within(None, ask)
    }

    /// What is said while an answer is waited for.
    pub fn aside(&self) -> Aside {
        self.connection.aside()
    }

    fn ask_within<A: Ask>(
        &mut self,
        limit: Option<Duration>,
        ask: A,
    ) -> Result<A::Answer, ClientError> {
        let port = self.port;
        let answer = self.connection.ask(&ask, limit);
        let answer = answer.map_err(|source| match source.kind() {
            io::ErrorKind::WouldBlock | io::ErrorKind::TimedOut => ClientError::Silent { port },
            _ => ClientError::Broken { port, source },
        })?;
        answer.map_err(ClientError::Refused)
    }
}

impl Woken {
    /// Says that the agent gets them: they wait no more.
    ///
    /// # Errors
    /// When the connection is broken.
    pub fn passed_on(mut self) -> Result<(), ClientError> {
        self.connection.ask(PassedOn)
    }
}
