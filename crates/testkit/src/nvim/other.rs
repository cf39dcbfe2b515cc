//! Another program that is connected to a Neovim and shows nothing, such as one that an agent's shell has started.

use std::path::Path;

use serde_json::json;

use super::rpc::Rpc;
use crate::SOON;

/// A connection of its own, which ends on drop.
#[derive(Debug)]
pub struct OtherClient(Rpc);

impl OtherClient {
    #[track_caller]
    pub(super) fn connect(socket: &Path) -> OtherClient {
        OtherClient(Rpc::connect(socket, SOON).expect("Neovim listens"))
    }

    /// Presses keys, as `nvim --server SOCKET --remote-send` does, which connects for that.
    #[track_caller]
    pub fn input(&self, keys: &str) {
        self.ask("nvim_input", keys);
    }

    /// Runs an Ex command.
    #[track_caller]
    pub fn command(&self, command: &str) {
        self.ask("nvim_command", command);
    }

    #[track_caller]
    fn ask(&self, method: &str, what: &str) {
        if let Err(error) = self.0.request(method, &json!([what]), SOON) {
            panic!("{what:?} failed: {error}");
        }
    }
}
