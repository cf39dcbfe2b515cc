//! The installed Claude Code, opencode and Copilot CLI. `cargo xtask test` installs them and names their place in a
//! variable.

use std::fs;
use std::path::PathBuf;

/// The variable that holds the folder of the installation.
const VARIABLE: &str = "PILLION_TEST_CLAUDE";

/// The releases of Claude Code.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ClaudeRelease {
    /// 2.1.332, a native program.
    Native,
    /// 2.1.112, the last that runs on Node. Pillion no longer predicts what it connects to, but goes on serving it.
    Node,
}

impl ClaudeRelease {
    /// Both.
    pub const ALL: [ClaudeRelease; 2] = [ClaudeRelease::Native, ClaudeRelease::Node];

    /// As it names itself.
    pub fn version(self) -> &'static str {
        match self {
            ClaudeRelease::Native => "2.1.332",
            ClaudeRelease::Node => "2.1.112",
        }
    }
}

/// The folder with both releases of Claude Code, opencode, and Copilot CLI.
#[derive(Debug, Clone)]
pub struct ClaudeNpm {
    modules: PathBuf,
}

impl ClaudeNpm {
    /// The folder that `PILLION_TEST_CLAUDE` names.
    ///
    /// # Panics
    /// If the variable is unset.
    pub fn from_env() -> ClaudeNpm {
        let folder = std::env::var_os(VARIABLE).unwrap_or_else(|| {
            panic!(
                "{VARIABLE} is not set: run this test through `cargo xtask test`, which installs Claude Code; \
                 the words \"Claude Code\", \"opencode\" or \"Copilot CLI\" in what it is ignored for ask for that"
            )
        });
        ClaudeNpm {
            modules: PathBuf::from(folder).join("node_modules"),
        }
    }

    /// The folder in which the command `claude` is this release. That for Node finds its Node on PATH.
    pub fn bin(&self, release: ClaudeRelease) -> PathBuf {
        match release {
            ClaudeRelease::Native => self.package("@anthropic-ai", "claude-code-", "claude"),
            ClaudeRelease::Node => self.modules.join(".bin"),
        }
    }

    /// The folder of the command `opencode`.
    pub fn opencode_bin(&self) -> PathBuf {
        self.package("", "opencode-", "bin/opencode").join("bin")
    }

    /// The folder of the command `copilot`.
    pub fn copilot_bin(&self) -> PathBuf {
        self.package("@github", "copilot-", "copilot")
    }

    /// The folder in which Copilot CLI unpacks itself when it starts, once for all tests: more than 200 MB.
    pub fn copilot_cache(&self) -> PathBuf {
        self.modules.with_file_name("copilot-cache")
    }

    /// The package for this platform: its name starts so, and it has this file.
    fn package(&self, scope: &str, start: &str, file: &str) -> PathBuf {
        let folder = self.modules.join(scope);
        let found = fs::read_dir(&folder).into_iter().flatten().flatten();
        let mut found = found.map(|package| package.path()).filter(|package| {
            let name = package.file_name().and_then(|name| name.to_str());
            name.is_some_and(|name| name.starts_with(start)) && package.join(file).is_file()
        });
        found.next().unwrap_or_else(|| {
            panic!(
                "{VARIABLE} names a folder without {}/{start}…/{file}: `cargo xtask test` installs it",
                folder.display()
            )
        })
    }
}
