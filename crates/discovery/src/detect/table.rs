//! The IDEs: one row each, tried from the top.
//!
//! Editors that run in a terminal come first: an IDE's terminal may hold one, not the other way
//! round. Then the IDEs that Gemini CLI 0.61 knows, in its order. Last, what is weak: forks known by
//! their program alone, and variables that other programs may set.

use self::Kind::{Code, CodeFork, HostedCode, JetBrains, Plain, Product, Terminal};
use self::Sign::{Holds, Is, Pid, Set, Socket};
use super::Ide;

/// The facts about one IDE.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Row {
    pub ide: Ide,
    /// Variables, any of which says so.
    pub signs: &'static [Sign],
    /// Names of its program, in lowercase, without `.exe`.
    pub programs: &'static [&'static str],
    /// The folder that its programs lie in on a Mac.
    pub bundle: Option<&'static str>,
    pub kind: Kind,
}

/// The relation of an IDE to others.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    /// It runs in a terminal: the process that Gemini CLI takes for the IDE's is another one.
    Terminal,
    Plain,
    /// Its programs may be VS Code's: it is VS Code, run by a service.
    HostedCode,
    /// Its variables are set by its forks, too: if the command does not hold `code`, it is one.
    Code,
    /// Any fork of VS Code: known by nothing of its own.
    CodeFork,
    /// A product of JetBrains that is not known by name.
    JetBrains,
    /// A product of JetBrains: its command holds this word, in any case.
    Product(&'static str),
}

/// The condition on a variable. An empty one counts as unset.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Sign {
    Set(&'static str),
    Is(&'static str, &'static str),
    /// Holds this, in any case.
    Holds(&'static str, &'static str),
    /// Names a socket, which must be there; Neovim's own name of it holds its process id.
    Socket(&'static str),
    /// Is the id of a living process of this program.
    Pid(&'static str),
}

impl Row {
    /// Returns true if `other`, which stands for the process above, is what this row's variable
    /// means.
    pub(super) fn is_shown_by(&self, other: &Row) -> bool {
        self == other || self.kind == HostedCode && other.kind == Code
    }

    /// A closer name than this row's, by Gemini CLI's rules on the command.
    pub(super) fn narrow(&self, command: &str) -> Option<&'static Row> {
        let command = command.to_lowercase();
        match self.kind {
            Code if !command.is_empty() && !command.contains("code") => {
                ROWS.iter().find(|row| row.kind == CodeFork)
            }
            JetBrains => ROWS
                .iter()
                .find(|row| matches!(row.kind, Product(word) if command.contains(word))),
            _ => None,
        }
    }
}

const fn row(
    name: &'static str,
    display_name: &'static str,
    kind: Kind,
    signs: &'static [Sign],
    programs: &'static [&'static str],
    bundle: Option<&'static str>,
) -> Row {
    Row {
        ide: Ide { name, display_name },
        signs,
        programs,
        bundle,
        kind,
    }
}

#[rustfmt::skip]
pub(super) const ROWS: &[Row] = &[
    row("neovim", "Neovim", Terminal, &[Socket("NVIM")], &["nvim", "nvim-qt", "neovide"], None),
    row("kakoune", "Kakoune", Terminal, &[Set("kak_session")], &["kak"], None),
    row("emacs", "Emacs", Terminal, &[Set("INSIDE_EMACS")], &["emacs", "emacs-gtk", "emacs-gtk+x11", "emacs-lucid", "emacs-nox", "emacs-nw", "emacs-pgtk", "emacs-x", "emacs-x11"], Some("Emacs.app")),
    row("vim", "Vim", Terminal, &[Set("VIM_TERMINAL")], &["vim", "gvim", "vi", "view", "vimdiff", "gview", "vimx", "mvim", "macvim", "vim.basic", "vim.tiny", "vim.nox", "vim.gtk3", "vim.athena", "vim.motif"], Some("MacVim.app")),
    row("helix", "Helix", Terminal, &[], &["hx", "helix"], None),

    row("antigravity", "Antigravity", Plain, &[Set("ANTIGRAVITY_CLI_ALIAS")], &["antigravity"], Some("Antigravity.app")),
    row("devin", "Devin", HostedCode, &[Set("__COG_BASHRC_SOURCED")], &[], None),
    row("replit", "Replit", HostedCode, &[Set("REPLIT_USER")], &[], None),
    row("cursor", "Cursor", Plain, &[Set("CURSOR_TRACE_ID")], &["cursor"], Some("Cursor.app")),
    row("codespaces", "GitHub Codespaces", HostedCode, &[Set("CODESPACES")], &[], None),
    row("cloudshell", "Cloud Shell", HostedCode, &[Set("EDITOR_IN_CLOUD_SHELL"), Set("CLOUD_SHELL")], &[], None),
    row("trae", "Trae", Plain, &[Is("TERM_PRODUCT", "Trae")], &["trae"], Some("Trae.app")),
    row("firebasestudio", "Firebase Studio", HostedCode, &[Set("MONOSPACE_ENV")], &[], None),
    row("positron", "Positron", Plain, &[Is("POSITRON", "1")], &["positron"], Some("Positron.app")),
    row("sublimetext", "Sublime Text", Plain, &[Is("TERM_PROGRAM", "sublime")], &["subl", "sublime_text"], Some("Sublime Text.app")),
    row("zed", "Zed", Plain, &[Set("ZED_SESSION_ID"), Is("TERM_PROGRAM", "Zed"), Is("TERM_PROGRAM", "zed"), Set("ZED_TERM")], &["zed", "zeditor", "zed-editor"], Some("Zed.app")),
    row("xcode", "XCode", Plain, &[Set("XCODE_VERSION_ACTUAL")], &["xcode"], Some("Xcode.app")),
    row("jetbrains", "JetBrains IDE", JetBrains, &[Holds("TERMINAL_EMULATOR", "jetbrains")], &[], None),
    row("intellijidea", "IntelliJ IDEA", Product("idea"), &[], &["idea", "idea64", "idea.sh"], Some("IntelliJ IDEA.app")),
    row("webstorm", "WebStorm", Product("webstorm"), &[], &["webstorm", "webstorm64", "webstorm.sh"], Some("WebStorm.app")),
    row("pycharm", "PyCharm", Product("pycharm"), &[], &["pycharm", "pycharm64", "pycharm.sh"], Some("PyCharm.app")),
    row("goland", "GoLand", Product("goland"), &[], &["goland", "goland64", "goland.sh"], Some("GoLand.app")),
    row("androidstudio", "Android Studio", Product("studio"), &[], &["studio", "studio64", "studio.sh", "android-studio"], Some("Android Studio.app")),
    row("clion", "CLion", Product("clion"), &[], &["clion", "clion64", "clion.sh"], Some("CLion.app")),
    row("rustrover", "RustRover", Product("rustrover"), &[], &["rustrover", "rustrover64", "rustrover.sh"], Some("RustRover.app")),
    row("datagrip", "DataGrip", Product("datagrip"), &[], &["datagrip", "datagrip64", "datagrip.sh"], Some("DataGrip.app")),
    row("phpstorm", "PhpStorm", Product("phpstorm"), &[], &["phpstorm", "phpstorm64", "phpstorm.sh"], Some("PhpStorm.app")),
    // The last two stay in a tmux that was started in VS Code's terminal, the first does not. Their
    // sockets go when VS Code does.
    row("vscode", "VS Code", Code, &[Is("TERM_PROGRAM", "vscode"), Socket("VSCODE_GIT_IPC_HANDLE"), Socket("VSCODE_IPC_HOOK_CLI")], &["code", "code-insiders", "code-oss", "code-tunnel"], Some("Visual Studio Code.app")),
    row("vscodefork", "IDE", CodeFork, &[], &[], None),

    row("vscodium", "VSCodium", Plain, &[], &["codium", "vscodium"], Some("VSCodium.app")),
    row("windsurf", "Windsurf", Plain, &[], &["windsurf"], Some("Windsurf.app")),
    row("kate", "Kate", Plain, &[Pid("KATE_PID")], &["kate", "kwrite"], Some("kate.app")),
];

/// Vim passes the place of its files to all that it starts; so does a variable that was set by hand, and
/// so does Neovim. It counts when nothing else does, and not alone.
pub(super) const WEAK_VIM: [&str; 2] = ["VIM", "VIMRUNTIME"];

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;

    #[test]
    fn names_and_programs_are_one_rows_alone() {
        let mut seen = HashSet::new();
        for row in ROWS {
            assert!(seen.insert(row.ide.name), "{}", row.ide.name);
            assert!(
                row.ide.name.bytes().all(|byte| byte.is_ascii_lowercase()),
                "{}",
                row.ide.name
            );
        }
        let mut seen = HashSet::new();
        for program in ROWS.iter().flat_map(|row| row.programs) {
            assert!(seen.insert(program), "{program}");
            assert_eq!(*program, program.to_lowercase());
        }
    }
}
