//! Attaches to a companion: to the hub's, which is started if there is none. If there can be no hub, a front end has a
//! companion of its own in its own process, as it has with `PILLION_HUB=off` in its environment.

use std::path::PathBuf;

use pillion_discovery::version::{self, Mismatch, VERSION};

use crate::editor::Editor;
use crate::handle::Handle;
use crate::hub::Companion;
#[cfg(unix)]
use crate::hub::client::{Client, Unattached};
#[cfg(unix)]
use crate::hub::launch::Launch;
use crate::options::{Options, StartError};

/// The variable that keeps a front end from using the hub, if it is `off`: for debugging.
#[cfg(unix)]
const HUB: &str = "PILLION_HUB";

/// Starts a companion in this process, for when there can be no hub.
pub type StartOwn = fn(Options, Box<dyn Editor>) -> Result<Box<dyn Companion>, StartError>;

/// A front end with its companion. Dropping it leaves, and waits until that is done.
#[derive(Debug)]
pub struct Attached(Box<dyn Companion>, Option<&'static str>);

/// Attaches a front end to the companion of its folders; returns when agents can find it. From then on a signal that ends
/// programs makes it leave.
///
/// # Errors
/// When no companion can be started.
pub fn attach(
    options: Options,
    editor: impl Editor,
    start_own: StartOwn,
) -> Result<Attached, StartError> {
    #[cfg(unix)]
    return attach_boxed(options, Box::new(editor), Launch::IfNeeded, start_own);
    #[cfg(not(unix))]
    start_own(options, Box::new(editor)).map(|own| Attached(own, None))
}

/// The same, but starts no hub: one runs, or soon will.
///
/// # Errors
/// As [`attach`].
#[cfg(unix)]
pub fn attach_to_running(
    options: Options,
    editor: impl Editor,
    start_own: StartOwn,
) -> Result<Attached, StartError> {
    attach_boxed(options, Box::new(editor), Launch::Never, start_own)
}

/// Attaches a guest: a view that is shown one proposal of another view ([`Shows::Only`](crate::Shows::Only)). It starts
/// neither a hub nor a companion, and gets [`EditorEvent::Stopped`](crate::EditorEvent::Stopped) when its host or the hub is gone.
///
/// # Errors
/// When there is no hub, or the proposal does not wait for a decision there.
pub fn attach_guest(options: Options, editor: impl Editor) -> Result<Attached, StartError> {
    #[cfg(unix)]
    if !is_off(&options) {
        return match Client::attach(options, Box::new(editor), Launch::NotEvenAwaited) {
            Ok(client) => Ok(Attached(Box::new(client), None)),
            Err(Unattached::Failed(error)) => Err(error),
            Err(Unattached::NoHub(_)) => Err(StartError::NoHub),
        };
    }
    drop((options, editor));
    Err(StartError::NoHub)
}

/// Returns true if the person wants no hub.
#[cfg(unix)]
fn is_off(options: &Options) -> bool {
    let hub = options.environment.filled(HUB);
    hub.is_some_and(|it| it == "off")
}

#[cfg(unix)]
fn attach_boxed(
    options: Options,
    editor: Box<dyn Editor>,
    launch: Launch,
    start_own: StartOwn,
) -> Result<Attached, StartError> {
    let editor = if is_off(&options) {
        editor
    } else {
        match Client::attach(options.clone(), editor, launch) {
            Ok(client) => return Ok(Attached(Box::new(client), None)),
            Err(Unattached::Failed(error)) => return Err(error),
            Err(Unattached::NoHub(editor)) => {
                tracing::warn!("no hub can be used: the companion runs in this process");
                editor
            }
        }
    };
    start_own(options, editor).map(|own| Attached(own, None))
}

impl Attached {
    /// The same, whose [`handle`](Self::handle) says nothing in the person's name, for this reason, if there is one.
    #[must_use]
    pub fn not_for_person(self, why: Option<&'static str>) -> Self {
        Self(self.0, why)
    }

    /// The port of the companion.
    pub fn port(&self) -> u16 {
        self.0.attached().port
    }

    /// The discovery files, as they were when it attached.
    pub fn files(&self) -> Vec<PathBuf> {
        self.0.attached().files
    }

    /// The process of the companion.
    pub fn pid(&self) -> u32 {
        self.0.attached().pid
    }

    /// The version of the program that the companion is in. Another one's works as far as both understand each other.
    pub fn version(&self) -> String {
        self.0.attached().version
    }

    /// Returns what the person is to be told if that is another version than this program's.
    pub fn mismatch(&self) -> Option<Mismatch> {
        version::of_hub(&self.version(), VERSION)
    }

    /// Returns true if this is a guest that is in the same editor as its host.
    pub fn is_in_hosts_editor(&self) -> bool {
        self.0.attached().is_in_hosts_editor
    }

    /// Returns the handle through which the front end reports.
    pub fn handle(&self) -> Handle {
        let handle = self.0.handle();
        match self.1 {
            Some(why) => handle.not_for_person(why),
            None => handle,
        }
    }

    /// Waits until the front end has left: because of a signal, or because it has said so.
    pub fn wait(self) {
        self.0.wait();
    }
}
