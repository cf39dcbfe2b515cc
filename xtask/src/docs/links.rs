//! The links of pages: found, checked, and made to lead from page to page of the site.

use std::collections::BTreeMap;
use std::fs;
use std::ops::Range;
use std::path::{Path, PathBuf};

use anyhow::Result;

/// A link or a picture in a line.
#[derive(Debug)]
struct Link {
    /// `[text](target)`, with the `!` of a picture.
    whole: Range<usize>,
    text: Range<usize>,
    target: Range<usize>,
}

/// The page as the site has it: links to pages lead to theirs, and what is not on the site is only named.
pub fn for_site(text: &str, file: &str, names: &BTreeMap<&str, &str>) -> String {
    let mut page = String::new();
    for (line, is_code) in lines(text) {
        let mut rest = 0;
        for link in links(line, is_code) {
            page += &line[rest..link.whole.start];
            rest = link.whole.end;
            let target = &line[link.target.clone()];
            let (path, anchor) = target
                .split_once('#')
                .map_or((target, None), |(path, anchor)| (path, Some(anchor)));
            let is_local = !target.contains("://") && !path.is_empty();
            let name = is_local.then(|| names.get(&*joined(file, path)));
            page += &match name {
                None => line[link.whole].to_owned(),
                Some(Some(name)) => {
                    let anchor = anchor.map_or_else(String::new, |anchor| format!("#{anchor}"));
                    format!(
                        "{}{name}{anchor})",
                        &line[link.whole.start..link.target.start]
                    )
                }
                Some(None) => line[link.text].to_owned(),
            };
        }
        page += &line[rest..];
        page.push('\n');
    }
    page
}

/// The links of a page of the repository that lead to no file, or to no heading of a page.
pub fn broken(text: &str, file: &str, root: &Path) -> Vec<String> {
    let mut broken = Vec::new();
    for (line, is_code) in lines(text) {
        for link in links(line, is_code) {
            let target = &line[link.target];
            if target.contains("://") {
                continue;
            }
            let (path, anchor) = target.split_once('#').unwrap_or((target, ""));
            let path = if path.is_empty() {
                file.to_owned()
            } else {
                joined(file, path)
            };
            let is_there = root.join(&path).exists();
            let page = fs::read_to_string(root.join(&path)).unwrap_or_default();
            if !is_there || !(anchor.is_empty() || headings(&page).any(|heading| heading == anchor))
            {
                broken.push(target.to_owned());
            }
        }
    }
    broken
}

/// The links of a built site that lead to none of its files, or to no place in them.
pub fn broken_in(site: &Path) -> Result<Vec<String>> {
    let mut broken = Vec::new();
    for entry in fs::read_dir(site)? {
        let page = entry?.path();
        // The page for printing is all of them.
        let is_page = page.extension().is_some_and(|it| it == "html");
        if !is_page
            || page
                .file_name()
                .is_some_and(|name| name == "print.html" || name == "404.html")
        {
            continue;
        }
        let text = fs::read_to_string(&page)?;
        for attribute in [" href=\"", " src=\""] {
            for part in text.split(attribute).skip(1) {
                let target = part.split('"').next().unwrap_or_default();
                if target.contains(':') {
                    continue;
                }
                let (path, anchor) = target.split_once('#').unwrap_or((target, ""));
                let to = if path.is_empty() {
                    page.clone()
                } else {
                    site.join(path)
                };
                let has = |text: &str| text.contains(&format!("id=\"{anchor}\""));
                let is_there = to.exists() && (anchor.is_empty() || has(&fs::read_to_string(&to)?));
                if !is_there {
                    broken.push(format!("{}: {target}", page.display()));
                }
            }
        }
    }
    Ok(broken)
}

/// The lines, and which of them are code.
fn lines(text: &str) -> impl Iterator<Item = (&str, bool)> {
    let mut is_code = false;
    text.lines().map(move |line| {
        let is_fence = line.trim_start().starts_with("```");
        is_code ^= is_fence;
        (line, is_code || is_fence)
    })
}

fn links(line: &str, is_code: bool) -> Vec<Link> {
    let mut links = Vec::new();
    if is_code {
        return links;
    }
    let is_outside = |at: usize| line[..at].matches('`').count().is_multiple_of(2);
    for (at, _) in line.match_indices("](").filter(|(at, _)| is_outside(*at)) {
        let Some(length) = line[at + 2..].find(')') else {
            continue;
        };
        let target = at + 2..at + 2 + length;
        let Some(open) = opening(&line[..at]) else {
            continue;
        };
        let start = if line[..open].ends_with('!') {
            open - 1
        } else {
            open
        };
        links.push(Link {
            whole: start..target.end + 1,
            text: open + 1..at,
            target,
        });
    }
    links
}

/// The place of the bracket that is closed after this text.
fn opening(before: &str) -> Option<usize> {
    let mut depth = 0;
    for (at, char) in before.char_indices().rev() {
        match char {
            ']' => depth += 1,
            '[' if depth == 0 => return Some(at),
            '[' => depth -= 1,
            _ => {}
        }
    }
    None
}

/// A path as a page names it, from the repository's root.
fn joined(file: &str, path: &str) -> String {
    let folder = Path::new(file).parent().unwrap_or(Path::new(""));
    let mut joined = PathBuf::new();
    for part in folder.join(path).components() {
        match part {
            std::path::Component::ParentDir => drop(joined.pop()),
            part => joined.push(part),
        }
    }
    joined.to_string_lossy().into_owned()
}

/// The places of a page, as GitHub and mdBook name them.
fn headings(page: &str) -> impl Iterator<Item = String> {
    let titles = lines(page).filter(|(line, is_code)| !is_code && line.starts_with('#'));
    titles.map(|(line, _)| {
        let title = line.trim_start_matches('#').trim().to_lowercase();
        let kept = title
            .chars()
            .filter(|char| char.is_alphanumeric() || " -_".contains(*char));
        kept.map(|char| if char == ' ' { '-' } else { char })
            .collect()
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn links_lead_from_page_to_page_and_others_are_only_named() {
        let names = BTreeMap::from([
            ("docs/a.md", "a.md"),
            ("README.md", "index.md"),
            ("docs/p.svg", "p.svg"),
        ]);
        for (written, expected) in [
            (
                "see [it](../README.md#two) and [b](b.md)",
                "see [it](index.md#two) and b",
            ),
            (
                "![a picture](p.svg) [here](#x)",
                "![a picture](p.svg) [here](#x)",
            ),
            (
                "[`code`](../src/lib.rs), `[no](../README.md)`",
                "`code`, `[no](../README.md)`",
            ),
            (
                "[away](https://example.org/a.md)",
                "[away](https://example.org/a.md)",
            ),
            ("```\n[no](b.md)\n```", "```\n[no](b.md)\n```"),
        ] {
            assert_eq!(
                for_site(written, "docs/a.md", &names),
                format!("{expected}\n")
            );
        }
    }

    #[test]
    fn a_link_that_leads_nowhere_is_found() {
        let folder = tempfile::tempdir().unwrap();
        fs::create_dir(folder.path().join("docs")).unwrap();
        fs::write(folder.path().join("README.md"), "# Two words: `x`\n").unwrap();
        let page = "[a](../README.md#two-words-x) [b](../README.md#three) [c](none.md) [d](#here)\n\n## Here\n";
        let found = broken(page, "docs/a.md", folder.path());
        assert_eq!(
            found,
            ["../README.md#three", "none.md", "#here"],
            "a page that is not written"
        );
        fs::write(folder.path().join("docs/a.md"), page).unwrap();
        assert_eq!(
            broken(page, "docs/a.md", folder.path()),
            ["../README.md#three", "none.md"]
        );
    }
}
