//! The packages for npm: one with the program for each platform, and `pillion`, which has them as optional
//! dependencies. npm installs the one that fits; nothing is downloaded afterwards.

use std::path::Path;

use anyhow::Result;
use serde_json::{Map, Value, json};

use super::parts::{LICENCES, OTHERS_LICENCES};
use super::target::Target;
use super::{ADDRESS, VERSION, archive, copy, remove, write};
use crate::root;

/// The name of the top folder of every package.
const FOLDER: &str = "package";

/// Makes the package of one platform in `out`, from the folder of the archive.
pub fn platform(target: &Target, folder: &Path, out: &Path) -> Result<()> {
    let staging = folder.with_file_name("npm");
    remove(&staging)?;
    let package = staging.join(FOLDER);
    copy(
        &folder.join(target.program),
        &package.join("bin").join(target.program),
    )?;
    for file in LICENCES.into_iter().chain([OTHERS_LICENCES]) {
        copy(&folder.join(file), &package.join(file))?;
    }
    let name = target.npm_name();
    let (os, cpu) = target.npm;
    write_manifest(
        &package,
        &name,
        json!({
            "description": format!("The program of the package pillion for {os} on {cpu}"),
            "os": [os], "cpu": [cpu],
            "preferUnplugged": true,
        }),
    )?;
    archive::pack(&staging, FOLDER, &out.join(file_name(&name)))
}

/// Makes `pillion` in `out`, for the platforms whose packages are there.
pub fn launcher(staging: &Path, out: &Path) -> Result<()> {
    remove(staging)?;
    let package = staging.join(FOLDER);
    let source = root().join("packaging/npm/pillion.js");
    copy(&source, &package.join("bin/pillion.js"))?;
    for file in LICENCES.into_iter().chain(["README.md"]) {
        copy(&root().join(file), &package.join(file))?;
    }
    let names = Target::all().iter().map(Target::npm_name);
    let there = names.filter(|name| out.join(file_name(name)).is_file());
    let optional: Map<String, Value> = there.map(|name| (name, VERSION.into())).collect();
    write_manifest(
        &package,
        "pillion",
        json!({
            "description": "The IDE companion of terminal coding agents, for every editor",
            "keywords": ["agent", "claude-code", "gemini-cli", "qwen-code", "editor", "neovim"],
            "bin": {"pillion": "bin/pillion.js"},
            "engines": {"node": ">=18"},
            "optionalDependencies": optional,
        }),
    )?;
    archive::pack(staging, FOLDER, &out.join(file_name("pillion")))
}

/// The name that `npm pack` would give it.
pub fn file_name(name: &str) -> String {
    format!("{name}-{VERSION}.tgz")
}

fn write_manifest(package: &Path, name: &str, more: Value) -> Result<()> {
    let mut manifest = json!({
        "name": name, "version": VERSION, "license": env!("CARGO_PKG_LICENSE"),
    });
    if ADDRESS.starts_with("https://") {
        manifest["repository"] = json!({"type": "git", "url": format!("git+{ADDRESS}.git")});
    }
    if let (Value::Object(all), Value::Object(more)) = (&mut manifest, more) {
        all.extend(more);
    }
    let text = serde_json::to_string_pretty(&manifest)?;
    write(&package.join("package.json"), text + "\n")
}
