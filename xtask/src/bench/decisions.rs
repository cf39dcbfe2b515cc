//! From a proposal to its decision: what an agent waits for, over HTTP and over a WebSocket, if the person
//! took no time. Both transports and the floor of each take turns call by call.

use std::collections::BTreeMap;
use std::thread;
use std::time::Duration;

use anyhow::Result;
use serde_json::{Map, Value, json};

use super::client::Client;
use super::figures::quantile;
use super::servers::{Kind, Programs};
use super::text;

/// The ways that are compared, by the names that the client gives them.
const WAYS: [&str; 4] = [
    "decider/http",
    "floor/http",
    "decider/websocket",
    "floor/websocket",
];

/// One line of the table.
#[derive(Debug)]
pub struct Figure {
    pub name: String,
    /// Milliseconds over HTTP.
    pub http: Pair,
    /// Milliseconds over a WebSocket.
    pub websocket: Pair,
}

/// A value of pillion's beside the floor's.
#[derive(Debug)]
pub struct Pair {
    pub pillion: f64,
    pub floor: f64,
}

impl Pair {
    pub fn ratio(&self) -> f64 {
        self.pillion / self.floor
    }
}

/// Measures so many rounds for each of [`text::SIZES`].
pub fn measure(programs: &Programs, rounds: &[usize; 4]) -> Result<Vec<Figure>> {
    programs.prepare()?;
    let servers = [programs.start(Kind::Decider)?, programs.start(Kind::Floor)?];
    let mut client = Client::start(&programs.node)?;
    let texts = text::SIZES.map(|size| (size.to_string(), Value::String(text::of(size))));
    client.ask::<Value>(&json!({
        "do": "start",
        "targets": servers.each_ref().map(|server| server.target()),
        "file": programs.workspace().1,
        "texts": Map::from_iter(texts),
    }))?;
    client.ask::<Value>(&json!({"do": "sessions", "count": 1}))?;
    // Whatever starting left to do is done by then.
    thread::sleep(Duration::from_secs(1));
    let mut figures = Vec::new();
    for (size, rounds) in text::SIZES.into_iter().zip(rounds) {
        let decisions = json!({"do": "decisions", "size": size, "rounds": rounds});
        let took: BTreeMap<String, Vec<f64>> = client.ask(&decisions)?;
        for (part, at) in [("p50", 0.5), ("p99", 0.99)] {
            let value = |way: &str| quantile(took.get(way)?.clone(), at);
            let [
                Some(http),
                Some(http_floor),
                Some(websocket),
                Some(websocket_floor),
            ] = WAYS.map(value)
            else {
                anyhow::bail!("nothing was measured");
            };
            let pair = |pillion, floor| Pair { pillion, floor };
            figures.push(Figure {
                name: format!("{}, {part}", text::name(size)),
                http: pair(http, http_floor),
                websocket: pair(websocket, websocket_floor),
            });
        }
    }
    Ok(figures)
}
