//! The licences of everything that is in the program and is not ours, as one page.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;
use std::fs;
use std::path::Path;

use anyhow::{Context, Result};
use serde_json::Value;

use super::output;
use super::target::Target;
use crate::test::cargo;

/// The names that files with licences start with.
const NAMES: [&str; 6] = [
    "licen",
    "copying",
    "copyright",
    "notice",
    "unlicense",
    "authors",
];

const HEAD: &str = "# What Pillion is built with\n\n\
    Pillion itself is MIT OR Apache-2.0. The program contains these crates, each under a licence of its own. \
    It also contains Rust's standard library, which is MIT OR Apache-2.0, and where it is built for musl, that library.\n";

const MUSL: &str = "\n## musl\n\n```text\n\
    musl as a whole is licensed under the following standard MIT license:\n\n\
    Copyright © 2005-2020 Rich Felker, et al.\n\n";

/// The page of a target.
pub fn of(target: &Target) -> Result<String> {
    let metadata = output(&mut cargo(&[
        "metadata",
        "--format-version=1",
        "--locked",
        "--filter-platform",
        target.triple,
    ]))?;
    let metadata: Value = serde_json::from_slice(&metadata)?;
    let mut page = HEAD.to_owned();
    let mut texts: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for package in shipped(&metadata) {
        let text = |field: &str| package[field].as_str().unwrap_or_default();
        let name = format!("{} {}", text("name"), text("version"));
        writeln!(page, "- {name}: {}", text("license"))?;
        let manifest = Path::new(text("manifest_path"));
        let folder = manifest.parent().context("a crate without a folder")?;
        for text in read(folder)? {
            texts.entry(text).or_default().push(name.clone());
        }
    }
    // The same text, of many crates, once.
    let mut texts: Vec<_> = texts
        .into_iter()
        .map(|(text, names)| (names, text))
        .collect();
    texts.sort();
    for (names, text) in texts {
        write!(page, "\n## {}\n\n```text\n{text}\n```\n", names.join(", "))?;
    }
    if target.triple.ends_with("-musl") {
        let own = super::read(&crate::root().join("LICENSE-MIT"))?;
        let (_, permission) = own
            .split_once("\n\n")
            .context("a licence of one paragraph")?;
        let (_, permission) = permission.split_once("\n\n").unwrap_or(("", permission));
        write!(page, "{MUSL}{}\n```\n", permission.trim())?;
    }
    page.push('\n');
    page.push_str(&grammars()?);
    Ok(page)
}

/// The crates that end up in the program: what is only run to build it or to test it does not.
fn shipped(metadata: &Value) -> Vec<&Value> {
    let array = |value: &'_ Value| value.as_array().cloned().unwrap_or_default();
    let nodes: BTreeMap<String, Value> = array(&metadata["resolve"]["nodes"])
        .into_iter()
        .map(|node| (node["id"].as_str().unwrap_or_default().to_owned(), node))
        .collect();
    let packages = metadata["packages"].as_array().into_iter().flatten();
    let packages: BTreeMap<&str, &Value> = packages
        .map(|package| (package["id"].as_str().unwrap_or_default(), package))
        .collect();
    let is_macro = |package: &Value| {
        let mut targets = array(&package["targets"]).into_iter();
        targets.any(|target| array(&target["kind"]).contains(&"proc-macro".into()))
    };
    let start = packages.iter().find(|(_, it)| it["name"] == "pillion");
    let mut waiting: Vec<String> = start.map(|(id, _)| (*id).to_owned()).into_iter().collect();
    let mut seen = BTreeSet::new();
    while let Some(id) = waiting.pop() {
        let is_left_out = packages
            .get(id.as_str())
            .is_none_or(|package| is_macro(package));
        if is_left_out || !seen.insert(id.clone()) {
            continue;
        }
        for dep in nodes
            .get(&id)
            .map(|node| array(&node["deps"]))
            .unwrap_or_default()
        {
            let is_normal = array(&dep["dep_kinds"])
                .iter()
                .any(|kind| kind["kind"].is_null());
            if is_normal {
                waiting.extend(dep["pkg"].as_str().map(str::to_owned));
            }
        }
    }
    let others = seen.iter().filter_map(|id| packages.get(id.as_str()));
    let mut others: Vec<_> = others
        .copied()
        .filter(|it| !it["source"].is_null())
        .collect();
    others.sort_by_key(|it| it["name"].as_str().unwrap_or_default().to_owned());
    others
}

/// The licences in a crate's folder.
fn read(folder: &Path) -> Result<Vec<String>> {
    let entries = fs::read_dir(folder);
    let entries = entries.with_context(|| format!("cannot list {}", folder.display()))?;
    let mut texts = Vec::new();
    for entry in entries {
        let path = entry?.path();
        let name = path
            .file_name()
            .unwrap_or_default()
            .to_string_lossy()
            .to_lowercase();
        if path.is_file() && NAMES.iter().any(|start| name.starts_with(start)) {
            let bytes =
                fs::read(&path).with_context(|| format!("cannot read {}", path.display()))?;
            let text = String::from_utf8_lossy(&bytes).replace("\r\n", "\n");
            texts.push(text.trim().to_owned());
        }
    }
    texts.sort();
    Ok(texts)
}

/// Those of the grammars that the review colours with, which are no crates.
fn grammars() -> Result<String> {
    let printed = output(&mut cargo(&[
        "run",
        "--quiet",
        "--locked",
        "--package",
        "pillion-judge",
        "--example",
        "acknowledgements",
    ]))?;
    Ok(String::from_utf8(printed)?)
}
