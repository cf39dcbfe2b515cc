//! The tool calls under way, so that an agent can take one back that it waits for no longer.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tokio::sync::oneshot;

use crate::request_id::RequestId;
use crate::sessions::SessionId;

/// The calls of all sessions. Clones share them.
#[derive(Debug, Clone, Default)]
pub(super) struct Calls {
    under_way: Arc<Mutex<UnderWay>>,
}

#[derive(Debug, Default)]
struct UnderWay {
    calls: Vec<Call>,
    last: u64,
}

#[derive(Debug)]
struct Call {
    number: u64,
    session: SessionId,
    id: RequestId,
    cancel: oneshot::Sender<()>,
}

/// A call under way, until it is dropped.
#[derive(Debug)]
pub(super) struct Running {
    calls: Calls,
    number: u64,
    cancelled: oneshot::Receiver<()>,
}

impl Calls {
    pub(super) fn begin(&self, session: &SessionId, id: &RequestId) -> Running {
        let (cancel, cancelled) = oneshot::channel();
        let mut under_way = self.lock();
        under_way.last += 1;
        let number = under_way.last;
        under_way.calls.push(Call {
            number,
            session: Arc::clone(session),
            id: id.clone(),
            cancel,
        });
        Running {
            calls: self.clone(),
            number,
            cancelled,
        }
    }

    /// Takes back every call of a session with this id; one that is unknown or over is nothing.
    pub(super) fn cancel(&self, session: &SessionId, id: &RequestId) {
        let is_meant = |call: &mut Call| call.session == *session && call.id == *id;
        for call in self.lock().calls.extract_if(.., is_meant) {
            let _ = call.cancel.send(());
        }
    }

    fn lock(&self) -> MutexGuard<'_, UnderWay> {
        // Consistent after every single operation on it.
        self.under_way
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
    }
}

impl Running {
    /// Ends when the agent takes the call back, and never otherwise.
    pub(super) async fn cancelled(&mut self) {
        if (&mut self.cancelled).await.is_err() {
            std::future::pending::<()>().await;
        }
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        self.calls
            .lock()
            .calls
            .retain(|call| call.number != self.number);
    }
}

#[cfg(test)]
mod tests {
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
            let is_cancelled = other.cancelled.try_recv().is_ok();
            assert!(!is_cancelled, "{other:?}");
        }
        drop((meant, others));
        assert!(
            calls.lock().calls.is_empty(),
            "calls that are over are forgotten"
        );
    }
}
