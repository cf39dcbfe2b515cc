//! `cargo xtask docs`: the site, built by mdBook from the pages of the repository.

mod links;

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::process::{Command, ExitCode};

use anyhow::{Context, Result, ensure};

use self::links::{broken_in, for_site};
use crate::{root, target_dir};

/// Build the site from the pages of the repository, and check its links
#[derive(Debug, clap::Args)]
pub struct Args {}

/// The release that is run; it is built once, into the target folder.
const MDBOOK: &str = "0.5.4";

/// The pages in their order: where they are, what they are called on the site, and their titles. A page without a file
/// begins a part.
const PAGES: [(&str, &str, &str); 27] = [
    ("README.md", "index.md", "Pillion"),
    ("", "", "For everybody"),
    ("docs/install.md", "install.md", "Installing"),
    ("docs/review.md", "review.md", "The review"),
    ("docs/page.md", "page.md", "The page"),
    ("docs/agents.md", "agents.md", "Agents"),
    ("docs/hooks.md", "hooks.md", "Hooks"),
    ("docs/changes.md", "changes.md", "After the write"),
    (
        "docs/doctor.md",
        "doctor.md",
        "If an agent does not connect",
    ),
    ("docs/remote.md", "remote.md", "SSH, WSL, containers"),
    ("docs/scripts.md", "scripts.md", "Scripts"),
    ("docs/cli.md", "cli.md", "Command line"),
    ("", "", "In editors"),
    ("editors/nvim/README.md", "nvim.md", "Neovim"),
    ("editors/vim/README.md", "vim.md", "Vim"),
    ("editors/emacs/README.md", "emacs.md", "Emacs"),
    ("editors/kakoune/README.md", "kakoune.md", "Kakoune"),
    (
        "editors/vscode/README.md",
        "vscode.md",
        "VS Code and its forks",
    ),
    ("docs/editors.md", "editors.md", "Other editors"),
    ("", "", "Building on it"),
    (
        "docs/editor-protocol.md",
        "editor-protocol.md",
        "Writing a plugin",
    ),
    (
        "docs/conformance.md",
        "conformance.md",
        "Checking a companion",
    ),
    ("SECURITY.md", "security.md", "Security"),
    ("docs/architecture.md", "architecture.md", "Architecture"),
    ("CONTRIBUTING.md", "contributing.md", "Contributing"),
    ("docs/figures.md", "figures.md", "Figures"),
    ("CHANGELOG.md", "changes.md", "Changes"),
];

/// The pictures.
const BESIDE: [(&str, &str); 3] = [
    ("docs/page.png", "page.png"),
    ("docs/review.svg", "review.svg"),
    ("docs/nvim.svg", "nvim.svg"),
];

pub fn run(_: &Args) -> Result<ExitCode> {
    ensure_whole("pages", &broken_in_pages(&root())?)?;
    let mdbook = install()?;
    let folder = target_dir().join("site");
    let source = folder.join("source");
    let _ = fs::remove_dir_all(&folder);
    fs::create_dir_all(&source)?;
    fs::write(folder.join("book.toml"), SETTINGS)?;
    write_pages(&root(), &source)?;
    let built = Command::new(mdbook).arg("build").arg(&folder).status()?;
    ensure!(built.success(), "mdBook failed");
    let site = folder.join("book");
    ensure_whole("site", &broken_in(&site)?)?;
    println(&format!("The site is in {}", site.display()))?;
    Ok(ExitCode::SUCCESS)
}

const SETTINGS: &str = "\
[book]
title = \"Pillion\"
language = \"en\"
src = \"source\"

[output.html]
no-section-label = true
";

/// The path of mdBook, once it has been built.
fn install() -> Result<std::path::PathBuf> {
    let folder = std::path::absolute(target_dir().join("mdbook"))?;
    let installed = Command::new(env!("CARGO"))
        .args(["install", "mdbook", "--locked", "--version", MDBOOK])
        .args(["--no-default-features", "--features", "search", "--root"])
        .arg(&folder)
        // It is nobody's business how this workspace is built.
        .env_remove("CARGO_TARGET_DIR")
        .status()?;
    ensure!(installed.success(), "mdBook could not be built");
    Ok(folder.join("bin/mdbook"))
}

fn ensure_whole(what: &str, broken: &[String]) -> Result<()> {
    let listed = broken.join("\n");
    ensure!(
        broken.is_empty(),
        "links of the {what} lead nowhere:\n{listed}"
    );
    Ok(())
}

/// The links of the repository's pages that lead nowhere.
fn broken_in_pages(root: &Path) -> Result<Vec<String>> {
    let mut broken = Vec::new();
    let files = PAGES.iter().map(|(file, ..)| *file);
    for file in files.filter(|file| !file.is_empty()) {
        let text = fs::read_to_string(root.join(file)).with_context(|| format!("no {file}"))?;
        let targets = links::broken(&text, file, root);
        broken.extend(targets.iter().map(|target| format!("{file}: {target}")));
    }
    Ok(broken)
}

fn write_pages(root: &Path, source: &Path) -> Result<()> {
    let pages = PAGES.iter().filter(|(file, ..)| !file.is_empty());
    let pages = pages.map(|(file, name, _)| (*file, *name));
    let names: BTreeMap<&str, &str> = pages.chain(BESIDE).collect();
    for (file, name) in &names {
        let from = root.join(file);
        let to = source.join(name);
        if !file.ends_with(".md") {
            fs::copy(&from, &to).with_context(|| format!("no {file}"))?;
            continue;
        }
        let text = fs::read_to_string(&from).with_context(|| format!("no {file}"))?;
        fs::write(to, for_site(&text, file, &names))?;
    }
    let mut summary = "# Summary\n".to_owned();
    for (index, (file, name, title)) in PAGES.iter().enumerate() {
        summary += &match (file.is_empty(), index) {
            (true, _) => format!("\n# {title}\n\n"),
            (false, 0) => format!("\n[{title}]({name})\n"),
            (false, _) => format!("- [{title}]({name})\n"),
        };
    }
    Ok(fs::write(source.join("SUMMARY.md"), summary)?)
}

fn println(text: &str) -> Result<()> {
    use std::io::Write as _;

    Ok(writeln!(std::io::stdout(), "{text}")?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_page_of_the_repository_is_on_the_site() {
        let listed = |file: &str| PAGES.iter().any(|(known, ..)| *known == file);
        for entry in fs::read_dir(root().join("docs")).unwrap() {
            let name = entry.unwrap().file_name().into_string().unwrap();
            let file = format!("docs/{name}");
            assert!(!name.ends_with(".md") || listed(&file), "{file}");
        }
        for entry in fs::read_dir(root().join("editors")).unwrap() {
            let name = entry.unwrap().file_name().into_string().unwrap();
            let file = format!("editors/{name}/README.md");
            assert!(!root().join(&file).exists() || listed(&file), "{file}");
        }
    }

    #[test]
    fn no_link_of_the_repositorys_pages_leads_nowhere() {
        let broken = broken_in_pages(&root()).unwrap();
        assert!(broken.is_empty(), "{broken:?}");
    }
}
