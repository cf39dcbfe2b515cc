//! What was read of messages that are not complete yet, on all WebSockets together: a message may be as
//! long as a file, and there may be many who begin one.

use std::io;
use std::pin::Pin;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll, ready};
use std::time::Instant;

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};

/// The longest message that is read.
pub(super) const MAX_MESSAGE: usize = 64 * 1024 * 1024;

/// How much all unfinished messages may come to: four of the longest.
const MAX_UNFINISHED: usize = 4 * MAX_MESSAGE;

/// What all connections share.
#[derive(Debug, Clone, Default)]
pub(in crate::endpoint) struct Budget {
    used: Arc<AtomicUsize>,
}

/// What one connection has begun.
#[derive(Debug, Clone, Default)]
pub(super) struct Begun {
    state: Arc<Mutex<State>>,
    budget: Budget,
}

#[derive(Debug, Default)]
struct State {
    bytes: usize,
    since: Option<Instant>,
}

/// A connection whose bytes are counted until a message is complete.
pub(super) struct Counted<S> {
    stream: S,
    begun: Begun,
}

impl Begun {
    pub(super) fn new(budget: Budget) -> Self {
        Self {
            state: Arc::default(),
            budget,
        }
    }

    /// A message is complete.
    pub(super) fn complete(&self) {
        let mut state = self.lock();
        self.budget.used.fetch_sub(state.bytes, Ordering::Relaxed);
        *state = State::default();
    }

    /// Since when a message is being received.
    pub(super) fn since(&self) -> Option<Instant> {
        self.lock().since
    }

    /// Whether there is room for what was read.
    fn read(&self, bytes: usize) -> bool {
        let mut state = self.lock();
        state.bytes += bytes;
        state.since.get_or_insert_with(Instant::now);
        let before = self.budget.used.fetch_add(bytes, Ordering::Relaxed);
        before + bytes <= MAX_UNFINISHED
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        let state = self.state.lock();
        state.unwrap_or_else(PoisonError::into_inner)
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
            let text = "too many long messages at once";
            return Poll::Ready(Err(io::Error::new(io::ErrorKind::OutOfMemory, text)));
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
        let budget = Budget::default();
        let begun = Begun::new(budget.clone());
        let mut counted = Counted::new(&b"abcdef"[..], begun.clone());
        assert_eq!(begun.since(), None);
        let mut buffer = [0; 4];
        counted.read_exact(&mut buffer).await.unwrap();
        assert_eq!(budget.used.load(Ordering::Relaxed), 4);
        assert!(begun.since().is_some());
        begun.complete();
        assert_eq!(budget.used.load(Ordering::Relaxed), 0);
        counted.read_exact(&mut buffer[..2]).await.unwrap();
        drop(counted);
        assert_eq!(budget.used.load(Ordering::Relaxed), 0);
    }

    #[tokio::test]
    async fn all_together_may_not_begin_more_than_there_is_room_for() {
        let budget = Budget::default();
        let other = Begun::new(budget.clone());
        assert!(other.read(MAX_UNFINISHED - 1));
        let mut counted = Counted::new(&b"abc"[..], Begun::new(budget.clone()));
        let error = counted.read_u16().await.unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::OutOfMemory);
        other.complete();
        assert_eq!(counted.read_u8().await.unwrap(), b'c');
    }
}
