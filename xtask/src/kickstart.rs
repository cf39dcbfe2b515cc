//! The configurations that most people begin with: kickstart.nvim with the plugins that it installs, and for Vim
//! `amix/vimrc`. From GitHub, each at one commit. Nothing of them is in this repository. Where GitHub cannot be reached, the
//! tests with them are skipped.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use anyhow::{Context, Result, ensure};

const SITE: &str = "https://github.com";

/// A repository there.
#[derive(Debug)]
struct Part {
    name: &'static str,
    commit: &'static str,
    /// By what its users find that commit.
    reference: &'static str,
}

const fn part(name: &'static str, commit: &'static str, reference: &'static str) -> Part {
    Part {
        name,
        commit,
        reference,
    }
}

const PARTS: [Part; 21] = [
    part(
        "nvim-lua/kickstart.nvim",
        "626c660f54054953e630bef85fdf65e159c7516a",
        "refs/heads/main",
    ),
    part(
        "L3MON4D3/LuaSnip",
        "642b0c595e11608b4c18219e93b88d7637af27bc",
        "refs/tags/v2.5.0",
    ),
    part(
        "NMAC427/guess-indent.nvim",
        "84a4987ff36798c2fc1169cbaff67960aed9776f",
        "refs/heads/main",
    ),
    part(
        "WhoIsSethDaniel/mason-tool-installer.nvim",
        "443f1ef8b5e6bf47045cb2217b6f748a223cf7dc",
        "refs/heads/main",
    ),
    part(
        "amix/vimrc",
        "46294d589d15d2e7308cf76c58f2df49bbec31e8",
        "refs/heads/master",
    ),
    part(
        "folke/todo-comments.nvim",
        "411503d3bedeff88484de572f2509c248e499b38",
        "refs/heads/main",
    ),
    part(
        "folke/tokyonight.nvim",
        "cdc07ac78467a233fd62c493de29a17e0cf2b2b6",
        "refs/heads/main",
    ),
    part(
        "folke/which-key.nvim",
        "3aab2147e74890957785941f0c1ad87d0a44c15a",
        "refs/heads/main",
    ),
    part(
        "j-hui/fidget.nvim",
        "6f793b2bcd2d35e201c09520f698bb763220908a",
        "refs/heads/main",
    ),
    part(
        "lewis6991/gitsigns.nvim",
        "31d6fb2d618bca1482b9f274751ead5f03461408",
        "refs/heads/main",
    ),
    part(
        "mason-org/mason-lspconfig.nvim",
        "7adc933dabcc7c86ae6b07aff7ee68eac398491f",
        "refs/heads/main",
    ),
    part(
        "mason-org/mason.nvim",
        "2a6940af80375532e5e9e7c1f2fc6319a1b7a69d",
        "refs/heads/main",
    ),
    part(
        "neovim/nvim-lspconfig",
        "221c43884319e791519f0d6c94a7f2fbcd653278",
        "refs/heads/main",
    ),
    part(
        "nvim-lua/plenary.nvim",
        "b9fd5226c2f76c951fc8ed5923d85e4de065e509",
        "refs/heads/main",
    ),
    part(
        "nvim-mini/mini.nvim",
        "c5cdbadeb423ff724e27a42ab2d1c504d1d6fc5a",
        "refs/heads/main",
    ),
    part(
        "nvim-telescope/telescope-fzf-native.nvim",
        "6fea601bd2b694c6f2ae08a6c6fab14930c60e2c",
        "refs/heads/main",
    ),
    part(
        "nvim-telescope/telescope-ui-select.nvim",
        "6e51d7da30bd139a6950adf2a47fda6df9fa06d2",
        "refs/heads/main",
    ),
    part(
        "nvim-telescope/telescope.nvim",
        "7d324792b7943e4aa16ad007212e6acc6f9fe335",
        "refs/heads/main",
    ),
    part(
        "nvim-treesitter/nvim-treesitter",
        "bd41519ff7901da11ba6e1c8f419f17f2d94305a",
        "refs/heads/main",
    ),
    part(
        "saghen/blink.cmp",
        "78336bc89ee5365633bcf754d93df01678b5c08f",
        "refs/tags/v1.10.2",
    ),
    part(
        "stevearc/conform.nvim",
        "18aeab3d63d350dcf44d64c462cc489a3412af40",
        "refs/heads/main",
    ),
];

/// What is there. Written last.
const STAMP: &str = "installed";

/// Whether a test that is ignored for this reason needs it.
pub fn is_needed(reason: &str) -> bool {
    ["kickstart.nvim", "amix/vimrc"]
        .iter()
        .any(|name| reason.contains(name))
}

/// Fetches them into `kickstart/` in `target_dir`, unless they are there already. The folder `kickstart`: what
/// `PILLION_TEST_KICKSTART` is set to for tests.
///
/// # Errors
/// If git fails; its own message has gone to stderr by then.
pub fn install(target_dir: &Path) -> Result<PathBuf> {
    let folder = std::path::absolute(target_dir.join("kickstart"))?;
    let stamp = folder.join(STAMP);
    let wanted = format!("{PARTS:?}");
    if fs::read(&stamp).is_ok_and(|installed| installed == wanted.as_bytes()) {
        return Ok(folder);
    }
    if folder.exists() {
        fs::remove_dir_all(&folder)
            .with_context(|| format!("cannot remove {}", folder.display()))?;
    }
    for part in &PARTS {
        fetch(part, &folder.join(part.name))?;
    }
    fs::write(&stamp, wanted).with_context(|| format!("cannot write {}", stamp.display()))?;
    Ok(folder)
}

fn fetch(part: &Part, to: &Path) -> Result<()> {
    fs::create_dir_all(to).with_context(|| format!("cannot make {}", to.display()))?;
    git(to, &["init", "--quiet", "--bare", "--initial-branch=main"])?;
    let url = format!("{SITE}/{}", part.name);
    git(to, &["fetch", "--quiet", "--depth=1", &url, part.commit])?;
    // Without its history: Neovim clones with a filter, and git then asks for parents that are not there, for ever.
    let tree = format!("{}^{{tree}}", part.commit);
    let commit = git(to, &["commit-tree", "-m", part.commit, &tree])?;
    fs::remove_file(to.join("shallow"))
        .context("cannot remove the mark of a shallow repository")?;
    git(to, &["update-ref", "refs/heads/main", &commit])?;
    git(to, &["update-ref", part.reference, &commit])?;
    Ok(())
}

/// What it says.
fn git(folder: &Path, arguments: &[&str]) -> Result<String> {
    let output = Command::new("git")
        .args(["-c", "user.name=tests", "-c", "user.email=tests"])
        .args(arguments)
        .current_dir(folder)
        // Where nothing is found, it would ask for a name.
        .env("GIT_TERMINAL_PROMPT", "0")
        .stderr(Stdio::inherit())
        .output()
        .context("git did not start")?;
    ensure!(
        output.status.success(),
        "git {arguments:?} failed: {}",
        output.status
    );
    Ok(String::from_utf8_lossy(&output.stdout).trim().to_owned())
}
