//! The figures that are measured, and how.

use std::collections::BTreeMap;
use std::time::Duration;
use std::{fs, thread};

use anyhow::{Context, Result};
use serde::Deserialize;
use serde_json::{Map, Value, json};

use super::client::Client;
use super::servers::{Kind, Programs, Server};
use super::{Effort, process, text};

/// The time for which pillion waits after a context change, in milliseconds: the contract asks for it.
pub const DEBOUNCE_MS: f64 = 50.0;

pub const READY: &str = "spawn to ready, p50";
pub const MEMORY_IDLE: &str = "memory, idle";
pub const MEMORY_AFTER_DIFFS: &str = "memory, after the diffs";
pub const MEMORY_100_SESSIONS: &str = "memory, 100 sessions";

/// One line of the table: pillion, floor, reference. A value that one of them cannot have is `None`.
#[derive(Debug)]
pub struct Figure {
    pub name: String,
    pub unit: &'static str,
    pub values: [Option<f64>; 3],
}

impl Figure {
    /// Pillion's, in multiples of the floor's.
    pub fn ratio(&self) -> Option<f64> {
        let [pillion, floor, _] = self.values;
        let floor = floor.filter(|floor| *floor > 0.0)?;
        Some(pillion? / floor)
    }
}

pub fn diff_name(tool: &str, size: usize, part: &str) -> String {
    format!("{tool} {}, {part}", text::name(size))
}

pub fn context_name(sessions: usize, part: &str) -> String {
    format!("context to the last of {sessions} sessions, {part}")
}

pub fn idle_name(idle: Duration) -> String {
    format!("CPU in {} idle seconds", idle.as_secs())
}

#[derive(Debug, Deserialize)]
struct Diffs {
    open: Vec<f64>,
    close: Vec<f64>,
}

#[derive(Debug, Deserialize)]
struct Burst {
    received: f64,
}

/// Measures everything.
pub fn measure(programs: &Programs, effort: &Effort) -> Result<Vec<Figure>> {
    let mut bench = Bench {
        effort,
        figures: Vec::new(),
        servers: Vec::new(),
    };
    bench.starts(programs)?;
    for kind in Kind::ALL {
        bench.servers.push(programs.start(kind)?);
    }
    let mut client = Client::start(&programs.node)?;
    bench.introduce(&mut client, programs)?;
    // Whatever starting left to do is done by then.
    thread::sleep(Duration::from_secs(1));
    bench.memory(MEMORY_IDLE);
    bench.sessions(&mut client, 1)?;
    bench.diffs(&mut client)?;
    bench.burst(&mut client)?;
    bench.idle();
    for count in [1, 10, 100] {
        bench.sessions(&mut client, count)?;
        bench.context(&mut client, count)?;
    }
    bench.memory(MEMORY_100_SESSIONS);
    bench.size(programs)?;
    Ok(bench.figures)
}

struct Bench<'a> {
    effort: &'a Effort,
    figures: Vec<Figure>,
    /// In the order of [`Kind::ALL`].
    servers: Vec<Server>,
}

impl Bench<'_> {
    fn add(&mut self, name: impl Into<String>, unit: &'static str, values: [Option<f64>; 3]) {
        let name = name.into();
        self.figures.push(Figure { name, unit, values });
    }

    /// Takes a figure of every server.
    fn per_server(&self, figure: impl Fn(&Server) -> Option<f64>) -> [Option<f64>; 3] {
        let mut figures = self.servers.iter().map(figure);
        [(); 3].map(|()| figures.next().flatten())
    }

    fn starts(&mut self, programs: &Programs) -> Result<()> {
        let mut took: [Vec<f64>; 3] = Default::default();
        for _ in 0..self.effort.starts {
            // What the one before left, because it was killed, would have to be swept first.
            programs.prepare()?;
            for (kind, took) in Kind::ALL.into_iter().zip(&mut took) {
                took.push(milliseconds(programs.start(kind)?.ready));
            }
        }
        let medians = took.map(|took| quantile(took, 0.5));
        self.add(READY, "ms", medians);
        Ok(())
    }

    fn introduce(&self, client: &mut Client, programs: &Programs) -> Result<()> {
        let texts = text::SIZES.map(|size| (size.to_string(), Value::String(text::of(size))));
        let targets: Vec<_> = self.servers.iter().map(Server::target).collect();
        let start = json!({
            "do": "start",
            "targets": targets,
            "file": programs.workspace().1,
            "texts": Map::from_iter(texts),
        });
        client.ask::<Value>(&start).map(drop)
    }

    fn sessions(&self, client: &mut Client, count: usize) -> Result<()> {
        let sessions = json!({"do": "sessions", "count": count});
        client.ask::<Value>(&sessions).map(drop)
    }

    fn memory(&mut self, name: &str) {
        let values = self.per_server(resident);
        self.add(name, "MB", values);
    }

    /// Pillion and the floor first, call by call, then the reference: its runtime goes on working after
    /// an answer.
    fn diffs(&mut self, client: &mut Client) -> Result<()> {
        let mut took = text::SIZES.map(|_| BTreeMap::<String, Diffs>::new());
        let mut memory = [None; 3];
        for group in [&[Kind::Pillion, Kind::Floor][..], &[Kind::Reference]] {
            let names: Vec<_> = group.iter().map(|kind| kind.name()).collect();
            let sizes = text::SIZES.into_iter().zip(self.effort.diffs);
            for ((size, rounds), took) in sizes.zip(&mut took) {
                let diffs = json!({"do": "diffs", "names": names, "size": size, "rounds": rounds});
                took.append(&mut client.ask(&diffs)?);
            }
            for (server, memory) in self.servers.iter().zip(&mut memory) {
                if group.contains(&server.kind) {
                    *memory = resident(server);
                }
            }
        }
        for (size, took) in text::SIZES.into_iter().zip(took) {
            self.add_diffs(size, took);
        }
        self.add(MEMORY_AFTER_DIFFS, "MB", memory);
        Ok(())
    }

    fn add_diffs(&mut self, size: usize, mut took: BTreeMap<String, Diffs>) {
        let took = Kind::ALL.map(|kind| took.remove(kind.name()));
        let opened = took
            .each_ref()
            .map(|took| took.as_ref().map(|took| &took.open));
        let closed = took
            .each_ref()
            .map(|took| took.as_ref().map(|took| &took.close));
        for (tool, took) in [("openDiff", opened), ("closeDiff", closed)] {
            for (name, part) in [("p50", 0.5), ("p99", 0.99)] {
                let values = took.map(|took| quantile(took?.clone(), part));
                self.add(diff_name(tool, size, name), "ms", values);
            }
        }
    }

    fn context(&mut self, client: &mut Client, sessions: usize) -> Result<()> {
        let context = json!({"do": "context", "rounds": self.effort.contexts});
        let took: BTreeMap<String, Vec<f64>> = client.ask(&context)?;
        for (name, part) in [("p50", 0.5), ("p99", 0.99)] {
            let values = Kind::ALL.map(|kind| {
                let took = took.get(kind.name())?;
                Some(quantile(took.clone(), part)? - DEBOUNCE_MS)
            });
            self.add(context_name(sessions, name), "ms", values);
        }
        Ok(())
    }

    fn burst(&mut self, client: &mut Client) -> Result<()> {
        let changes = self.effort.changes;
        let (mut received, mut spent) = ([None; 3], [None; 3]);
        for (at, server) in self.servers.iter().enumerate() {
            let burst = json!({"do": "burst", "name": server.kind.name(), "changes": changes});
            let before = processor_time(server);
            let answer: Burst = client.ask(&burst)?;
            let after = processor_time(server);
            received[at] = (server.kind != Kind::Floor).then_some(answer.received);
            spent[at] = difference(before, after);
        }
        self.add(format!("{changes} context changes: sent"), "", received);
        self.add(format!("{changes} context changes: CPU"), "ms", spent);
        Ok(())
    }

    fn idle(&mut self) {
        let spent = || -> Vec<_> { self.servers.iter().map(processor_time).collect() };
        let before = spent();
        thread::sleep(self.effort.idle);
        let mut spent = before.into_iter().zip(spent());
        let values = [(); 3].map(|()| spent.next().and_then(|(a, b)| difference(a, b)));
        self.add(idle_name(self.effort.idle), "ms", values);
    }

    fn size(&mut self, programs: &Programs) -> Result<()> {
        let size = |kind| {
            let metadata = fs::metadata(programs.executable(kind));
            let metadata = metadata.context("cannot see how large a program is")?;
            anyhow::Ok(Some(megabytes(metadata.len())))
        };
        // The floor is a part of this program.
        let values = [size(Kind::Pillion)?, None, size(Kind::Reference)?];
        self.add("binary", "MB", values);
        Ok(())
    }
}

/// Of all its processes together.
fn resident(server: &Server) -> Option<f64> {
    let all: Option<Vec<_>> = server.pids().map(process::resident).collect();
    Some(megabytes(all?.into_iter().sum()))
}

/// Of all its processes together.
fn processor_time(server: &Server) -> Option<Duration> {
    let all: Option<Vec<_>> = server.pids().map(process::processor_time).collect();
    Some(all?.into_iter().sum())
}

fn difference(before: Option<Duration>, after: Option<Duration>) -> Option<f64> {
    Some(milliseconds(after?.saturating_sub(before?)))
}

pub fn milliseconds(duration: Duration) -> f64 {
    duration.as_secs_f64() * 1000.0
}

#[expect(clippy::cast_precision_loss, reason = "a few megabytes")]
fn megabytes(bytes: u64) -> f64 {
    bytes as f64 / (1024.0 * 1024.0)
}

/// The smallest value that `part` of the values do not exceed.
pub fn quantile(mut values: Vec<f64>, part: f64) -> Option<f64> {
    values.sort_by(f64::total_cmp);
    let count = (part * values.len() as f64).ceil() as usize;
    values.get(count.saturating_sub(1)).copied()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quantiles_are_values_that_occurred() {
        let values: Vec<_> = (1..=200).rev().map(f64::from).collect();
        assert_eq!(quantile(values.clone(), 0.5), Some(100.0));
        assert_eq!(quantile(values, 0.99), Some(198.0));
        assert_eq!(quantile(vec![7.0], 0.5), Some(7.0));
        assert_eq!(quantile(Vec::new(), 0.5), None);
    }
}
