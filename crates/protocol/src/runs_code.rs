//! Files that programs run, or take orders from, without anybody starting them: a change of one of these is a change
//! of what this machine does.

use std::path::{Component, Path};

use crate::Dialect;

/// The program that runs or obeys a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Runner {
    /// git: hooks, settings, attributes.
    Git,
    /// A shell, when it starts or enters a folder.
    Shell,
    /// The project's continuous integration, or what deploys it.
    Ci,
    /// A coding agent: settings, hooks, servers.
    Agent,
    /// An editor: tasks, settings of a folder, containers.
    Editor,
    /// A program that builds or installs: cargo, npm, yarn.
    Builder,
    /// Another program when it starts, such as a debugger or the desktop.
    Start,
}

/// Names that belong to a program, wherever they lie: of a file, or of a folder with all that is in it. In a work tree, `.git` is a
/// file that leads to another folder.
const NAMES: [(Runner, &str); 7] = [
    (
        Runner::Git,
        ".git .husky .githooks .gitmodules .gitattributes .gitconfig .pre-commit-config.yaml \
         .pre-commit-hooks.yaml .overcommit.yml .huskyrc .hgrc",
    ),
    (
        Runner::Shell,
        ".envrc .direnvrc .bashrc .bash_profile .bash_login .bash_logout .bash_aliases .profile \
         .kshrc .mkshrc .zshrc .zshenv .zprofile .zlogin .zlogout config.fish .cshrc .tcshrc .login .logout \
         .xonshrc .inputrc",
    ),
    (
        Runner::Ci,
        ".circleci .buildkite .woodpecker .gitlab .builds .semaphore .teamcity .tekton .pipelines \
         .azure-pipelines .harness .build.yml jenkinsfile .gitpod.yml",
    ),
    (
        Runner::Agent,
        ".mcp.json .cursor .cursorrules .windsurf .windsurfrules .continue .kilocode .roo .roorules .roomodes .kiro .crush crush.json \
         .crush.json crush.md .cline .clinerules .aider.conf.yml .goosehints .amazonq .junie .trae .augment .factory .amp .agents .rules",
    ),
    (
        Runner::Editor,
        ".vscode .idea .devcontainer .devcontainer.json .zed .exrc .nvimrc .nvim.lua .vimrc .gvimrc \
         .lvimrc .dir-locals.el .dir-locals-2.el .emacs .emacs.el .emacs.d .vs",
    ),
    (
        Runner::Builder,
        ".npmrc .yarnrc .yarnrc.yml .yarn .pnpmfile.cjs bunfig.toml .mvn .bundle .bazelrc \
         rust-toolchain rust-toolchain.toml .sbtopts .jvmopts devbox.json",
    ),
    (
        Runner::Start,
        ".gdbinit .lldbinit .ghci .rprofile .renviron .irbrc .pryrc .ocamlinit .psqlrc .sqliterc .tmux.conf \
         .xprofile .xinitrc .xsession .xsessionrc .pam_environment .ssh launchagents .ipython .iex.exs .octaverc",
    ),
];

/// Folders, or files, that count only in a folder of this name.
const INNER: [(Runner, &str, &str); 13] = [
    (
        Runner::Ci,
        ".github",
        "workflows actions dependabot.yml dependabot.yaml",
    ),
    (Runner::Ci, ".forgejo", "workflows actions"),
    (Runner::Ci, ".gitea", "workflows actions"),
    (
        Runner::Agent,
        ".github",
        "hooks agents chatmodes instructions prompts skills",
    ),
    (Runner::Git, ".config", "git jj hg husky"),
    (
        Runner::Shell,
        ".config",
        "mise direnv nushell elvish powershell xonsh",
    ),
    (Runner::Shell, "mise", "config.toml"),
    (Runner::Shell, ".local", "bin"),
    (Runner::Shell, "fish", "conf.d functions"),
    (
        Runner::Editor,
        ".vim",
        "local.vim coc-settings.json vimrc gvimrc plugin autoload after ftplugin pack",
    ),
    (Runner::Editor, ".config", "nvim emacs helix kak"),
    (
        Runner::Start,
        ".config",
        "autostart environment.d systemd tmux gdb pillion",
    ),
    (Runner::Builder, ".cargo", "config config.toml"),
];

/// Settings of these are a file of their name, with or without a dot before it and with an ending of settings.
const SETTINGS: &str = "gitlab-ci travis drone woodpecker cirrus appveyor azure-pipelines bitbucket-pipelines wercker \
     buildspec codemagic bitrise cloudbuild vela render fly railway amplify";

/// The same, where there may be more words before the ending: `mise.local.toml`, `lefthook-local.yml`.
const SETTINGS_AND_MORE: [(Runner, &str); 5] = [
    (Runner::Git, "lefthook"),
    (Runner::Shell, "mise"),
    (Runner::Shell, "rtx"),
    (Runner::Ci, "netlify"),
    (Runner::Ci, "vercel"),
];

impl Runner {
    /// For people: a sentence without a full stop.
    pub fn sentence(self) -> &'static str {
        match self {
            Self::Git => "git runs or obeys this file",
            Self::Shell => "your shell runs this file",
            Self::Ci => "the project's CI runs this file",
            Self::Agent => "agents take settings or instructions from this file",
            Self::Editor => "editors run tasks or take settings from this file",
            Self::Builder => "programs that build or install run or obey this file",
            Self::Start => "a program runs or obeys this file when it starts",
        }
    }

    /// The program that runs or obeys the file of this path, if the path tells it. Another name of the file may tell more, and so
    /// may the settings of its repository.
    pub fn of(path: &Path) -> Option<Self> {
        let names: Vec<String> = path
            .components()
            .filter_map(|part| match part {
                Component::Normal(name) => Some(name.to_string_lossy().to_lowercase()),
                _ => None,
            })
            .collect();
        let names = in_work_tree(&names);
        let name = names.last()?;
        of_names(names)
            .or_else(|| of_settings(name))
            .or_else(|| of_folders(names, name))
    }
}

fn of_names(names: &[String]) -> Option<Runner> {
    let has = |all: &str| names.iter().any(|name| is_among(all, name));
    let of_agents = || names.iter().any(|it| is_agents(it));
    let found = NAMES.iter().find(|(_, all)| has(all));
    found
        .map(|(runner, _)| *runner)
        .or_else(|| of_agents().then_some(Runner::Agent))
}

fn of_settings(name: &str) -> Option<Runner> {
    if name.ends_with(".code-workspace") {
        return Some(Runner::Editor);
    }
    let name = name.strip_prefix('.').unwrap_or(name);
    let (stem, ending) = name.rsplit_once('.')?;
    if !["yml", "yaml", "toml", "json"].contains(&ending) {
        return None;
    }
    let is_of = |program: &str| {
        let more = stem.strip_prefix(program);
        more.is_some_and(|it| it.is_empty() || it.starts_with(['.', '-']))
    };
    let found = SETTINGS_AND_MORE.iter().find(|(_, it)| is_of(it));
    let is_ci = || is_among(SETTINGS, stem).then_some(Runner::Ci);
    found.map(|(runner, _)| *runner).or_else(is_ci)
}

fn of_folders(names: &[String], name: &str) -> Option<Runner> {
    let has = |folder: &str, inner: &str| {
        let mut pairs = names.windows(2);
        pairs.any(|pair| pair[0] == folder && is_among(inner, &pair[1]))
    };
    let found = INNER.iter().find(|(_, folder, inner)| has(folder, inner));
    let is_of_agent = || {
        let mut pairs = names.windows(2);
        pairs.any(|pair| pair[0] == ".config" && is_agents(&format!(".{}", pair[1])))
    };
    let is_settings = |folder: &str| name.ends_with(".toml") && names.iter().any(|it| it == folder);
    found
        .map(|(runner, ..)| *runner)
        .or_else(|| is_of_agent().then_some(Runner::Agent))
        .or_else(|| is_settings(".mise").then_some(Runner::Shell))
        .or_else(|| is_settings(".helix").then_some(Runner::Editor))
}

/// Returns true if this name is one of those, which are separated by spaces.
fn is_among(names: &str, name: &str) -> bool {
    names.split(' ').any(|it| it == name)
}

/// Returns true if an agent keeps settings there: it is a folder, or a file.
fn is_agents(name: &str) -> bool {
    let mut agents = Dialect::ALL.into_iter();
    agents.any(|it| it.keeps_settings_in().contains(&name))
}

/// The part of a path that counts: from the work tree on, if it is in one that an agent has made in its own folder.
fn in_work_tree(names: &[String]) -> &[String] {
    let is_start = |pair: &[String]| pair[1] == "worktrees" && is_agents(&pair[0]);
    let start = names.windows(2).rposition(is_start);
    let inner = start.and_then(|at| names.get(at + 3..));
    inner.filter(|it| !it.is_empty()).unwrap_or(names)
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
            ("/w/.pre-commit-hooks.yaml", Some(Runner::Git)),
            ("/w/.config/git/config", Some(Runner::Git)),
            ("/w/.direnvrc", Some(Runner::Shell)),
            ("/w/.rtx.toml", Some(Runner::Shell)),
            ("/home/me/.local/bin/git", Some(Runner::Shell)),
            ("/home/me/.local/share/x", None),
            ("/home/me/.config/environment.d/x.conf", Some(Runner::Start)),
            ("/home/me/.config/pillion/keys.toml", Some(Runner::Start)),
            (
                "/home/me/.ipython/profile_default/startup/x.py",
                Some(Runner::Start),
            ),
            ("/home/me/.xsession", Some(Runner::Start)),
            ("/w/devbox.json", Some(Runner::Builder)),
            ("/w/crush.json", Some(Runner::Agent)),
            ("/w/.crush.json", Some(Runner::Agent)),
            ("/w/.amazonq/rules/x.md", Some(Runner::Agent)),
            ("/w/.junie/guidelines.md", Some(Runner::Agent)),
            ("/w/.trae/rules/x.md", Some(Runner::Agent)),
            ("/w/sub/GEMINI.md", Some(Runner::Agent)),
            ("/w/QWEN.md", Some(Runner::Agent)),
            ("/w/AGENTS.md", Some(Runner::Agent)),
            ("/w/CLAUDE.local.md", Some(Runner::Agent)),
            ("/w/.cursorrules", Some(Runner::Agent)),
            ("/w/.github/copilot-instructions.md", Some(Runner::Agent)),
            ("/w/.github/prompts/x.md", Some(Runner::Agent)),
            ("/w/docs/agents-and-more.md", None),
            ("/home/me/.config/direnv/lib/x.sh", Some(Runner::Shell)),
            ("/w/.github/dependabot.yml", Some(Runner::Ci)),
            ("/w/.build.yml", Some(Runner::Ci)),
            ("/w/.builds/x.yml", Some(Runner::Ci)),
            ("/w/.semaphore/semaphore.yml", Some(Runner::Ci)),
            ("/w/.teamcity/settings.kts", Some(Runner::Ci)),
            ("/w/.tekton/x.yaml", Some(Runner::Ci)),
            ("/w/.pipelines/x.yml", Some(Runner::Ci)),
            ("/w/wercker.yml", Some(Runner::Ci)),
            ("/w/buildspec.yml", Some(Runner::Ci)),
            ("/w/codemagic.yaml", Some(Runner::Ci)),
            ("/w/bitrise.yml", Some(Runner::Ci)),
            ("/w/cloudbuild.json", Some(Runner::Ci)),
            ("/w/.vela.yml", Some(Runner::Ci)),
            ("/w/netlify.toml", Some(Runner::Ci)),
            ("/w/vercel.json", Some(Runner::Ci)),
            ("/w/.gitlab-ci.yaml", Some(Runner::Ci)),
            ("/w/.vibe/hooks.toml", Some(Runner::Agent)),
            ("/w/.kimi-code/config.toml", Some(Runner::Agent)),
            ("/w/opencode.jsonc", Some(Runner::Agent)),
            ("/w/x.code-workspace", Some(Runner::Editor)),
            ("/w/.zed/tasks.json", Some(Runner::Editor)),
            ("/w/.vim/local.vim", Some(Runner::Editor)),
            ("/w/.helix/languages.toml", Some(Runner::Editor)),
            ("/w/.yarn/releases/yarn.cjs", Some(Runner::Builder)),
            ("/w/.gdbinit", Some(Runner::Start)),
            ("/w/.lldbinit", Some(Runner::Start)),
            ("/w/.Rprofile", Some(Runner::Start)),
            ("/home/me/.config/autostart/x.desktop", Some(Runner::Start)),
            ("/home/me/.cshrc", Some(Runner::Shell)),
            ("/home/me/.inputrc", Some(Runner::Shell)),
            ("/home/me/.config/nushell/config.nu", Some(Runner::Shell)),
            ("/w/mise/config.toml", Some(Runner::Shell)),
            ("/w/rust-toolchain", Some(Runner::Builder)),
            ("/home/me/.config/tmux/tmux.conf", Some(Runner::Start)),
            ("/home/me/.emacs.d/init.el", Some(Runner::Editor)),
            ("/home/me/.config/nvim/init.lua", Some(Runner::Editor)),
            ("/home/me/.vim/plugin/x.vim", Some(Runner::Editor)),
            ("/home/me/.hgrc", Some(Runner::Git)),
            ("/w/.config/jj/config.toml", Some(Runner::Git)),
            ("/w/.config/husky/init.sh", Some(Runner::Git)),
            ("/w/.config/opencode/plugin/p.js", Some(Runner::Agent)),
            ("/w/opencode/plugin/p.js", None),
            ("/w/.roo/mcp.json", Some(Runner::Agent)),
            ("/w/render.yaml", Some(Runner::Ci)),
            ("/w/.gitpod.yml", Some(Runner::Ci)),
            ("/w/.vs/launch.vs.json", Some(Runner::Editor)),
            ("/w/render.rs", None),
            ("/w/.vim/notes.txt", None),
            ("/w/drone-data.json", None),
            ("/w/build.yml", None),
            ("/w/x.code-workspace/a", None),
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
