//! Watches an agent's own record of its session while its hook waits: some agents, when a person stops them, neither end the hook nor
//! tell it.

use std::future::pending;
use std::thread::sleep;
use std::time::Duration;

use pillion_discovery::new_lines::NewLines;
use pillion_hooks::{Call, HookProtocol, Record};
use pillion_system::spawn;
use tokio::sync::oneshot;

const INTERVAL: Duration = Duration::from_millis(500);

/// A look-out for the agent's word that it does not make the call any more.
#[derive(Debug)]
pub struct Watch(Option<oneshot::Receiver<()>>);

impl Watch {
    /// Starts to look. A person may stop the agent before they are shown anything, so this begins as soon as the call is read.
    pub fn start(protocol: &'static dyn HookProtocol, call: &Call) -> Self {
        let Some(Record { path, .. }) = call.record.clone() else {
            return Self(None);
        };
        let (call, (way, stopped)) = (call.clone(), oneshot::channel());
        // A disk that hangs must not keep a decision from being heard.
        let watching = spawn("record", move || {
            let mut lines = NewLines::after_now(&path);
            while !way.is_closed() {
                let new = lines.read(&path);
                if new.iter().any(|line| protocol.is_stopped(&call, line)) {
                    let _ = way.send(());
                    return;
                }
                sleep(INTERVAL);
            }
        });
        Self(watching.is_ok().then_some(stopped))
    }

    /// Waits until the agent has written it: for ever, if it keeps no record that says so.
    pub async fn call_is_stopped(&mut self) {
        if let Some(stopped) = &mut self.0
            && stopped.await.is_ok()
        {
            return;
        }
        pending().await
    }
}
