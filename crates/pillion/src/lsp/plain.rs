//! The plain face: for language-server clients without a plugin.

use gen_lsp_types::ServerCapabilities;
use lsp_server::Response;
use serde_json::Value;

use crate::lsp::face::{Action, Answer, Face, Published};
use crate::lsp::front::Event;
use crate::lsp::message;
use crate::lsp::position::Encoding;

/// What the plain face has to know from the beginning.
#[derive(Debug)]
pub struct Setup {
    /// How the client counts.
    pub encoding: Encoding,
    /// The program that opens a file in the editor, if the editor cannot by itself.
    pub open_with: Option<String>,
}

/// The face of a client without a plugin.
#[derive(Debug)]
pub struct Plain {
    setup: Setup,
}

impl Plain {
    /// A face that nobody has seen yet.
    pub fn new(setup: Setup) -> Self {
        Self { setup }
    }
}

impl Face for Plain {
    fn capabilities(&self) -> ServerCapabilities {
        ServerCapabilities {
            position_encoding: Some(self.setup.encoding.kind()),
            ..ServerCapabilities::default()
        }
    }

    fn initialized(&mut self, _: &Published) -> Vec<Action> {
        Vec::new()
    }

    fn roots_changed(&mut self, _: &Published) -> Vec<Action> {
        Vec::new()
    }

    fn request(&mut self, method: &str, _: Value) -> Answer {
        Err(message::unknown_method(method)).into()
    }

    fn notification(&mut self, _: &str, _: Value) -> Vec<Action> {
        Vec::new()
    }

    fn response(&mut self, _: Response) -> Vec<Action> {
        Vec::new()
    }

    fn event(&mut self, event: Event) -> Vec<Action> {
        // Dropping a reply says that it cannot be shown.
        drop(event);
        Vec::new()
    }
}
