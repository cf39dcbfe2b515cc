//! Sockets in a private folder, where the system has none by path: a port of loopback, and a secret that only who can
//! read the file beside it knows.

use std::io::{self, Read, Write};
use std::net::{Ipv4Addr, TcpListener};
use std::time::Duration;

use super::Folder;
use crate::private_file::{FileError, random_name};
use pillion_protocol::Token;

pub use std::net::TcpStream as Stream;

/// The number of characters of the secret.
const SECRET: usize = 64;

/// The time limit for a connection to present it.
const PRESENTED_WITHIN: Duration = Duration::from_secs(1);

/// The most that such a file holds.
const MAX_FILE: u64 = 256;

/// A port that is listened on.
#[derive(Debug)]
pub struct Listener {
    listener: TcpListener,
    secret: Token,
}

impl Listener {
    /// Waits for the next connection.
    ///
    /// # Errors
    /// When the system refuses.
    pub fn accept(&self) -> io::Result<Stream> {
        self.listener.accept().map(|(stream, _)| stream)
    }

    /// Returns true if the other end presents the secret. Waits for that, but not for long.
    pub fn admits(&self, stream: &Stream) -> bool {
        let mut presented = [0; SECRET];
        let mut stream = stream;
        let is_read = stream
            .set_read_timeout(Some(PRESENTED_WITHIN))
            .and_then(|()| stream.read_exact(&mut presented))
            .and_then(|()| stream.set_read_timeout(None));
        is_read.is_ok() && self.secret.matches(&presented)
    }

    /// A second handle for the same port.
    ///
    /// # Errors
    /// When the system refuses.
    pub fn try_clone(&self) -> io::Result<Self> {
        Ok(Self {
            listener: self.listener.try_clone()?,
            secret: self.secret.clone(),
        })
    }
}

impl Folder {
    /// Listens on a new port, and writes the file `name` that leads there.
    ///
    /// # Errors
    /// When something else has that name, or when the system refuses.
    pub fn listen(&self, name: &str) -> Result<Listener, FileError> {
        let failed = |error| FileError::io("listen on", &self.path.join(name), error);
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).map_err(failed)?;
        let port = listener.local_addr().map_err(failed)?.port();
        let secret = random_name::<{ SECRET / 2 }>("").map_err(failed)?;
        self.write(name, format!("{port} {secret}").as_bytes())?;
        let secret = Token::from(secret);
        Ok(Listener { listener, secret })
    }

    /// Connects to where the file `name` leads.
    ///
    /// # Errors
    /// When it is a link or no such file, or when nothing listens there.
    pub fn connect(&self, name: &str) -> Result<Stream, FileError> {
        let path = self.path.join(name);
        let content = self.read(name, MAX_FILE)?.unwrap_or_default();
        let content = String::from_utf8_lossy(&content);
        let parsed = content.split_once(' ').and_then(|(port, secret)| {
            let port: u16 = port.parse().ok()?;
            Some((port, secret))
        });
        let Some((port, secret)) = parsed else {
            return Err(FileError::NotASocket(path));
        };
        let failed = |error| FileError::io("connect to", &path, error);
        let mut stream = Stream::connect((Ipv4Addr::LOCALHOST, port)).map_err(failed)?;
        stream.write_all(secret.as_bytes()).map_err(failed)?;
        Ok(stream)
    }

    /// Returns true if the file `name` is there.
    pub fn has_socket(&self, name: &str) -> bool {
        self.read(name, MAX_FILE).is_ok_and(|file| file.is_some())
    }
}
