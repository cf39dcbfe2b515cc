//! The companion's Unix socket, for agents that dial no port. A companion does without it where there is none.

#[cfg(unix)]
pub(crate) use self::unix::Socket;

#[cfg(unix)]
mod unix {
    use std::io;
    use std::path::PathBuf;
    use std::time::Duration;

    use pillion_discovery::Environment;
    use pillion_protocol::Address;
    use tokio::net::UnixListener;
    use tokio::time::timeout;

    use crate::endpoint::Listener;
    use crate::tasks;

    /// The time limit for the disk.
    const LISTEN_TIMEOUT: Duration = Duration::from_secs(1);

    /// Dropping it removes it.
    #[derive(Debug)]
    pub(crate) struct Socket(Option<pillion_discovery::Socket>);

    impl Socket {
        /// Listens for the agents of the companion on this port. An error that keeps it from that is logged.
        pub(crate) async fn listen(environment: &Environment, port: u16) -> Self {
            let environment = environment.clone();
            let listening = tasks::spawn_blocking(move || {
                pillion_discovery::Socket::for_agents(&environment, port)
            });
            let socket = match timeout(LISTEN_TIMEOUT, listening).await {
                Ok(Ok(Ok(socket))) => Some(socket),
                Ok(Ok(Err(error))) => {
                    tracing::warn!(%error, "agents that dial a socket will not find this companion");
                    None
                }
                Ok(Err(_)) | Err(_) => {
                    tracing::warn!("no disk answers that could hold a socket");
                    None
                }
            };
            Self(socket)
        }

        pub(crate) fn path(&self) -> Option<PathBuf> {
            self.0.as_ref().map(pillion_discovery::Socket::path)
        }

        /// Returns the listener for connections. To be called within a runtime.
        pub(crate) fn listener(&self) -> Option<(Listener, Address)> {
            let socket = self.0.as_ref()?;
            let listener = || -> io::Result<UnixListener> {
                let listener = socket.listener().as_unix().try_clone()?;
                listener.set_nonblocking(true)?;
                UnixListener::from_std(listener)
            };
            let listener = listener()
                .inspect_err(|error| tracing::warn!(%error, "cannot serve the socket"))
                .ok()?;
            Some((Listener::Unix(listener), Address::Unix(socket.path())))
        }
    }
}

#[cfg(not(unix))]
pub(crate) use self::other::Socket;

#[cfg(not(unix))]
mod other {
    use std::path::PathBuf;

    use pillion_discovery::Environment;
    use pillion_protocol::Address;

    use crate::endpoint::Listener;

    #[derive(Debug)]
    pub(crate) struct Socket;

    impl Socket {
        pub(crate) async fn listen(_: &Environment, _: u16) -> Self {
            Self
        }

        pub(crate) fn path(&self) -> Option<PathBuf> {
            None
        }

        pub(crate) fn listener(&self) -> Option<(Listener, Address)> {
            None
        }
    }
}
