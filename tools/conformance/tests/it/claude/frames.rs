//! WebSocket frames by hand: a library would not let a companion be wrong.

use std::io::{self, Read, Write};
use std::net::TcpStream;

pub const CONTINUATION: u8 = 0;
pub const TEXT: u8 = 1;
pub const BINARY: u8 = 2;
pub const CLOSE: u8 = 8;
pub const PING: u8 = 9;
pub const PONG: u8 = 10;

pub struct Frame {
    pub is_last: bool,
    pub opcode: u8,
    pub is_masked: bool,
    pub payload: Vec<u8>,
}

impl Frame {
    pub fn read(stream: &mut TcpStream) -> io::Result<Self> {
        let mut head = [0; 2];
        stream.read_exact(&mut head)?;
        let is_masked = head[1] & 0x80 != 0;
        let mut length = u64::from(head[1] & 0x7f);
        if length == 126 {
            let mut bytes = [0; 2];
            stream.read_exact(&mut bytes)?;
            length = u16::from_be_bytes(bytes).into();
        } else if length == 127 {
            let mut bytes = [0; 8];
            stream.read_exact(&mut bytes)?;
            length = u64::from_be_bytes(bytes);
        }
        let mut mask = [0; 4];
        if is_masked {
            stream.read_exact(&mut mask)?;
        }
        let mut payload = vec![0; usize::try_from(length).map_err(io::Error::other)?];
        stream.read_exact(&mut payload)?;
        for (byte, mask) in payload.iter_mut().zip(mask.iter().cycle()) {
            *byte ^= mask;
        }
        Ok(Self {
            is_last: head[0] & 0x80 != 0,
            opcode: head[0] & 0x0f,
            is_masked,
            payload,
        })
    }
}

pub fn write(stream: &mut TcpStream, opcode: u8, payload: &[u8]) -> io::Result<()> {
    let mut bytes = vec![0x80 | opcode];
    match payload.len() {
        length @ 0..126 => bytes.push(u8::try_from(length).unwrap()),
        length @ 126..65_536 => {
            bytes.push(126);
            bytes.extend(u16::try_from(length).unwrap().to_be_bytes());
        }
        length => {
            bytes.push(127);
            bytes.extend((length as u64).to_be_bytes());
        }
    }
    bytes.extend(payload);
    stream.write_all(&bytes)
}
