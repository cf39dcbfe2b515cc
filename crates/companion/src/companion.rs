//! Starting and stopping: the companion runs on a thread of its own, front ends hold a [`Handle`].

use std::path::PathBuf;
use std::sync::mpsc as std_mpsc;
use std::thread::JoinHandle;
use std::time::Duration;
use std::{io, thread};

use pillion_discovery::{Announcement, DiscoveryError, Environment};
use pillion_protocol::{Dialect, File, IdeInfo, Outcome, Token};
use tokio::net::TcpListener;
use tokio::sync::mpsc;

use crate::editor::{DiffId, Editor};
use crate::endpoint;
use crate::event::{Event, Events};
use crate::main_loop::MainLoop;
use crate::mcp::Mcp;
use crate::presence::Presence;
use crate::signals::Signals;

/// Each agent's own token.
pub(crate) type AgentTokens = Vec<(Dialect, Token)>;

/// What a companion needs to know to start.
#[derive(Debug, Clone)]
pub struct Options {
    /// The variables that say where discovery files go.
    pub environment: Environment,
    /// The editor's process: agents look for it, or for one of its ancestors (C2.3).
    pub editor_pid: u32,
    /// Who the editor is.
    pub ide: IdeInfo,
    /// The workspace roots, absolute.
    pub roots: Vec<PathBuf>,
    /// How long a request's body may take to arrive; 30 s unless a test is in a hurry.
    pub body_patience: Duration,
}
