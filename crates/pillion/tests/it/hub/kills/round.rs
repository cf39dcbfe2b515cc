//! The events of one round, and Pillion's promises about them.

use std::path::{Path, PathBuf};

use pillion_testkit::client::Update;

/// The blow to the processes while a person decides.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Blow {
    /// SIGKILL for the hub.
    KillHub,
    /// SIGKILL for the hub, and soon after that for the next one.
    KillHubs,
    /// SIGTERM for the hub.
    EndHub,
    /// SIGKILL for the view in which the person decides.
    KillDecider,
    /// SIGKILL for another editor.
    KillOther,
    /// SIGKILL for `pillion serve`.
    KillServe,
    /// The agent is gone.
    CutAgent,
    /// Somebody rejects it with a command.
    Command,
    Nothing,
}

/// The choice of a person.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Choice {
    Accept,
    /// Accepted, with this text.
    Edit(String),
    Reject,
}

/// The answer that the view got.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Answer {
    pub is_settled: bool,
    pub code: Option<String>,
}

/// A decision. Without an answer if who asked was killed before.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Made {
    pub choice: Choice,
    pub answer: Option<Answer>,
}

/// One proposal, and what became of it.
#[derive(Debug)]
pub struct Round {
    pub number: usize,
    pub blow: Blow,
    pub path: PathBuf,
    pub proposed: String,
    /// The decisions of people about it, in the order of the answers.
    pub made: Vec<Made>,
    /// The outcomes that the agent got meanwhile.
    pub outcomes: Vec<Update>,
    /// The agent's connection broke.
    pub is_cut: bool,
    /// The texts that are kept for this file.
    pub kept: Vec<String>,
}

impl Blow {
    /// The agent loses its companion.
    pub fn is_to_hub(self) -> bool {
        matches!(self, Self::KillHub | Self::KillHubs | Self::EndHub)
    }
}

impl Answer {
    /// Why it does not count, if that is certain. `failed` says that nobody is there who could know.
    fn is_refused(&self) -> bool {
        !self.is_settled && self.code.as_deref() != Some("failed")
    }
}

impl Made {
    /// A rejection by a command that ended with this code.
    pub fn by_command(code: Option<i32>) -> Self {
        let is_settled = code == Some(0);
        let code = None;
        Self {
            choice: Choice::Reject,
            answer: Some(Answer { is_settled, code }),
        }
    }

    pub fn is_settled(&self) -> bool {
        self.answer.as_ref().is_some_and(|it| it.is_settled)
    }

    /// It may count, for all that who decided knows.
    fn may_count(&self) -> bool {
        self.answer.as_ref().is_none_or(|it| !it.is_refused())
    }
}

impl Round {
    /// The promises that are broken.
    pub fn broken(&self) -> Vec<String> {
        let settled: Vec<&Made> = self.made.iter().filter(|it| it.is_settled()).collect();
        let mut broken = Vec::new();
        let mut check = |is_so: bool, what: &str| {
            if !is_so {
                broken.push(what.to_owned());
            }
        };
        check(settled.len() <= 1, "two decisions count");
        check(self.outcomes.len() <= 1, "the agent got two outcomes");
        for outcome in &self.outcomes {
            check(
                path_of(outcome) == Some(&self.path),
                "the agent got an outcome of another proposal",
            );
            let mut candidates = self.made.iter().filter(|it| match settled.is_empty() {
                true => it.may_count(),
                false => it.is_settled(),
            });
            let is_decided = candidates.any(|it| self.outcome_of(&it.choice) == *outcome);
            // What is pending when a companion ends counts as rejected.
            let is_ended = self.blow == Blow::EndHub
                && settled.is_empty()
                && *outcome == self.outcome_of(&Choice::Reject);
            check(is_decided || is_ended, "nobody decided what the agent got");
        }
        // An answer is the last that a hub which ends owes to its views.
        let is_unanswered = |it: &Update| matches!(it, Update::DiffAccepted { .. });
        if self.blow == Blow::EndHub && settled.is_empty() {
            check(
                !self.outcomes.iter().any(is_unanswered),
                "the agent got what was accepted, and the view was not told",
            );
        }
        match (self.blow, &settled[..]) {
            (Blow::KillHub | Blow::KillHubs | Blow::EndHub | Blow::KillDecider, []) => {}
            (_, []) => check(false, "no decision counts"),
            // Whoever had it is gone, or whoever was to get it.
            (Blow::KillHub | Blow::KillHubs | Blow::CutAgent, _) => {}
            (Blow::EndHub, _) if self.outcomes.is_empty() => {
                check(self.is_cut, "an outcome is missing");
            }
            (_, [_, ..]) => check(!self.outcomes.is_empty(), "an outcome is missing"),
        }
        for text in &self.kept {
            let is_edit = |it: &Made| matches!(&it.choice, Choice::Edit(edit) if edit == text);
            check(
                self.made.iter().any(is_edit),
                "a text is kept that nobody wrote",
            );
            check(
                !self.outcomes.contains(&self.accepted(text)),
                "a text is kept that the agent has",
            );
        }
        broken
    }

    /// The text that was written and counts, and that the agent did not get.
    pub fn undelivered(&self) -> Option<&str> {
        let settled = self.made.iter().filter(|it| it.is_settled());
        let mut texts = settled.filter_map(|it| match &it.choice {
            Choice::Edit(text) => Some(text.as_str()),
            Choice::Accept | Choice::Reject => None,
        });
        texts.next().filter(|_| self.outcomes.is_empty())
    }

    /// The outcome, in a few words.
    pub fn title(&self) -> String {
        let answer = |made: &Made| match &made.answer {
            None => "unanswered",
            Some(answer) if answer.is_settled => "settled",
            Some(Answer {
                code: Some(code), ..
            }) if code == "failed" => "failed",
            Some(_) => "refused",
        };
        let answers: Vec<&str> = self.made.iter().map(answer).collect();
        let outcome = match self.outcomes.first() {
            Some(Update::DiffAccepted { .. }) => "the agent got an acceptance",
            Some(_) => "the agent got a rejection",
            None => "the agent got nothing",
        };
        format!("{:?}: {}: {outcome}", self.blow, answers.join(", "))
    }

    /// Returns the agent's outcome of a choice.
    fn outcome_of(&self, choice: &Choice) -> Update {
        match choice {
            Choice::Accept => self.accepted(&self.proposed),
            Choice::Edit(text) => self.accepted(text),
            Choice::Reject => Update::DiffRejected {
                path: self.path.to_str().unwrap().to_owned(),
            },
        }
    }

    fn accepted(&self, text: &str) -> Update {
        Update::accepted(self.path.to_str().unwrap(), text)
    }
}

fn path_of(outcome: &Update) -> Option<&Path> {
    match outcome {
        Update::DiffAccepted { path, .. } | Update::DiffRejected { path } => Some(Path::new(path)),
        Update::Context(_) => None,
    }
}
