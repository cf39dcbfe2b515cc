//! Owns the budget for messages that are not complete yet, on all WebSockets and in all HTTP bodies together: a
//! message may be as long as a file, and there may be many who begin one.

use std::io;
use std::pin::Pin;
use std::sync::{Arc, Mutex};
use std::task::{Context, Poll, ready};
use std::time::Instant;

use pillion_discovery::budget::{Budget, Share};
use pillion_system::lock;
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};

/// The longest message that is read.
pub(super) const MAX_MESSAGE: usize = 64 * 1024 * 1024;

/// The most that all unfinished messages and bodies may come to: four of the longest.
const MAX_UNFINISHED: usize = 4 * MAX_MESSAGE;

/// The bytes of a client's control frame before its payload: two of them, and the mask.
const CONTROL_HEAD: usize = 6;

/// Said to whoever begins one more than there is room for.
pub(super) const TOO_MANY: &str = "too many long messages at once";

/// The budget of all connections of one endpoint.
pub(super) fn budget() -> Budget {
    Budget::new(MAX_UNFINISHED)
}

/// The unfinished part of one connection. It counts until it is complete, or the last clone is dropped.
#[derive(Debug, Clone)]
pub(super) struct Begun {
    state: Arc<Mutex<State>>,
}

#[derive(Debug)]
struct State {
    share: Share,
    since: Option<Instant>,
}

/// A connection whose bytes are counted until a message is complete.
pub(super) struct Counted<S> {
    stream: S,
    begun: Begun,
}

impl Begun {
    pub(super) fn new(budget: &Budget) -> Self {
        let state = State {
            share: budget.share(),
            since: None,
        };
        Self {
            state: Arc::new(Mutex::new(state)),
        }
    }

    pub(super) fn complete(&self) {
        lock(&self.state).forget(usize::MAX);
    }

    /// A control frame came, which may be in the middle of a message: only its own bytes count no longer.
    pub(super) fn complete_control(&self, payload: usize) {
        lock(&self.state).forget(payload + CONTROL_HEAD);
    }

    /// Since when a message is being received.
    pub(super) fn since(&self) -> Option<Instant> {
        lock(&self.state).since
    }

    /// Returns true if there is room for what was read.
    pub(super) fn read(&self, bytes: usize) -> bool {
        let mut state = lock(&self.state);
        state.since.get_or_insert_with(Instant::now);
        let held = state.share.bytes() + bytes;
        state.share.hold(held)
    }
}

impl State {
    /// So many bytes, if there are so many, count no longer.
    fn forget(&mut self, bytes: usize) {
        let left = self.share.bytes().saturating_sub(bytes);
        self.share.hold(left);
        self.since.take_if(|_| left == 0);
    }
}

impl<S> Counted<S> {
    pub(super) fn new(stream: S, begun: Begun) -> Self {
        Self { stream, begun }
    }
}

impl<S> Drop for Counted<S> {
    fn drop(&mut self) {
        self.begun.complete();
    }
}

impl<S: AsyncRead + Unpin> AsyncRead for Counted<S> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buf: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let before = buf.filled().len();
        ready!(Pin::new(&mut self.stream).poll_read(cx, buf))?;
        let bytes = buf.filled().len() - before;
        if bytes > 0 && !self.begun.read(bytes) {
            return Poll::Ready(Err(io::Error::new(io::ErrorKind::OutOfMemory, TOO_MANY)));
        }
        Poll::Ready(Ok(()))
    }
}

impl<S: AsyncWrite + Unpin> AsyncWrite for Counted<S> {
    fn poll_write(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buf: &[u8],
    ) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.stream).poll_write(cx, buf)
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_flush(cx)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_shutdown(cx)
    }
}

#[cfg(test)]
mod tests {
    use tokio::io::AsyncReadExt;

    use super::*;

    #[tokio::test]
    async fn what_is_complete_counts_no_longer() {
        let budget = budget();
        let begun = Begun::new(&budget);
        let mut counted = Counted::new(&b"abcdef"[..], begun.clone());
        assert_eq!(begun.since(), None);
        let mut buffer = [0; 4];
        counted.read_exact(&mut buffer).await.unwrap();
        assert_eq!(budget.held(), 4);
        assert!(begun.since().is_some());
        begun.complete();
        assert_eq!(budget.held(), 0);
        counted.read_exact(&mut buffer[..2]).await.unwrap();
        drop(counted);
        assert_eq!(budget.held(), 0);
    }

    #[test]
    fn a_control_frame_in_a_message_leaves_it_counted_and_timed() {
        let budget = budget();
        let used = || budget.held();
        let begun = Begun::new(&budget);
        assert!(begun.read(1000));
        let since = begun.since();
        for payload in [0, 4, 125] {
            assert!(begun.read(payload + CONTROL_HEAD));
            begun.complete_control(payload);
            assert_eq!((used(), begun.since()), (1000, since), "{payload}");
        }
        begun.complete();
        // Between messages nothing is left of it, in however many pieces it came, or if it came with the message.
        assert!(begun.read(3) && begun.read(3));
        begun.complete_control(0);
        begun.complete_control(125);
        assert_eq!((used(), begun.since()), (0, None));
        assert!(begun.clone().read(7));
        drop(begun);
        assert_eq!(used(), 0);
    }

    #[tokio::test]
    async fn all_together_may_not_begin_more_than_there_is_room_for() {
        let budget = budget();
        let other = Begun::new(&budget);
        assert!(other.read(MAX_UNFINISHED - 1));
        let mut counted = Counted::new(&b"abc"[..], Begun::new(&budget));
        let error = counted.read_u16().await.unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::OutOfMemory);
        other.complete();
        assert_eq!(counted.read_u8().await.unwrap(), b'c');
    }
}
