//! The commands' client. Blocking: each request is a connection of its own.

use std::io::{self, Write};
use std::process;
use std::time::{Duration, Instant};

use pillion_discovery::lines::{Lines, MAX_LINE};
use pillion_discovery::private_file::Stream;
use pillion_discovery::socket::Address;
use pillion_discovery::{CompanionState, FileError};
use pillion_protocol::Dialect;
use serde::de::DeserializeOwned;
use serde_json::Value;

use super::{
    AgentOfHook, AgentWork, Answer, Command, ContextAsker, DiffError, DiffRef, DiffSummary,
    DiffText, Guard, Guarded, HookCall, Judged, Line, Mentioned, MentionedFile, Refused, Request,
    ReviewRequest, SendNotes, Settle, Settled, Wait,
};
use crate::changes::Hearing;
use crate::editor::Chosen;
use crate::lost::LostOutcome;
use crate::open_file::OpenFile;

/// The time limit for a companion to answer; the editor alone may take 10 s.
const ANSWERED_WITHIN: Duration = Duration::from_secs(15);

/// Asks one companion.
#[derive(Debug, Clone)]
pub struct Client {
    address: Address,
    port: u16,
    commanded_by: Vec<Dialect>,
}

/// The notes that the person sends to an agent. Until [`Woken::passed_on`], they are not sent.
#[derive(Debug)]
pub struct Woken {
    /// Their notes, as the agent's model reads them.
    pub text: String,
    stream: Stream,
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
    #[error("{0}")]
    Refused(String),
    /// A diff is not given out, or a decision about it does not stand.
    #[error(transparent)]
    Diff(DiffError),
}

impl Client {
    /// A client for a companion that was found.
    pub fn new(companion: &CompanionState) -> Option<Self> {
        Some(Self {
            address: companion.address.clone()?,
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

    /// The diffs that wait for the reviewer, oldest first.
    ///
    /// # Errors
    /// When the companion cannot be reached.
    pub fn diffs(&self) -> Result<Vec<DiffSummary>, ClientError> {
        self.ask(Request::Diffs)
    }

    /// A diff that waits for the reviewer, with its text.
    ///
    /// # Errors
    /// When there is no such diff any more, another revision of it is shown, or the companion cannot
    /// be reached.
    pub fn diff(&self, diff: DiffRef) -> Result<DiffText, ClientError> {
        self.ask(Request::Diff(diff))
    }

    /// Accepts or rejects a pending diff.
    ///
    /// # Errors
    /// When there is no such diff any more, another revision of it is shown, its file has changed, or the companion
    /// cannot be reached.
    pub fn settle(&self, settle: Settle) -> Result<Settled, ClientError> {
        self.ask(Request::Settle(settle))
    }

    /// Reports which file is in focus; returns when that was sent to agents, or would have been.
    ///
    /// # Errors
    /// When the companion cannot be reached.
    pub fn focus(&self, file: OpenFile) -> Result<(), ClientError> {
        self.ask(Request::Focus(file))
    }

    /// Mentions a file to an agent: the one that was last active, of those that know mentions.
    ///
    /// # Errors
    /// When the companion cannot be reached.
    pub fn mention(&self, file: MentionedFile) -> Result<Mentioned, ClientError> {
        self.ask(Request::Mention(file))
    }

    /// Chooses when agents ask before they change files, or asks what is chosen.
    ///
    /// # Errors
    /// When the companion cannot be reached, or an agent asks for it.
    pub fn review(&self, request: ReviewRequest) -> Result<Chosen, ClientError> {
        self.ask(Request::Review(request))
    }

    /// Tells that this process is about to become an agent that asks what is open.
    ///
    /// # Errors
    /// When the companion cannot be reached.
    pub fn context_asker_starts(&self, start: ContextAsker) -> Result<(), ClientError> {
        self.ask(Request::ContextAsker(start))
    }

    /// Tells that a hook of an agent was called, and asks what is known of the agent; none if it is not connected.
    ///
    /// # Errors
    /// When the companion cannot be reached.
    pub fn hook(&self, call: HookCall) -> Result<Option<AgentOfHook>, ClientError> {
        self.ask(Request::Hook(call))
    }

    /// Tells what an agent is about to do, or has done. Returns what its model is to be told, when the agent may go on.
    ///
    /// # Errors
    /// When the companion cannot be reached.
    pub fn work(&self, work: AgentWork) -> Result<Option<String>, ClientError> {
        self.ask(Request::Work(work))
    }

    /// Tells that a person has judged what agents had written. Returns how much of it the agent is told.
    ///
    /// # Errors
    /// When the companion cannot be reached, or an agent asks for it.
    pub fn judged(&self, judged: Judged) -> Result<Hearing, ClientError> {
        self.ask(Request::Judged(judged))
    }

    /// Asks whether this command speaks for the person.
    ///
    /// # Errors
    /// When an agent has started it, or the companion cannot be reached.
    pub fn speak(&self) -> Result<(), ClientError> {
        self.ask(Request::Speak)
    }

    /// Tells the person that what they accepted is not written after all.
    ///
    /// # Errors
    /// When the companion cannot be reached.
    pub fn lost(&self, lost: LostOutcome) -> Result<(), ClientError> {
        self.ask(Request::Lost(lost))
    }

    /// Sends the notes that wait for an agent at once.
    ///
    /// # Errors
    /// When the companion cannot be reached, or an agent asks for it.
    pub fn send_notes(&self, request: SendNotes) -> Result<Chosen, ClientError> {
        self.ask(Request::SendNotes(request))
    }

    /// Waits beside an agent until the person sends it their notes, however long that takes; none if the agent is not
    /// connected there or goes, the companion ends, or another process waits for the agent.
    ///
    /// # Errors
    /// When the companion cannot be reached, or the connection breaks.
    pub fn wait(&self, request: Wait) -> Result<Option<Woken>, ClientError> {
        let port = self.port;
        let broken = |source| ClientError::Broken { port, source };
        let mut stream = self.connect()?;
        let answers = stream.try_clone().map_err(broken)?;
        write(&mut stream, self.command(Request::Wait(request))).map_err(broken)?;
        let line = Lines::new(answers, None).next(MAX_LINE).map_err(broken)?;
        let answer = line.map(|line| serde_json::from_slice::<Answer>(&line));
        match answer.transpose().map_err(|error| broken(error.into()))? {
            Some(Ok(Value::String(text))) => Ok(Some(Woken { text, stream })),
            _ => Ok(None),
        }
    }

    /// Waits until the hook of a call is answered, however long that takes.
    ///
    /// # Errors
    /// When the companion cannot be reached, ends, or does not know what that is.
    pub fn guard(&self, request: Guard) -> Result<Guarded, ClientError> {
        self.ask_within(None, Request::Guard(request))
    }

    fn connect(&self) -> Result<Stream, ClientError> {
        let port = self.port;
        let stream = self.address.connect();
        stream.map_err(|source| ClientError::Unreachable { port, source })
    }

    fn command(&self, request: Request) -> Command {
        let names = self
            .commanded_by
            .iter()
            .map(|agent| agent.name().to_owned());
        Command {
            companion: self.port,
            pid: process::id(),
            commanded_by: names.collect(),
            request,
        }
    }

    fn ask<T: DeserializeOwned>(&self, request: Request) -> Result<T, ClientError> {
        self.ask_within(Some(ANSWERED_WITHIN), request)
    }

    fn ask_within<T: DeserializeOwned>(
        &self,
        limit: Option<Duration>,
        request: Request,
    ) -> Result<T, ClientError> {
        let port = self.port;
        let stream = self.connect()?;
        let answer =
            answer(stream, self.command(request), limit).map_err(|source| match source.kind() {
                io::ErrorKind::WouldBlock | io::ErrorKind::TimedOut => ClientError::Silent { port },
                _ => ClientError::Broken { port, source },
            })?;
        match answer {
            Ok(value) => serde_json::from_value(value).map_err(|error| ClientError::Broken {
                port,
                source: error.into(),
            }),
            Err(Refused::Diff(error)) => Err(ClientError::Diff(error)),
            Err(Refused::Failed(reason)) => Err(ClientError::Refused(reason)),
        }
    }
}

impl Woken {
    /// Says that the agent gets them: they wait no more.
    ///
    /// # Errors
    /// When the connection is broken.
    pub fn passed_on(mut self) -> io::Result<()> {
        self.stream.write_all(b"true\n")
    }
}

fn write(stream: &mut Stream, command: Command) -> io::Result<()> {
    let mut line = serde_json::to_vec(&Line { command })?;
    line.push(b'\n');
    stream.set_write_timeout(Some(ANSWERED_WITHIN))?;
    stream.write_all(&line)
}

fn answer(mut stream: Stream, command: Command, limit: Option<Duration>) -> io::Result<Answer> {
    write(&mut stream, command)?;
    let mut lines = Lines::new(stream, limit.map(|limit| Instant::now() + limit));
    match lines.next(MAX_LINE)? {
        Some(line) => Ok(serde_json::from_slice(&line)?),
        None => Err(io::ErrorKind::UnexpectedEof.into()),
    }
}
