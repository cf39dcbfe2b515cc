//! The differences between agents. The data of each is a row below `agents`.

mod agents;
mod place;

use std::fmt;

pub use place::{Base, FileName, Place};
use serde::{Deserialize, Serialize};

use self::agents::{Row, claude, codex, copilot, gemini, kimi, opencode, qwen, vibe};

/// An agent's way of finding and calling a companion.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum Dialect {
    /// Google's Gemini CLI.
    GeminiCli,
    /// Alibaba's Qwen Code.
    QwenCode,
    /// Anthropic's Claude Code, whose protocol is its own ([`claude`](crate::claude)).
    ClaudeCode,
    /// opencode, which reads Claude Code's files and presents its token.
    OpenCode,
    /// GitHub Copilot CLI, whose protocol is its own, too ([`copilot`](crate::copilot)).
    CopilotCli,
    /// OpenAI's Codex CLI: its hooks show what it changes, and it asks for context ([`codex`](crate::codex)).
    CodexCli,
    /// Moonshot AI's Kimi Code, whose hooks show what it changes.
    KimiCode,
    /// Mistral Vibe, whose hooks show what it changes.
    MistralVibe,
}

/// The way in which an agent speaks to a companion, and the content of its discovery files.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Protocol {
    /// The companion contract: MCP over streamable HTTP, and a [`DiscoveryFile`](crate::DiscoveryFile).
    Companion,
    /// Claude Code's: MCP over a WebSocket, and a [`LockFile`](crate::claude::LockFile), whose port is in its
    /// name.
    Claude,
    /// GitHub Copilot CLI's: MCP over HTTP on a Unix socket, and a [`LockFile`](crate::copilot::LockFile).
    Copilot,
    /// None of these: it opens no session, and reads no discovery file. Its hooks are what reaches a companion.
    Hooks,
}

/// The variables that wire an agent to one companion (C2.6), by what they say.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Variables {
    /// The variable for the port on which it listens. Decides between companions of one workspace (C2.7).
    pub port: &'static str,
    /// Its workspace roots, for when no discovery file is found.
    pub workspace: Option<&'static str>,
    /// The token, for when no discovery file is found.
    pub token: Option<&'static str>,
    /// The process under whose id the companion is looked for, instead of an ancestor's.
    pub pid: Option<&'static str>,
    /// Other variables to set where there is a companion.
    pub settings: &'static [(&'static str, &'static str)],
    /// Any of these makes it dial this host and not the container's, the first being the one to set.
    pub same_host: &'static [&'static str],
    /// The variable and the value that make every release take its terminal for one of an editor that it knows: it refuses all
    /// others if the companion's file does not tell the editor.
    pub known_editor: Option<(&'static str, &'static str)>,
}

impl Variables {
    /// Those that lead to one companion, all of them.
    pub fn leading(&self) -> impl Iterator<Item = &'static str> + use<> {
        let always = std::iter::once(self.port);
        always
            .chain(self.workspace)
            .chain(self.token)
            .chain(self.pid)
    }
}

impl Dialect {
    /// Every agent, in the order in which people are shown them.
    pub const ALL: [Self; 8] = [
        Self::GeminiCli,
        Self::QwenCode,
        Self::ClaudeCode,
        Self::OpenCode,
        Self::CopilotCli,
        Self::CodexCli,
        Self::KimiCode,
        Self::MistralVibe,
    ];

    /// The agents of the companion contract: programs of others, that find companions by discovery
    /// files.
    pub const AGENTS: [Self; 2] = [Self::GeminiCli, Self::QwenCode];

    fn row(self) -> &'static Row {
        match self {
            Self::GeminiCli => &gemini::ROW,
            Self::QwenCode => &qwen::ROW,
            Self::ClaudeCode => &claude::ROW,
            Self::OpenCode => &opencode::ROW,
            Self::CopilotCli => &copilot::ROW,
            Self::CodexCli => &codex::ROW,
            Self::KimiCode => &kimi::ROW,
            Self::MistralVibe => &vibe::ROW,
        }
    }

    /// Returns true if it opens a session with a companion. Of the others, the hooks are what reaches one.
    pub fn opens_session(self) -> bool {
        self.protocol() != Protocol::Hooks
    }

    /// Returns true if it opens no session and asks all the same, at a socket, what is open ([`codex`](crate::codex)).
    pub fn asks_for_context(self) -> bool {
        self == Self::CodexCli
    }

    /// The agent of this short name.
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|agent| agent.name() == name)
    }

    /// The agent whose discovery files it reads: opencode reads Claude Code's.
    pub fn discovery(self) -> Self {
        self.row().follows.unwrap_or(self)
    }

    /// Returns true if it looks in this place of [`discovery`](Self::discovery).
    pub fn reads(self, place: &Place) -> bool {
        self.row().overlooks != Some(place.base)
    }

    /// Returns true if it takes it for a rejection if this text is accepted where the file has
    /// `original`: the file as it is, line ends aside, or nothing where there is no file.
    pub fn takes_for_rejection(self, original: Option<&[u8]>, text: &str) -> bool {
        self.unchanged_is_rejection()
            && match original {
                None => text.is_empty(),
                Some(original) => is_same_but_for_line_ends(original, text.as_bytes()),
            }
    }

    /// The agent that presents this one's token and calls itself `client`.
    pub fn presented_by(self, client: &str) -> Self {
        let mut all = Self::ALL.into_iter();
        let other = all
            .find(|other| other.row().follows == Some(self) && other.row().client == Some(client));
        other.unwrap_or(self)
    }

    /// Returns true if its client of this name and release writes an accepted text without its last
    /// line feed.
    pub fn drops_last_line_feed(self, client: &str, version: &str) -> bool {
        let mut numbers = version.split('.').map(|number| number.parse().ok());
        let mut next = || numbers.next().flatten();
        let (Some(major), Some(minor), Some(patch)) = (next(), next(), next()) else {
            return false;
        };
        // Other programs count their releases differently.
        let newest = self.row().drops_last_line_feed;
        self.row().client == Some(client)
            && newest.is_some_and(|newest| (major, minor, patch) <= newest)
    }

    /// Returns true if its proposals lack the file's own line ends and encoding, and it restores them when it writes.
    pub fn restores_line_ends(self) -> bool {
        self.protocol() == Protocol::Claude
    }

    /// Returns true if it is told what is selected in a file that does not exist, too.
    pub fn reads_selection_of_no_file(self) -> bool {
        self.protocol() != Protocol::Companion
    }

    /// Returns true if its prompt can be made to name a file.
    pub fn knows_mentions(self) -> bool {
        matches!(self.protocol(), Protocol::Claude | Protocol::Copilot)
    }

    /// Returns true if its prompt reads `@path#L3-7` as these lines of the file.
    pub fn reads_lines_in_prompt(self) -> bool {
        self == Self::ClaudeCode
    }

    /// Returns true if the variables of a terminal are not enough: `pillion run` adds what makes it ask before
    /// each change, or takes out what would keep it from its companion.
    pub fn needs_run(self) -> bool {
        self.protocol() == Protocol::Claude
    }

    /// The command that installs it.
    pub fn install_command(self) -> String {
        match self.package() {
            Some(package) => format!("npm install -g {package}"),
            None => self.row().installer.to_owned(),
        }
    }

    /// The variables that wire the agent to one companion (C2.6).
    pub fn variables(self) -> Option<&'static Variables> {
        self.row().variables.as_ref()
    }

    /// The variable that names a companion's port to an agent (C2.6).
    pub fn port_variable(self) -> Option<&'static str> {
        self.row().variables.as_ref().map(|names| names.port)
    }

    /// The variables that wire an agent's terminal to one companion (C2.6), with their values, and what
    /// else is set there.
    /// None of them is a secret: agents read the token from the discovery file.
    pub fn environment(self, port: u16, workspace_path: &str) -> Vec<(&'static str, String)> {
        let Some(names) = &self.row().variables else {
            return Vec::new();
        };
        let workspace = names
            .workspace
            .map(|name| (name, workspace_path.to_owned()));
        let port = (names.port, port.to_string());
        let settings = names.settings.iter();
        let settings = settings.map(|(name, value)| (*name, (*value).to_owned()));
        std::iter::once(port)
            .chain(workspace)
            .chain(settings)
            .collect()
    }
}

fn is_same_but_for_line_ends(one: &[u8], other: &[u8]) -> bool {
    lines(one).eq(lines(other))
}

/// The lines without their ends, and whether they have one.
fn lines(text: &[u8]) -> impl Iterator<Item = (&[u8], bool)> {
    let lines = text.split_inclusive(|byte| *byte == b'\n');
    lines.map(|line| match line.strip_suffix(b"\n") {
        Some(line) => (line.strip_suffix(b"\r").unwrap_or(line), true),
        None => (line, false),
    })
}

impl fmt::Display for Dialect {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.display_name())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(dialect: Dialect) -> Vec<String> {
        dialect
            .places()
            .iter()
            .map(|place| {
                let mut path = match place.base {
                    Base::TmpDir => "tmpdir".to_owned(),
                    Base::QwenHome => "~/.qwen".to_owned(),
                    Base::ClaudeConfig => "$CLAUDE_CONFIG_DIR".to_owned(),
                    Base::ClaudeHome => "~/.claude".to_owned(),
                    Base::CopilotHome => "$COPILOT_HOME".to_owned(),
                };
                for part in place.folder {
                    path = format!("{path}/{part}");
                }
                format!("{path}/{}", place.name.of(7, 4242))
            })
            .collect()
    }

    #[test]
    fn every_release_finds_its_file() {
        assert_eq!(
            names(Dialect::GeminiCli),
            [
                "tmpdir/gemini/ide/gemini-ide-server-7-4242.json",
                "tmpdir/gemini-ide-server-7.json",
            ]
        );
        assert_eq!(
            names(Dialect::QwenCode),
            [
                "tmpdir/qwen/ide/qwen-code-ide-server-7-4242.json",
                "~/.qwen/ide/4242.lock",
                "tmpdir/gemini/ide/qwen-code-ide-server-7-4242.json",
                "tmpdir/qwen-code-ide-server-7.json",
                "tmpdir/qwen-code-ide-server-4242.json",
            ]
        );
    }

    #[test]
    fn claude_codes_lock_files_are_where_it_and_opencode_look() {
        let expected = [
            "$CLAUDE_CONFIG_DIR/ide/4242.lock",
            "~/.claude/ide/4242.lock",
        ];
        assert_eq!(names(Dialect::ClaudeCode), expected);
    }

    #[cfg(unix)]
    #[test]
    fn copilots_lock_file_is_named_by_the_port_of_the_others() {
        assert_eq!(names(Dialect::CopilotCli), ["$COPILOT_HOME/ide/4242.lock"]);
    }

    #[test]
    fn every_variable_that_a_release_reads_is_known() {
        let leading = |dialect: Dialect| -> Vec<_> {
            let variables = dialect.variables().unwrap();
            variables.leading().collect()
        };
        assert_eq!(
            leading(Dialect::GeminiCli),
            [
                "GEMINI_CLI_IDE_SERVER_PORT",
                "GEMINI_CLI_IDE_WORKSPACE_PATH",
                "GEMINI_CLI_IDE_AUTH_TOKEN",
                "GEMINI_CLI_IDE_PID",
            ]
        );
        assert_eq!(
            leading(Dialect::QwenCode),
            ["QWEN_CODE_IDE_SERVER_PORT", "QWEN_CODE_IDE_WORKSPACE_PATH"]
        );
    }

    #[test]
    fn only_agents_that_look_for_variables_are_led_by_them() {
        for dialect in Dialect::ALL {
            // opencode finds a companion by Claude Code's files, and is led astray by its variable; Copilot CLI
            // finds one by its folder.
            let by_files = [Dialect::OpenCode, Dialect::CopilotCli];
            let is_led = dialect.opens_session() && !by_files.contains(&dialect);
            assert_eq!(dialect.variables().is_some(), is_led, "{dialect}");
        }
    }

    #[test]
    fn the_environment_of_a_terminal_holds_no_secret() {
        for dialect in Dialect::AGENTS {
            let variables = dialect.environment(1, "/w");
            let port_variable = dialect.port_variable().unwrap();
            assert_eq!(variables[0], (port_variable, "1".to_owned()));
            assert!(variables.iter().all(|(name, _)| !name.contains("TOKEN")));
        }
    }

    #[test]
    fn claude_code_takes_the_file_as_it_is_and_an_empty_new_one_for_a_rejection() {
        let takes = |original: Option<&str>, text| {
            let original = original.map(str::as_bytes);
            Dialect::ClaudeCode.takes_for_rejection(original, text)
        };
        assert!(takes(Some("a\r\nb\r\n"), "a\nb\n"));
        assert!(takes(Some("a\n"), "a\n") && takes(Some(""), "") && takes(None, ""));
        assert!(!takes(Some("a\n"), "a") && !takes(Some("a\n"), "") && !takes(None, "\n"));
        assert!(!takes(Some("a\n"), "a\n\r"));
        for other in Dialect::ALL {
            let is_claude = other == Dialect::ClaudeCode;
            assert_eq!(other.takes_for_rejection(None, ""), is_claude, "{other}");
        }
    }

    #[test]
    fn claude_code_is_led_by_its_port_and_installs_no_extension() {
        let variables = Dialect::ClaudeCode.environment(4242, "/w");
        let expected = [
            ("CLAUDE_CODE_SSE_PORT", "4242".to_owned()),
            ("CLAUDE_CODE_IDE_SKIP_AUTO_INSTALL", "1".to_owned()),
        ];
        assert_eq!(variables, expected);
        let leading: Vec<_> = Dialect::ClaudeCode.variables().unwrap().leading().collect();
        assert_eq!(leading, ["CLAUDE_CODE_SSE_PORT"]);
    }
}
