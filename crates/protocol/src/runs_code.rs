//! Files that programs run, or take orders from, without anybody starting them: a change of one of these is a change
//! of what this machine does.

use std::path::{Component, Path};

/// The program that runs or obeys a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Runner {
    /// git: hooks, settings, attributes.
    Git,
    /// A shell, when it starts or enters a folder.
    Shell,
    /// The project's continuous integration.
    Ci,
    /// A coding agent: settings, hooks, servers.
    Agent,
    /// An editor: tasks, settings of a folder.
    Editor,
}

impl Runner {
    /// For people: a sentence without a full stop.
    pub fn sentence(self) -> &'static str {
        match self {
            Self::Git => "git runs or obeys this file",
            Self::Shell => "your shell runs this file",
            Self::Ci => "the project's CI runs this file",
            Self::Agent => "agents take their settings from this file",
            Self::Editor => "editors run tasks or take settings from this file",
        }
    }

    /// The program that runs or obeys the file of this path, if anything does.
    pub fn of(path: &Path) -> Option<Self> {
        let names: Vec<String> = path
            .components()
            .filter_map(|part| match part {
                Component::Normal(name) => Some(name.to_string_lossy().to_lowercase()),
                _ => None,
            })
            .collect();
        let name = names.last()?.as_str();
        let is_in = |folder: &str| names[..names.len() - 1].iter().any(|part| part == folder);
        let is_below = |parent: &str, folder: &str| {
            let pairs = names.windows(2);
            pairs.clone().any(|pair| pair == [parent, folder]) && name != folder
        };
        // A work tree's `.git` is a file that leads to another folder.
        if is_in(".git") || is_in(".husky") || is_in(".githooks") || name == ".git" {
            return Some(Self::Git);
        }
        if [
            ".gitmodules",
            ".gitattributes",
            ".gitconfig",
            ".pre-commit-config.yaml",
            "lefthook.yml",
        ]
        .contains(&name)
        {
            return Some(Self::Git);
        }
        if [
            ".envrc",
            ".bashrc",
            ".bash_profile",
            ".profile",
            ".zshrc",
            ".zshenv",
            ".zprofile",
        ]
        .contains(&name)
            || name == "mise.toml"
            || name == ".mise.toml"
            || is_in("direnv")
            || is_below("fish", "conf.d")
            || name == "config.fish"
        {
            return Some(Self::Shell);
        }
        let is_ci_folder = is_below(".github", "workflows")
            || is_below(".github", "actions")
            || is_below(".forgejo", "workflows")
            || is_below(".gitea", "workflows")
            || [".circleci", ".buildkite", ".woodpecker", ".gitlab"]
                .into_iter()
                .any(is_in);
        let ci_files = [
            ".gitlab-ci.yml",
            ".travis.yml",
            ".drone.yml",
            ".woodpecker.yml",
            ".woodpecker.yaml",
            ".cirrus.yml",
            ".appveyor.yml",
            "appveyor.yml",
            "azure-pipelines.yml",
            "bitbucket-pipelines.yml",
            "jenkinsfile",
        ];
        if is_ci_folder || ci_files.contains(&name) {
            return Some(Self::Ci);
        }
        let is_agents = [
            ".claude",
            ".gemini",
            ".qwen",
            ".codex",
            ".copilot",
            ".opencode",
            ".cursor",
        ]
        .into_iter()
        .any(is_in);
        if is_agents
            || [
                ".claude.json",
                ".mcp.json",
                "opencode.json",
                "opencode.jsonc",
            ]
            .contains(&name)
        {
            return Some(Self::Agent);
        }
        let is_editors = is_in(".vscode") || is_in(".idea");
        let editor_files = [
            ".exrc",
            ".nvimrc",
            ".nvim.lua",
            ".vimrc",
            ".dir-locals.el",
            ".lvimrc",
        ];
        if is_editors
            || editor_files.contains(&name)
            || (is_in(".helix") && name.ends_with(".toml"))
        {
            return Some(Self::Editor);
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_runs_without_being_started_is_known_by_its_path() {
        for (path, expected) in [
            ("/w/.git/hooks/pre-commit", Some(Runner::Git)),
            ("/w/.git/config", Some(Runner::Git)),
            ("/w/.GIT/config", Some(Runner::Git)),
            ("/w/.git/worktrees/x/config.worktree", Some(Runner::Git)),
            ("/w/.git", Some(Runner::Git)),
            ("/w/.husky/pre-push", Some(Runner::Git)),
            ("/w/sub/.gitattributes", Some(Runner::Git)),
            ("/w/.envrc", Some(Runner::Shell)),
            ("/home/me/.bashrc", Some(Runner::Shell)),
            ("/w/.github/workflows/ci.yml", Some(Runner::Ci)),
            ("/w/.github/actions/x/action.yml", Some(Runner::Ci)),
            ("/w/.gitlab-ci.yml", Some(Runner::Ci)),
            ("/w/Jenkinsfile", Some(Runner::Ci)),
            ("/w/.claude/settings.local.json", Some(Runner::Agent)),
            ("/w/.mcp.json", Some(Runner::Agent)),
            ("/home/me/.codex/config.toml", Some(Runner::Agent)),
            ("/w/.vscode/tasks.json", Some(Runner::Editor)),
            ("/w/.nvim.lua", Some(Runner::Editor)),
            ("/w/.dir-locals.el", Some(Runner::Editor)),
            ("/w/src/git/config.rs", None),
            ("/w/.github/CODEOWNERS", None),
            ("/w/.gitignore", None),
            ("/w/workflows/ci.yml", None),
            ("/w/envrc", None),
            ("/w/hooks/pre-commit", None),
            ("/w/claude/settings.json", None),
            ("/", None),
        ] {
            assert_eq!(Runner::of(Path::new(path)), expected, "{path}");
        }
    }
}
