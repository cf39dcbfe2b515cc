//! A running companion, as commands reach it.

use std::fs;
use std::io::{self, Read};
use std::path::Path;

use anyhow::Context;
use pillion_companion::control::{
    Client, ClientError, DiffError, DiffRef, DiffSummary, DiffText, Focus, MentionedFile, Settle,
    Settled,
};
use pillion_discovery::Environment;
use pillion_protocol::diff::MAX_CONTENT;
use tokio::runtime::Runtime;

use crate::args::Target;
use crate::choice::{Need, Running};
use crate::failure::{Failure, Kind};
use crate::viewer;

pub struct ControlClient {
    client: Client,
    runtime: Runtime,
}

impl ControlClient {
    /// The companion of Pillion's that `target` means.
    ///
    /// # Errors
    /// [`Kind::NoCompanion`] when none fits.
    pub fn find(target: &Target) -> anyhow::Result<Self> {
        let environment = Environment::current();
        let chosen = Running::look(&environment).choose(Need::Control, target)?;
        let chosen = chosen.state.context("the companion has no state")?;
        Ok(Self {
            client: Client::new(chosen.port, chosen.control_token).viewed_by(viewer::current()),
            runtime: pillion_agent::runtime()?,
        })
    }

    pub fn diffs(&self) -> anyhow::Result<Vec<DiffSummary>> {
        self.answer(self.client.diffs())
    }

    /// A diff with its text, which counts as shown unless this command's output is discarded.
    pub fn diff(&self, diff: DiffRef) -> anyhow::Result<DiffText> {
        let client = self.client.clone().viewed_by(viewer::of_output());
        self.answer(client.diff(diff))
    }

    pub fn settle(&self, settle: &Settle) -> anyhow::Result<Settled> {
        self.answer(self.client.settle(settle))
    }

    /// The name of the agent whose prompt names the file now, if one does.
    pub fn mention(&self, mentioned: &MentionedFile) -> anyhow::Result<Option<String>> {
        Ok(self.answer(self.client.mention(mentioned))?.agent)
    }

    pub fn focus(&self, file: &Focus) -> anyhow::Result<()> {
        self.answer(self.client.focus(file))
    }

    fn answer<T>(&self, asked: impl Future<Output = Result<T, ClientError>>) -> anyhow::Result<T> {
        self.runtime.block_on(asked).map_err(failure)
    }
}

/// The text of a file, or of standard input for `-`.
///
/// # Errors
/// When it cannot be read, or is not UTF-8: agents could not be given it.
pub fn read_text(path: &Path) -> anyhow::Result<String> {
    let is_input = path == Path::new("-");
    let shown = if is_input {
        Path::new("standard input").display()
    } else {
        path.display()
    };
    // No more than is needed to know that it is too long: `/dev/zero` does not end.
    let read = |input: &mut dyn Read| {
        let mut bytes = Vec::new();
        let limit = MAX_CONTENT as u64 + 1;
        input.take(limit).read_to_end(&mut bytes).map(|_| bytes)
    };
    let bytes = if is_input {
        read(&mut io::stdin().lock())
    } else {
        fs::File::open(path).and_then(|mut file| read(&mut file))
    };
    let cannot = || Failure::new(Kind::Refused, format!("cannot read {shown}"));
    let bytes = bytes.with_context(cannot)?;
    if bytes.len() > MAX_CONTENT {
        let message = format!("{shown} is longer than the limit of {MAX_CONTENT} bytes");
        return Err(Failure::new(Kind::Refused, message).into());
    }
    String::from_utf8(bytes).map_err(|_| {
        let failure = Failure::new(Kind::Refused, format!("{shown} is not UTF-8"));
        failure
            .hint("Agents accept only text; convert the file to UTF-8 first.")
            .into()
    })
}

fn failure(error: ClientError) -> anyhow::Error {
    match error {
        ClientError::Refused(reason) => Failure::new(Kind::Refused, reason).into(),
        ClientError::Diff(error) => diff_failure(&error).into(),
        ClientError::Silent { .. } => Failure::new(Kind::Internal, error.to_string())
            .hint("Was it suspended with Ctrl-Z? `fg` in its terminal resumes it.")
            .into(),
        ClientError::Unreachable { .. } | ClientError::Foreign { .. } => {
            let failure = Failure::new(Kind::NoCompanion, "cannot reach the companion")
                .hint("If another version of Pillion started it, restart it.");
            anyhow::Error::new(error).context(failure)
        }
    }
}

/// What a user can do about it: look at what is there now, or name it.
fn diff_failure(error: &DiffError) -> Failure {
    let failure = Failure::new(Kind::Refused, error.to_string());
    match error {
        DiffError::NotPending { .. } => failure.hint("`pillion diffs` lists the pending diffs."),
        DiffError::OtherRevision { id, .. } => {
            failure.hint(format!("`pillion diffs {id}` shows what is proposed now."))
        }
        DiffError::Unseen { id, current, .. } => failure.hint(format!(
            "`pillion diffs {id}` shows it; `pillion accept {id}.{current}` accepts exactly that one."
        )),
        DiffError::FileChanged { id, current } => failure.hint(format!(
            "Look at the file and at `pillion diffs {id}` again; `pillion accept {id}.{current}` accepts it anyway."
        )),
        DiffError::Failed { .. } => failure,
    }
}
