//! Test support: the real agents, in real terminals, against a model that the test scripts; and
//! real editors.
//!
//! Nothing here is shipped. Everything panics, with what was expected and what was there instead
//! (a whole screen, where there is one), because every caller is a test. Every process that is
//! started dies with the value that stands for it.

mod agent;
mod barrier;
mod browser;
mod claude;
mod claude_npm;
pub mod client;
mod codex;
mod codex_npm;
pub mod conformance;
mod copilot;
mod display;
mod editors;
mod emacs;
mod env;
mod headless;
mod helix;
mod home;
#[cfg(target_os = "linux")]
mod hung_disk;
mod ide_chooser;
mod ide_client;
mod idle_process;
mod kakoune;
mod kate;
#[cfg(target_os = "linux")]
mod killed;
mod memory;
mod model;
mod npm;
mod nvim;
mod opencode;
mod person;
mod process;
mod slow_text;
mod test_agent;
mod test_claude;
mod test_program;
mod tmux;
#[cfg(target_os = "linux")]
mod unread_pipe;
mod vim;
mod vscode;
mod wait;

pub use pillion_testkit_attributes::{
    each_agent_in_neovim, each_claude_in_helix, each_claude_in_neovim, each_codex, each_editor,
    each_emacs, each_emacs_client, each_helix, each_kakoune, each_kate, each_neovim,
    each_newer_emacs, each_vim,
};

pub use agent::{Agent, AgentKind};
pub use barrier::pending_diffs;
pub use browser::{Browser, Tab, Violation};
pub use claude::{Claude, ClaudeStart, set_up_claude, set_up_claude_in};
pub use claude_npm::{ClaudeNpm, ClaudeRelease};
pub use codex::{Codex, CodexHook, CodexModel, CodexStart};
pub use codex_npm::CodexRelease;
pub use copilot::Copilot;
pub use editors::{
    Editors, EmacsPlace, EmacsVersion, HelixVersion, KakouneVersion, KateVersion, NvimVersion,
    VimVersion,
};
pub use emacs::{Emacs, EmacsSetup};
pub use env::Env;
pub use headless::Headless;
pub use helix::Helix;
pub use home::{Home, make_repository};
#[cfg(target_os = "linux")]
pub use hung_disk::HungDisk;
pub use ide_chooser::{ChoiceSituation, Chosen, ChosenDial, IdeChooser, IdeProcess};
pub use ide_client::{DiffHandle, IdeClient, Outcome};
pub use idle_process::IdleProcess;
pub use kakoune::{Kakoune, KakouneSetup};
pub use kate::Kate;
#[cfg(target_os = "linux")]
pub use killed::killed_before;
pub use memory::{peak_memory, resident_memory};
pub use model::{HALF, HEADLESS_PROMPT, Model, ModelRequest, Turn};
pub use npm::Npm;
pub use nvim::{MAY_DECIDE, Nvim, NvimSetup, OtherClient};
pub use opencode::{Opencode, PATCHER as OPENCODE_PATCHER};
pub use person::{IN_THE_PERSONS_NAME, Said, vim_command};
pub use process::{all_of, kill_all_of, kill_hub, kill_tree, programs_below};
pub use slow_text::slow_text;
pub use test_agent::{Call, Heard, TestAgent, discovery_file, discovery_files};
pub use test_claude::{TestClaude, lock_files};
pub use test_program::{Proposing, TestProgram};
pub use tmux::{AgentsTerminal, Pane, Size, Tmux};
#[cfg(target_os = "linux")]
pub use unread_pipe::{UnreadPipe, fill_pipe};
pub use vim::{Vim, VimSetup};
pub use vscode::{VsCode, VsCodeSetup};
pub use wait::{SOON, pause};
