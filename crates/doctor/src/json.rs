//! What `pillion doctor --json` prints.

use serde::Serialize;

use super::Examination;
use super::finding::Level;

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
    would_connect: bool,
    /// The one that it connects to.
    companion: Option<Companion<'a>>,
    findings: Vec<Finding<'a>>,
}

#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
struct Companion<'a> {
    port: u16,
    display_name: &'a str,
    workspace: Vec<String>,
}

#[derive(Debug, Serialize)]
struct Finding<'a> {
    id: &'a str,
    level: Level,
    what: &'a str,
    why: &'a str,
    fix: Option<&'a str>,
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
        let finding = |finding: &'a super::Finding| Finding {
            id: finding.id.as_str(),
            level: finding.level,
            what: &finding.what,
            why: &finding.why,
            fix: finding.fix.as_deref(),
        };
        Self {
            name: facts.agent().name(),
            version: facts.program.version.map(|version| version.to_string()),
            would_connect: examination.would_connect(),
            companion: facts.companion().map(|companion| Companion {
                port: companion.port,
                display_name: companion.display_name(),
                workspace: companion
                    .roots
                    .iter()
                    .map(|root| root.display().to_string())
                    .collect(),
            }),
            findings: examination.findings.iter().map(finding).collect(),
        }
    }
}
