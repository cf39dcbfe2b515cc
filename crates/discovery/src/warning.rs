//! A place that agents look at and that could not be served.

use std::error::Error;
use std::fmt;
use std::path::PathBuf;

use pillion_protocol::Dialect;

use crate::private_file::FileError;

/// Why some agents may not find the companion. `Display` is one sentence for people; the error
/// underneath names the path, the sentence ends with what to do.
#[derive(Debug)]
pub struct Warning {
    /// The directory that is not served, or not fully.
    pub directory: PathBuf,
    /// The variable by which a person moves it elsewhere.
    pub variable: Option<&'static str>,
    /// The agents that look there.
    pub agents: Vec<Dialect>,
    /// The error.
    pub error: FileError,
}

impl fmt::Display for Warning {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (at, agent) in self.agents.iter().enumerate() {
            let joint = if at == 0 { "" } else { " and " };
            write!(f, "{joint}{agent}")?;
        }
        write!(f, " may not find this companion: {}", self.error)?;
        if let Some(cause) = self.error.source() {
            write!(f, ": {cause}")?;
        }
        write!(f, "; {}", self.error.hint_naming(self.variable))
    }
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;

    #[test]
    fn a_warning_is_one_sentence_with_agents_path_cause_and_remedy() {
        let full = std::io::Error::from(std::io::ErrorKind::StorageFull);
        let warning = Warning {
            directory: "/t".into(),
            variable: Some("TMPDIR"),
            agents: vec![Dialect::GeminiCli, Dialect::QwenCode],
            error: FileError::io("write", Path::new("/t/f.json"), full),
        };
        assert_eq!(
            warning.to_string(),
            "Gemini CLI and Qwen Code may not find this companion: cannot write \"/t/f.json\": \
             no storage space; free some space on that file system"
        );
    }
}
