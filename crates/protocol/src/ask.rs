//! What our own programs ask the hub, or the companion of a front end that has no hub: a request is a type, and its answer
//! stands beside it ([`Ask`]); why it is not carried out ([`Refused`]); and the messages in which both go over a socket, each
//! a line of JSON.
//!
//! The first line of a connection says who it is: a front end, which attaches, or a [`Program`]. Any number of requests
//! follow. What was asked and is not done is withdrawn when the connection ends.

use std::time::Duration;

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::stranger::Stranger;

/// A request.
pub trait Ask: Serialize + DeserializeOwned + Send + 'static {
    /// The answer, if there is no reason against it.
    type Answer: Serialize + DeserializeOwned + Send + 'static;

    /// Its name in messages.
    const METHOD: &'static str;

    /// True if it decides or speaks in the person's name: from nobody else it is carried out.
    const FOR_PERSON: bool;
}

/// The reason why a request is not carried out.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, thiserror::Error)]
#[serde(tag = "why", rename_all = "camelCase", rename_all_fields = "camelCase")]
pub enum Refused {
    /// There is no such diff, or it was decided.
    #[error("no diff {id} is pending")]
    NotPending {
        /// The number that was named.
        id: u64,
    },
    /// The revision that was named is not the one that is shown.
    #[error("{}diff {id} is at {id}.{current}, not {id}.{named}", replaced(*named < *current))]
    OtherRevision {
        /// The diff.
        id: u64,
        /// The revision that was named.
        named: u32,
        /// The revision that is shown.
        current: u32,
    },
    /// It is only for the person, and somebody else asked.
    #[error("{}", not_the_person(*by, *in_view))]
    NotThePerson {
        /// Whoever it is.
        by: Stranger,
        /// True if it came from a view.
        in_view: bool,
    },
    /// It is not understood, nobody is there to do it, or something came first.
    #[error("{reason}")]
    Failed {
        /// One sentence.
        reason: String,
    },
}

impl Refused {
    /// Any other reason, in one sentence.
    pub fn because(reason: impl Into<String>) -> Self {
        let reason = reason.into();
        Self::Failed { reason }
    }
}

impl From<String> for Refused {
    fn from(reason: String) -> Self {
        Self::because(reason)
    }
}

impl From<&str> for Refused {
    fn from(reason: &str) -> Self {
        Self::because(reason)
    }
}

impl From<Refused> for String {
    fn from(refused: Refused) -> Self {
        refused.to_string()
    }
}

fn not_the_person(by: Stranger, in_view: bool) -> String {
    match in_view {
        true => by.of_window(),
        false => by.of_command(),
    }
}

fn replaced(is_older: bool) -> &'static str {
    match is_older {
        true => "a newer proposal has arrived: ",
        false => "",
    }
}

/// A program that asks, and is no front end.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Program {
    /// Its process, as it says.
    pub pid: u32,
    /// The short names of the agents whose variables are in its environment.
    #[serde(default)]
    pub commanded_by: Vec<String>,
}

/// A request as a message.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Asked {
    /// Its number, which the answer names.
    pub request: u64,
    /// [`Ask::METHOD`].
    pub method: String,
    /// The port of the companion that a program asks, if it asks one: a hub has several.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub companion: Option<u16>,
    /// The request itself.
    #[serde(default, skip_serializing_if = "Value::is_null")]
    pub params: Value,
    /// When it was asked, by the clock that all processes of a machine share.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub at: Option<Duration>,
}

impl Asked {
    /// The message of a request.
    ///
    /// # Errors
    /// When it holds what JSON cannot.
    pub fn new<A: Ask>(request: u64, ask: &A) -> serde_json::Result<Self> {
        Ok(Self {
            request,
            method: A::METHOD.to_owned(),
            companion: None,
            params: serde_json::to_value(ask)?,
            at: None,
        })
    }
}

/// The answer to a request as a message.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Answered {
    /// The number of the request.
    pub request: u64,
    /// [`Ask::Answer`], or why there is none.
    pub result: Result<Value, Refused>,
}

/// A message of a program.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum FromProgram {
    /// The first one.
    Program(Program),
    /// A request.
    Ask(Asked),
}

/// A message to a program.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum ToProgram {
    /// To a request.
    Answer(Answered),
    /// The program is not served, and the connection is closed.
    Refused {
        /// One sentence.
        reason: String,
    },
}
