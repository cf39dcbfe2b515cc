//! HTTP by hand, one request for each connection: a library would not let a companion be wrong.

use std::collections::BTreeMap;
use std::io::{self, BufRead, BufReader, Read, Write};
use std::net::TcpStream;

pub struct Request {
    pub method: String,
    pub path: String,
    pub query: String,
    pub headers: BTreeMap<String, String>,
    pub body: Vec<u8>,
    pub stream: TcpStream,
}

impl Request {
    pub fn read(stream: TcpStream) -> io::Result<Self> {
        let mut reader = BufReader::new(stream.try_clone()?);
        let mut line = String::new();
        reader.read_line(&mut line)?;
        let mut words = line.split_whitespace();
        let mut word = || words.next().unwrap_or_default().to_owned();
        let (method, target) = (word(), word());
        let (path, query) = target.split_once('?').unwrap_or((&target, ""));
        let mut headers = BTreeMap::new();
        loop {
            let mut line = String::new();
            reader.read_line(&mut line)?;
            let Some((name, value)) = line.trim_end().split_once(':') else {
                break;
            };
            headers.insert(name.to_ascii_lowercase(), value.trim().to_owned());
        }
        let length = headers.get("content-length").map(|length| length.parse());
        let mut body = vec![0; length.transpose().map_err(io::Error::other)?.unwrap_or(0)];
        reader.read_exact(&mut body)?;
        Ok(Self {
            path: path.to_owned(),
            query: query.to_owned(),
            method,
            headers,
            body,
            stream,
        })
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
    pub fn begin_stream(mut self, media_type: &str) -> io::Result<TcpStream> {
        write!(
            self.stream,
            "HTTP/1.1 200 OK\r\nContent-Type: {media_type}\r\nConnection: close\r\n\r\n"
        )?;
        Ok(self.stream)
    }
}
