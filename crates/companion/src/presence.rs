//! Being found: the discovery files for agents (C2) and the state file for commands, kept for as
//! long as the companion runs.

use std::path::PathBuf;
use std::process;

use pillion_discovery::{
    Announcement, CompanionState, Environment, Publication, StateError, StateFile, Tokens,
};
use pillion_protocol::discovery::RootError;
use pillion_protocol::{Dialect, IdeInfo, Token};

use crate::clock::now_ms;

#[derive(Debug)]
pub(crate) struct Presence {
    publication: Option<Publication>,
    state_file: Option<StateFile>,
    /// Why commands, or agents in new roots, do not find this companion.
    complaints: Vec<String>,
}

/// What is to be found.
#[derive(Debug)]
pub(crate) struct Identity {
    pub(crate) editor_pid: u32,
    pub(crate) port: u16,
    pub(crate) roots: Vec<PathBuf>,
    pub(crate) ide: IdeInfo,
    pub(crate) tokens: Tokens,
    pub(crate) control_token: Token,
}

impl Presence {
    /// Sweeps what dead companions left, then publishes. The endpoint must be there already (C6.1).
    ///
    /// # Errors
    /// When a root cannot be published. Then nothing was.
    pub(crate) fn publish(environment: &Environment, who: Identity) -> Result<Self, RootError> {
        for file in pillion_discovery::sweep(environment) {
            tracing::info!(?file, "swept");
        }
        let state = CompanionState {
            pid: process::id(),
            port: who.port,
            control_token: who.control_token,
            script_token: who.tokens.get(Dialect::Script).clone(),
            roots: who.roots.clone(),
            ide: who.ide.clone(),
            started_at_ms: now_ms(),
            tmpdir: CompanionState::tmpdir_in(environment),
        };
        let announcement = Announcement {
            editor_pid: who.editor_pid,
            companion_pid: process::id(),
            port: who.port,
            roots: who.roots,
            ide: who.ide,
            tokens: who.tokens,
        };
        let publication = Publication::publish(environment, announcement)?;
        let mut complaints = Vec::new();
        let state_file = match StateFile::publish(environment, state) {
            Ok(file) => Some(file),
            Err(error) => {
                complaints.push(unreachable(&error));
                None
            }
        };
        Ok(Self {
            publication: Some(publication),
            state_file,
            complaints,
        })
    }

    /// The discovery files that agents find now.
    pub(crate) fn files(&self) -> Vec<PathBuf> {
        let files = self.publication.as_ref().map(Publication::files);
        files.unwrap_or_default()
    }

    /// What could not be served, each as one sentence for people.
    pub(crate) fn warnings(&self) -> Vec<String> {
        let publication = self.publication.iter();
        let places = publication.flat_map(|publication| publication.warnings());
        places
            .map(ToString::to_string)
            .chain(self.complaints.iter().cloned())
            .collect()
    }

    /// Publishes other workspace roots (C2.5). Roots that cannot be published leave the old ones.
    pub(crate) fn set_roots(&mut self, roots: &[PathBuf]) {
        self.complaints.clear();
        if let Some(publication) = &mut self.publication
            && let Err(error) = publication.set_roots(roots.to_owned())
        {
            let complaint = format!("agents do not find the new workspace folders: {error}");
            self.complaints.push(complaint);
            return;
        }
        if let Some(file) = &mut self.state_file
            && let Err(error) = file.set_roots(roots.to_owned())
        {
            self.complaints.push(unreachable(&error));
        }
    }

    /// Puts back what somebody deleted; whether the warnings changed.
    pub(crate) fn restore(&mut self) -> bool {
        let before = self.warnings();
        if let Some(publication) = &mut self.publication {
            for file in publication.restore() {
                tracing::info!(?file, "put back");
            }
        }
        if let Some(file) = &mut self.state_file {
            // Tried again the next time; commands say themselves that they find nobody.
            let _ = file.restore();
        }
        self.warnings() != before
    }

    /// Takes the files away (C6.2).
    pub(crate) fn remove(&mut self) {
        self.publication = None;
        self.state_file = None;
    }
}

fn unreachable(error: &StateError) -> String {
    let hint = error.hint().unwrap_or("see the log");
    format!("commands such as `pillion focus` do not find this companion: {error}; {hint}")
}
