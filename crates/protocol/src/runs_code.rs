//! Files that programs run, or take orders from, without anybody starting them: a change of one of these is a change
//! of what this machine does.

use std::path::{Component, Path};

/// The folders in which agents keep settings, and some of them work trees.
const AGENTS_FOLDERS: [&str; 7] = [
    ".claude",
    ".gemini",
    ".qwen",
    ".codex",
    ".copilot",
    ".opencode",
    ".cursor",
];

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
    /// An editor: tasks, settings of a folder, containers.
    Editor,
    /// A program that builds or installs: cargo, npm, yarn.
    Builder,
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
            Self::Builder => "programs that build or install run or obey this file",
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
        let names = in_work_tree(&names);
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
        ]
        .contains(&name)
            || is_settings_of("lefthook", name)
        {
            return Some(Self::Git);
        }
        if [
            ".envrc",
            ".bashrc",
            ".bash_profile",
            ".bash_login",
            ".bash_logout",
            ".profile",
            ".zshrc",
            ".zshenv",
            ".zprofile",
            ".zlogin",
            ".zlogout",
        ]
        .contains(&name)
            || is_settings_of("mise", name)
            || (is_in(".mise") || is_below(".config", "mise")) && name.ends_with(".toml")
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
        let is_agents = AGENTS_FOLDERS.into_iter().any(is_in);
        if is_agents
            || is_below(".github", "hooks")
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
        let is_editors = is_in(".vscode") || is_in(".idea") || is_in(".devcontainer");
        let editor_files = [
            ".exrc",
            ".nvimrc",
            ".nvim.lua",
            ".vimrc",
            ".dir-locals.el",
            ".lvimrc",
            ".devcontainer.json",
        ];
        if is_editors
            || editor_files.contains(&name)
            || (is_in(".helix") && name.ends_with(".toml"))
        {
            return Some(Self::Editor);
        }
        let is_builders = [".npmrc", ".yarnrc", ".yarnrc.yml", ".pnpmfile.cjs"].contains(&name)
            || is_in(".cargo") && ["config", "config.toml"].contains(&name);
        is_builders.then_some(Self::Builder)
    }
}

/// The part of a path that counts: from the work tree on, if it is in one that an agent has made in its own folder.
fn in_work_tree(names: &[String]) -> &[String] {
    let is_start =
        |pair: &[String]| pair[1] == "worktrees" && AGENTS_FOLDERS.contains(&pair[0].as_str());
    let start = names.windows(2).rposition(is_start);
    let inner = start.and_then(|at| names.get(at + 3..));
    inner.filter(|it| !it.is_empty()).unwrap_or(names)
}

/// Returns true if these are settings of this program, in one of the ways in which it and its like name them: `mise.toml`,
/// `.mise.local.toml`, `lefthook-local.yml`.
fn is_settings_of(program: &str, name: &str) -> bool {
    let name = name.strip_prefix('.').unwrap_or(name);
    let rest = name.strip_prefix(program);
    let ending = rest.filter(|it| it.starts_with(['.', '-']));
    ending.is_some_and(|it| {
        [".yml", ".yaml", ".toml", ".json"]
            .iter()
            .any(|end| it.ends_with(end))
    })
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
            ("/w/lefthook.yaml", Some(Runner::Git)),
            ("/w/.lefthook-local.yml", Some(Runner::Git)),
            ("/w/mise.local.toml", Some(Runner::Shell)),
            ("/w/.mise.toml", Some(Runner::Shell)),
            ("/w/.mise/config.toml", Some(Runner::Shell)),
            ("/home/me/.bash_login", Some(Runner::Shell)),
            ("/home/me/.bash_logout", Some(Runner::Shell)),
            ("/home/me/.zlogin", Some(Runner::Shell)),
            ("/home/me/.zlogout", Some(Runner::Shell)),
            ("/w/.github/hooks/x.json", Some(Runner::Agent)),
            ("/w/.devcontainer/devcontainer.json", Some(Runner::Editor)),
            ("/w/.devcontainer/Dockerfile", Some(Runner::Editor)),
            ("/w/.cargo/config.toml", Some(Runner::Builder)),
            ("/w/.cargo/config", Some(Runner::Builder)),
            ("/w/.npmrc", Some(Runner::Builder)),
            ("/w/.yarnrc.yml", Some(Runner::Builder)),
            ("/w/.claude/worktrees/x/.envrc", Some(Runner::Shell)),
            (
                "/w/.claude/worktrees/x/.claude/settings.json",
                Some(Runner::Agent),
            ),
            ("/w/.claude/worktrees/x", Some(Runner::Agent)),
            ("/w/.claude/worktrees/x/src/main.rs", None),
            ("/w/.claude/worktrees/x/.claude/worktrees/y/a", None),
            ("/w/.codex/worktrees/x/w/a", None),
            ("/w/claude/worktrees/x/.npmrc", Some(Runner::Builder)),
            ("/w/.cargo/audit.toml", None),
            ("/w/lefthook/a.rs", None),
            ("/w/misery.toml", None),
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
