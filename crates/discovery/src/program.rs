//! The end of a connection that a program of ours has: it says who it is, asks, and waits for each answer.

use std::io::{self, Write};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use pillion_protocol::ask::{Ask, Asked, FromProgram, Program, Refused, ToProgram};
use pillion_system::lock;

use crate::lines::{Lines, MAX_LINE};
use crate::private_file::Stream;

/// The time limit for the other end to take a request.
const TAKEN_WITHIN: Duration = Duration::from_secs(15);

/// A connection. Dropping it withdraws what was asked and is not done.
#[derive(Debug)]
pub struct Connection {
    stream: Arc<Mutex<Stream>>,
    lines: Lines,
    /// The port of the companion that is asked, if it is one.
    companion: Option<u16>,
    /// The number of the last request.
    last: u64,
    /// The messages that the other end has not got yet.
    unsent: Vec<u8>,
}

/// What is said over a connection while an answer is waited for.
#[derive(Debug, Clone)]
pub struct Aside {
    stream: Arc<Mutex<Stream>>,
    companion: Option<u16>,
}

/// The number of requests whose answers nobody waits for.
const ASIDE: u64 = 0;

impl Connection {
    /// One whose other end will be told that this is `program`.
    ///
    /// # Errors
    /// When the system refuses.
    pub fn new(stream: Stream, program: Program) -> io::Result<Self> {
        stream.set_write_timeout(Some(TAKEN_WITHIN))?;
        let mut connection = Self {
            lines: Lines::new(stream.try_clone()?, None),
            stream: Arc::new(Mutex::new(stream)),
            companion: None,
            last: 0,
            unsent: Vec::new(),
        };
        // It goes with the first request: whoever looks whether somebody is there asks nothing.
        connection.put(&FromProgram::Program(program))?;
        Ok(connection)
    }

    /// The same, to ask the companion at this port.
    #[must_use]
    pub fn to(self, port: u16) -> Self {
        let companion = Some(port);
        Self { companion, ..self }
    }

    /// Asks, and waits for the answer: for so long, or as long as it takes.
    ///
    /// # Errors
    /// When the connection is broken, the answer comes too late, or it is none.
    pub fn ask<A: Ask>(
        &mut self,
        ask: &A,
        limit: Option<Duration>,
    ) -> io::Result<Result<A::Answer, Refused>> {
        self.last += 1;
        self.put(&message(self.last, self.companion, ask)?)?;
        lock(&self.stream).write_all(&std::mem::take(&mut self.unsent))?;
        match limit {
            Some(limit) => self.lines.wait_for(limit),
            None => self.lines.wait_for_ever(),
        }
        loop {
            let line = self.lines.next(MAX_LINE)?;
            let line = line.ok_or(io::ErrorKind::UnexpectedEof)?;
            match serde_json::from_slice(&line)? {
                ToProgram::Answer(answer) if answer.request == self.last => {
                    return match answer.result {
                        Ok(value) => Ok(Ok(serde_json::from_value(value)?)),
                        Err(refused) => Ok(Err(refused)),
                    };
                }
                ToProgram::Answer(answer) if answer.request == ASIDE => {}
                ToProgram::Answer(_) => return Err(io::ErrorKind::InvalidData.into()),
                ToProgram::Refused { reason } => return Ok(Err(Refused::because(reason))),
            }
        }
    }

    /// What is said while an answer is waited for.
    pub fn aside(&self) -> Aside {
        Aside {
            stream: Arc::clone(&self.stream),
            companion: self.companion,
        }
    }

    fn put(&mut self, message: &FromProgram) -> io::Result<()> {
        serde_json::to_writer(&mut self.unsent, message)?;
        self.unsent.push(b'\n');
        Ok(())
    }
}

impl Aside {
    /// Asks for something whose answer nobody waits for.
    ///
    /// # Errors
    /// When the connection is broken.
    pub fn ask<A: Ask>(&self, ask: &A) -> io::Result<()> {
        let mut line = serde_json::to_vec(&message(ASIDE, self.companion, ask)?)?;
        line.push(b'\n');
        lock(&self.stream).write_all(&line)
    }
}

fn message<A: Ask>(request: u64, companion: Option<u16>, ask: &A) -> io::Result<FromProgram> {
    let asked = Asked::new(request, ask)?;
    Ok(FromProgram::Ask(Asked { companion, ..asked }))
}

/// A connection that somebody may go on with, once. Clones share it.
#[derive(Debug, Clone, Default)]
pub struct Open(Arc<Mutex<Option<Connection>>>);

impl Open {
    /// This one.
    pub fn new(connection: Connection) -> Self {
        Self(Arc::new(Mutex::new(Some(connection))))
    }

    /// Takes it, if nobody has.
    pub fn take(&self) -> Option<Connection> {
        lock(&self.0).take()
    }
}
