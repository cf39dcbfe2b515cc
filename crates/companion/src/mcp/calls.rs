//! The tool calls under way, so that an agent can take one back that it waits for no longer.

use std::sync::Arc;

use tokio::sync::broadcast::error::RecvError;
use tokio::sync::broadcast::{Receiver, Sender};

use crate::ids::RequestId;
use crate::sessions::SessionId;

/// The most calls that may be taken back at once. Of more, some are answered all the same, as if they had been
/// taken back too late.
const MAX_CANCELLED: usize = 256;

/// The calls of all sessions: each hears which ones are taken back. Clones share them.
#[derive(Debug, Clone)]
pub(super) struct Calls {
    cancelled: Sender<(SessionId, RequestId)>,
}

/// A call under way, until it is dropped.
#[derive(Debug)]
pub(super) struct Running {
    call: (SessionId, RequestId),
    cancelled: Receiver<(SessionId, RequestId)>,
}

impl Default for Calls {
    fn default() -> Self {
        let cancelled = Sender::new(MAX_CANCELLED);
        Self { cancelled }
    }
}

impl Calls {
    pub(super) fn begin(&self, session: &SessionId, id: &RequestId) -> Running {
        Running {
            call: (Arc::clone(session), id.clone()),
            cancelled: self.cancelled.subscribe(),
        }
    }

    /// Takes back every call of a session with this id; one that is unknown or over is nothing.
    pub(super) fn cancel(&self, session: &SessionId, id: &RequestId) {
        let _ = self.cancelled.send((Arc::clone(session), id.clone()));
    }
}

impl Running {
    /// Ends when the agent takes the call back, and never otherwise.
    pub(super) async fn cancelled(&mut self) {
        loop {
            match self.cancelled.recv().await {
                Ok(cancelled) if cancelled == self.call => return,
                Ok(_) | Err(RecvError::Lagged(_)) => {}
                Err(RecvError::Closed) => std::future::pending().await,
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use futures_util::FutureExt;
    use serde_json::json;

    use super::*;

    fn id(value: serde_json::Value) -> RequestId {
        RequestId::new(value).unwrap()
    }

    #[tokio::test]
    async fn exactly_the_call_that_is_meant_is_taken_back() {
        let (calls, session) = (Calls::default(), SessionId::from("a"));
        let mut meant = calls.begin(&session, &id(json!(1)));
        let mut others = [
            calls.begin(&session, &id(json!("1"))),
            calls.begin(&SessionId::from("b"), &id(json!(1))),
        ];
        calls.cancel(&session, &id(json!(2)));
        calls.cancel(&session, &id(json!(1)));
        meant.cancelled().await;
        for other in &mut others {
            let is_cancelled = other.cancelled().now_or_never().is_some();
            assert!(!is_cancelled, "{other:?}");
        }
        let mut later = calls.begin(&session, &id(json!(1)));
        assert!(later.cancelled().now_or_never().is_none(), "{later:?}");
    }
}
