//! The agent's side of the companion contract: connect to a companion, Pillion's or another's,
//! propose changes, and hear what became of them and what the editor shows.
//!
//! - [`find`]: which companion each release of an agent takes from here, and why not another.
//! - [`Session`]: follows the context and proposes texts, and comes back when its companion was
//!   away. What most programs want.
//! - [`Client`] and [`Updates`]: one plain MCP session, for callers that need every message.
//! - [`claude`]: the same for Claude Code's protocol, over a WebSocket.
//! - [`knock`]: whether a companion would let one in, without a session.
//!
//! Everything runs on the caller's Tokio runtime. Every wait has an end, except for the person who
//! decides; no message may be longer than twice the longest text (C5), nor hold more values than a
//! companion has use for; and no bytes of a companion make this crate panic.
//!
//! Find the companion that the newest Gemini CLI would take here, and connect to it:
//!
//! ```
//! # mod accepting { include!(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/shared/accepting.rs")); }
//! use pillion_agent::find::{Dial, Release, Situation, find};
//! use pillion_agent::{Session, Status};
//! use pillion_discovery::Environment;
//! use pillion_system::process;
//! use pillion_protocol::Dialect;
//!
//! # let companion = accepting::Accepting::start();
//! # accepting::run(async {
//! let environment = Environment::current();
//! # let environment = companion.environment();
//! // Asked again whenever the companion was away: it may have another port and token by then.
//! let search = move || {
//!     let chain = process::chain(std::process::id());
//!     let finding = find(&Situation {
//!         release: Release::newest(Dialect::GeminiCli),
//!         environment: &environment,
//!         current_dir: environment.current_dir(),
//!         chain: &chain,
//!         in_container: false,
//!     });
//!     finding.dials.first().map(Dial::address)
//! };
//! let session = Session::connect(search).await?;
//! assert!(matches!(session.status(), Status::Connected(_)));
//! session.end().await;
//! # Ok(())
//! # });
//! ```
//!
//! What the editor shows, as an agent sees it (C4.8):
//!
//! ```
//! # mod accepting { include!(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/shared/accepting.rs")); }
//! use pillion_agent::Session;
//!
//! # let companion = accepting::Accepting::start();
//! # let address = companion.address();
//! # accepting::run(async {
//! let session = Session::connect(move || Some(address.clone())).await?;
//! let mut contexts = session.follow_context();
//! while let Some(context) = contexts.next().await {
//!     if let Some(file) = context.active_file() {
//!         println!("looking at {}", file.path);
//!         # assert!(file.path.ends_with("open.md"));
//!         break;
//!     }
//! }
//! # Ok(())
//! # });
//! ```
//!
//! One message at a time:
//!
//! ```
//! # mod accepting { include!(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/shared/accepting.rs")); }
//! use pillion_agent::{Client, Update};
//!
//! # let companion = accepting::Accepting::start();
//! # let address = companion.address();
//! # accepting::run(async {
//! let (client, mut updates) = Client::connect_to(address).await?;
//! client.open_diff("/work/notes.md", "new text\n").await?;
//! while let Some(update) = updates.next().await {
//!     if let Update::DiffAccepted { path, content, .. } = update {
//!         assert_eq!((path.as_str(), content.as_str()), ("/work/notes.md", "new text\n"));
//!         break;
//!     }
//! }
//! client.disconnect().await?;
//! # Ok(())
//! # });
//! ```

mod address;
pub mod claude;
mod client;
mod error;
pub mod find;
pub mod host;
mod introduction;
mod knock;
mod link;
mod message;
mod release;
mod runtime;
mod session;
mod updates;

pub use address::Address;
pub use client::Client;
pub use error::ClientError;
pub use introduction::Server;
pub use knock::knock;
pub use runtime::runtime;
pub use session::{Contexts, Decision, Proposal, Session, Status};
pub use updates::{Update, Updates};
