//! Companions with a flaw each, side by side.

use std::collections::VecDeque;
use std::sync::Mutex;
use std::thread;

use companion_conformance::Report;

use crate::examined::{self, failed};

/// The number of companions that are checked at once. They mostly wait.
const AT_ONCE: usize = 32;

/// The sections whose rules watch what a companion does while others are examined.
const WATCHING: [&str; 5] = ["C1.1", "C2.5", "C5.9", "K9", "P9"];

/// Returns true if a companion with this flaw is examined by this rule: by all of them, but who breaks a rule in
/// another way (`rule/way`) by those of the same section alone, as all of them take the longest time of all tests.
pub fn is_examined(flaw: &str, rule: &str) -> bool {
    let broken = section(flaw);
    let is_variant = flaw.contains('/') && !flaw.starts_with("none/");
    !is_variant || WATCHING.contains(&broken) || broken == section(rule)
}

/// The part of a rule's or a flaw's id that names its section.
fn section(id: &str) -> &str {
    id.split('-').next().unwrap_or_default()
}

/// The flaws that were not caught by the row of their rule, or also by others, each with the rows that failed. With the
/// variable `FLAW`, of those that begin so.
pub fn uncaught(
    flaws: impl IntoIterator<Item = &'static str>,
    report: impl Fn(&'static str) -> Report + Sync,
) -> Vec<(&'static str, Vec<String>)> {
    let only = std::env::var("FLAW").unwrap_or_default();
    let flaws = flaws.into_iter().filter(|flaw| flaw.starts_with(&only));
    let reports = reports(flaws, |flaw| failed(&report(flaw)));
    let is_uncaught = |(flaw, failed): &(&'static str, Vec<String>)| {
        let rule = flaw.split('/').next().unwrap_or(flaw);
        !matches!(&failed[..], [one] if one.starts_with(&format!("{rule}: ")))
    };
    reports.into_iter().filter(is_uncaught).collect()
}

/// The ways with which a rule was not passed, each with the rows that were not.
pub fn unpassed(
    ways: impl IntoIterator<Item = &'static str>,
    report: impl Fn(&'static str) -> Report + Sync,
) -> Vec<(&'static str, Vec<String>)> {
    let mut reports = reports(ways, |way| examined::unpassed(&report(way)));
    reports.retain(|(_, rows)| !rows.is_empty());
    reports
}

/// The reports of `examine`, one for each flaw.
fn reports<T: Send>(
    flaws: impl IntoIterator<Item = &'static str>,
    examine: impl Fn(&'static str) -> T + Sync,
) -> Vec<(&'static str, T)> {
    let flaws = Mutex::new(flaws.into_iter().collect::<VecDeque<_>>());
    let found = Mutex::new(Vec::new());
    thread::scope(|scope| {
        for _ in 0..AT_ONCE {
            scope.spawn(|| {
                loop {
                    let Some(flaw) = flaws.lock().unwrap().pop_front() else {
                        return;
                    };
                    let result = examine(flaw);
                    found.lock().unwrap().push((flaw, result));
                }
            });
        }
    });
    found.into_inner().unwrap()
}
