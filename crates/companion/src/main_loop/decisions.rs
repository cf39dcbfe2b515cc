//! What the loop does when a person has decided: the gate rules, once the file was looked at.

use std::sync::Arc;
use std::time::Instant;

use pillion_protocol::{Decision, Outcome, Verdict};

use super::MainLoop;
use crate::acceptance::Finding;
use crate::diffs::Action;
use crate::editor::Reply;
use crate::feedback;
use crate::gate::{Decide, Refusal, Ruling};
use crate::pending::ProposalKey;

impl MainLoop {
    pub(super) fn decided(&mut self, mut decide: Decide, reply: Reply<Ruling>, now: Instant) {
        if let Err(stale) = self.diffs.check_current(decide.key) {
            return reply.done(Ruling::stale(stale));
        }
        if let Err(bytes) = decide.verdict.tidy_notes() {
            return refuse(decide.key, Refusal::too_long(bytes), reply);
        }
        if let Err(refusal) = self.gate.look(&decide, now) {
            return refuse(decide.key, refusal, reply);
        }
        let decide = Arc::new(decide);
        match self.diffs.acceptance(&decide, &self.roots) {
            Some(acceptance) => {
                self.weighing += 1;
                self.checks.weigh(acceptance, reply);
            }
            None => self.settle(decide, reply),
        }
    }

    pub(super) fn weighed(
        &mut self,
        decide: Arc<Decide>,
        finding: Finding,
        reply: Reply<Ruling>,
        now: Instant,
    ) {
        self.weighing -= 1;
        // The agent may have taken it away meanwhile, or replaced it.
        if let Err(stale) = self.diffs.check_current(decide.key) {
            return reply.done(Ruling::stale(stale));
        }
        let Finding {
            doubts,
            on_disk,
            fingerprint,
        } = finding;
        if let Err(refusal) = self.gate.ask(decide.key, &fingerprint, doubts, now) {
            return refuse(decide.key, refusal, reply);
        }
        if let Some(on_disk) = on_disk {
            self.diffs.note_on_disk(decide.key.id, on_disk);
        }
        self.settle(decide, reply);
    }

    fn settle(&mut self, decide: Arc<Decide>, reply: Reply<Ruling>) {
        // A disk that hangs may still hold it.
        let decide = Arc::unwrap_or_clone(decide);
        let ProposalKey { id, revision } = decide.key;
        let Verdict { decision, notes } = decide.verdict;
        let outcome = match decision {
            Decision::Accept { content } => {
                let proposed = || {
                    self.diffs
                        .proposed(id)
                        .map_or_else(String::new, |text| text.to_string())
                };
                let content = content.unwrap_or_else(proposed);
                let base = decide.base;
                Outcome::Accepted { content, base }
            }
            Decision::Reject => Outcome::Rejected,
        };
        let left_over = feedback::left_over(&notes);
        self.diffs.note(id, notes);
        let actions = self.diffs.resolved(id, revision, outcome);
        let told = actions.iter().find_map(Action::told).or(left_over);
        self.perform(actions);
        reply.done(Ruling::Settled(told));
    }
}

fn refuse(key: ProposalKey, refusal: Refusal, reply: Reply<Ruling>) {
    tracing::info!(%key, code = refusal.code, "decision refused");
    reply.done(Ruling::Refused(refusal));
}
