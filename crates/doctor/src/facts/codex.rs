//! The answer to Codex CLI when it asks what the editor shows.

use std::path::{Path, PathBuf};

use pillion_discovery::Environment;

/// The outcome of its question for a folder.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Asked {
    pub socket: PathBuf,
    pub answer: Answer,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Answer {
    /// An editor of this folder answers with its context.
    Context,
    /// Somebody answers who knows no editor of this folder.
    NoEditor,
    /// Nobody answers, for this reason.
    Nobody(String),
}

/// Asks as Codex CLI does. On Windows it asks elsewhere, where Pillion does not answer.
#[cfg(not(unix))]
pub fn ask(_: &Environment, _: &Path) -> Option<Asked> {
    None
}

/// Asks as Codex CLI does.
#[cfg(unix)]
pub fn ask(environment: &Environment, folder: &Path) -> Option<Asked> {
    let (home, tmpdir) = (environment.codex_home(), environment.tmpdir());
    let [first, second] = pillion_discovery::socket::Address::of_codex(&home, &tmpdir);
    // The second counts if nothing is there at the first.
    let (address, answer) = match unix::ask(&first, folder) {
        Err(why) if !first.path().exists() => match unix::ask(&second, folder) {
            Ok(answer) => (second, answer),
            Err(_) => (first, Answer::Nobody(why)),
        },
        answer => (first, answer.unwrap_or_else(Answer::Nobody)),
    };
    Some(Asked {
        socket: address.path(),
        answer,
    })
}

#[cfg(unix)]
mod unix {
    use std::io::{self, Read, Write};
    use std::path::Path;
    use std::time::Duration;

    use pillion_discovery::private_file::Stream;
    use pillion_discovery::socket::Address;
    use pillion_protocol::codex;

    use super::Answer;

    /// As long as Codex CLI waits.
    const WITHIN: Duration = Duration::from_secs(5);

    pub(super) fn ask(address: &Address, folder: &Path) -> Result<Answer, String> {
        let stream = address.connect().map_err(|error| error.to_string())?;
        exchange(stream, folder).map_err(|error| error.to_string())
    }

    fn exchange(mut stream: Stream, folder: &Path) -> io::Result<Answer> {
        stream.set_read_timeout(Some(WITHIN))?;
        stream.set_write_timeout(Some(WITHIN))?;
        stream.write_all(&codex::question(folder))?;
        let mut start = [0; 4];
        stream.read_exact(&mut start)?;
        let length = u64::from(u32::from_le_bytes(start)).min(codex::MAX_ANSWER);
        let mut answer = Vec::new();
        stream.take(length).read_to_end(&mut answer)?;
        Ok(match codex::is_context(&answer) {
            true => Answer::Context,
            false => Answer::NoEditor,
        })
    }
}
