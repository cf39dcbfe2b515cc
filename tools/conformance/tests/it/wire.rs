//! HTTP by hand, one request for each connection: a library would not let a companion be wrong.

use std::collections::BTreeMap;
use std::io::{self, BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::os::unix::net::UnixStream;

/// A connection.
pub trait Stream: Read + Write + Sized {
    fn cloned(&self) -> io::Result<Self>;
}

impl Stream for TcpStream {
    fn cloned(&self) -> io::Result<Self> {
        self.try_clone()
    }
}

impl Stream for UnixStream {
    fn cloned(&self) -> io::Result<Self> {
        self.try_clone()
    }
}

pub struct Request<S = TcpStream> {
    pub method: String,
    pub path: String,
    pub query: String,
    pub headers: BTreeMap<String, String>,
    pub body: Vec<u8>,
    pub stream: S,
}

/// The limits of reading a request.
pub struct Reading<S> {
    /// The longest head.
    pub head: usize,
    /// Returns true if a request with this head is worth reading its body.
    pub wants_body: fn(&Request<S>) -> bool,
    /// Returns true if bodies without a length are read.
    pub chunks: bool,
}

impl<S: Stream> Request<S> {
    pub fn read(stream: S) -> io::Result<Self> {
        let all = Reading {
            head: usize::MAX,
            wants_body: |_| true,
            chunks: true,
        };
        Self::read_as(stream, &all)
    }

    pub fn read_as(stream: S, reading: &Reading<S>) -> io::Result<Self> {
        let mut reader = BufReader::new(stream.cloned()?);
        let mut line = String::new();
        reader.read_line(&mut line)?;
        let mut words = line.split_whitespace();
        let mut word = || words.next().unwrap_or_default().to_owned();
        let (method, target) = (word(), word());
        let (path, query) = target.split_once('?').unwrap_or((&target, ""));
        let mut request = Self {
            path: path.to_owned(),
            query: query.to_owned(),
            method,
            headers: BTreeMap::new(),
            body: Vec::new(),
            stream,
        };
        let mut length = 0;
        loop {
            let mut line = String::new();
            length += reader.read_line(&mut line)?;
            if length > reading.head {
                return Err(io::Error::other("the head is too long"));
            }
            let Some((name, value)) = line.trim_end().split_once(':') else {
                break;
            };
            let name = name.to_ascii_lowercase();
            request.headers.insert(name, value.trim().to_owned());
        }
        if !(reading.wants_body)(&request) {
            return Ok(request);
        }
        let length = request.header("content-length").map(str::parse);
        let length = length.transpose().map_err(io::Error::other)?.unwrap_or(0);
        request.body = vec![0; length];
        reader.read_exact(&mut request.body)?;
        if request.header("transfer-encoding") == Some("chunked") && reading.chunks {
            request.body = chunks(&mut reader)?;
        }
        Ok(request)
    }

    pub fn header(&self, name: &str) -> Option<&str> {
        self.headers.get(name).map(String::as_str)
    }

    /// Answers with a status and a body, and more headers if there are any.
    pub fn answer(mut self, status: u16, headers: &str, body: &str) -> io::Result<()> {
        let length = body.len();
        write!(
            self.stream,
            "HTTP/1.1 {status} X\r\nContent-Length: {length}\r\nConnection: close\r\n{headers}\r\n"
        )?;
        self.stream.write_all(body.as_bytes())
    }

    /// Answers with one JSON message.
    pub fn json(self, headers: &str, body: &str) -> io::Result<()> {
        let headers = format!("Content-Type: application/json\r\n{headers}");
        self.answer(200, &headers, body)
    }

    /// Answers with one message as an event stream.
    pub fn event(self, body: &str) -> io::Result<()> {
        let headers = "Content-Type: text/event-stream\r\n";
        self.answer(200, headers, &format!("data: {body}\n\n"))
    }

    /// Begins a stream that ends with its connection.
    pub fn begin_stream(mut self, media_type: &str) -> io::Result<S> {
        write!(
            self.stream,
            "HTTP/1.1 200 OK\r\nContent-Type: {media_type}\r\nConnection: close\r\n\r\n"
        )?;
        Ok(self.stream)
    }
}

fn chunks(reader: &mut impl BufRead) -> io::Result<Vec<u8>> {
    let mut body = Vec::new();
    loop {
        let mut line = String::new();
        reader.read_line(&mut line)?;
        let length = usize::from_str_radix(line.trim_end(), 16).map_err(io::Error::other)?;
        let mut chunk = vec![0; length + 2];
        reader.read_exact(&mut chunk)?;
        if length == 0 {
            return Ok(body);
        }
        body.extend_from_slice(&chunk[..length]);
    }
}
