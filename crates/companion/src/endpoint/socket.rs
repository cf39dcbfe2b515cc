//! An accepted connection, which reports to its [`Wire`] what becomes of what it sends.

use std::io::{self, IoSlice};
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};

use super::listener::Accepted;
use crate::wire::Wire;

pub(super) struct Socket {
    stream: Accepted,
    wire: Arc<Wire>,
    is_reset: bool,
    is_shut_down: bool,
}

impl Socket {
    pub(super) fn new(stream: Accepted, wire: Arc<Wire>) -> Self {
        Self {
            stream,
            wire,
            is_reset: false,
            is_shut_down: false,
        }
    }

    fn note<T>(&mut self, result: io::Result<T>) -> io::Result<T> {
        if let Err(error) = &result {
            self.is_reset |= is_reset(error);
        }
        result
    }

    fn wrote(&mut self, result: io::Result<usize>) -> io::Result<usize> {
        if let Ok(bytes) = result {
            self.wire.sent(bytes);
        }
        self.note(result)
    }
}

/// An end that closed in order first and was sent more afterwards gives another error.
fn is_reset(error: &io::Error) -> bool {
    error.kind() == io::ErrorKind::ConnectionReset
}

impl Drop for Socket {
    fn drop(&mut self) {
        if let Ok(Some(error)) = self.stream.take_error() {
            self.is_reset |= is_reset(&error);
        }
        // The end itself counts as a byte until it is acknowledged.
        let end = u64::from(self.is_shut_down);
        let unacknowledged = self.stream.outstanding().saturating_sub(end);
        self.wire.end(unacknowledged, self.is_reset);
    }
}

impl AsyncRead for Socket {
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buf: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let result = ready!(Pin::new(&mut self.stream).poll_read(cx, buf));
        Poll::Ready(self.note(result))
    }
}

impl AsyncWrite for Socket {
    fn poll_write(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buf: &[u8],
    ) -> Poll<io::Result<usize>> {
        let result = ready!(Pin::new(&mut self.stream).poll_write(cx, buf));
        Poll::Ready(self.wrote(result))
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        bufs: &[IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        let result = ready!(Pin::new(&mut self.stream).poll_write_vectored(cx, bufs));
        Poll::Ready(self.wrote(result))
    }

    fn is_write_vectored(&self) -> bool {
        self.stream.is_write_vectored()
    }

    /// Called by HTTP when it has nothing left to write.
    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        let result = ready!(Pin::new(&mut self.stream).poll_flush(cx));
        if result.is_ok() {
            self.wire.flushed();
        }
        Poll::Ready(result)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        self.is_shut_down = true;
        Pin::new(&mut self.stream).poll_shutdown(cx)
    }
}
