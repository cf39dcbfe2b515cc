//! The output of `pillion doctor --json`.

use serde::Serialize;

use super::Examination;
use super::finding::Finding;

/// The whole answer.
#[derive(Debug, Serialize)]
pub struct Report<'a> {
    agents: Vec<Agent<'a>>,
}

#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
struct Agent<'a> {
    name: &'a str,
    /// None if it is not installed, or does not tell.
    version: Option<String>,
    /// None if it opens no session, and the question is none.
    would_connect: Option<bool>,
    /// The one that it connects to, or that shows its changes.
    companion: Option<Companion<'a>>,
    findings: &'a [Finding],
}

#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
struct Companion<'a> {
    port: u16,
    display_name: &'a str,
    workspace: Vec<String>,
}

impl<'a> Report<'a> {
    /// The report of these, in this order.
    pub fn new(examinations: &'a [Examination]) -> Self {
        Self {
            agents: examinations.iter().map(Agent::new).collect(),
        }
    }
}

impl<'a> Agent<'a> {
    fn new(examination: &'a Examination) -> Self {
        let facts = &examination.facts;
        Self {
            name: facts.agent().name(),
            version: facts.program.version.map(|version| version.to_string()),
            would_connect: facts
                .agent()
                .opens_session()
                .then(|| examination.has_no_problem()),
            companion: facts.companion().map(|companion| Companion {
                port: companion.port,
                display_name: companion.display_name(),
                workspace: companion.shown_roots(),
            }),
            findings: &examination.findings,
        }
    }
}
