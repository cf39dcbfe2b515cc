//! Lists the files of the plugins that `pillion install` puts in place, so that the program holds
//! them: no download, and plugin and program are of one version.

#![allow(
    clippy::unwrap_used,
    reason = "a build that cannot read its sources says where it stopped"
)]

use std::fmt::Write;
use std::path::{Path, PathBuf};
use std::{env, fs};

fn main() {
    let own = PathBuf::from(env::var("CARGO_MANIFEST_DIR").unwrap());
    // A link in the repository, so that the published crate has them. Where there are no links, it is a file.
    let linked = own.join("editors");
    let editors = if linked.is_dir() {
        linked
    } else {
        own.join("../../editors")
    };
    let editors = editors.canonicalize().unwrap();
    println!("cargo::rerun-if-changed=build.rs");
    println!("cargo::rerun-if-changed={}", editors.display());
    let out = Path::new(&env::var("OUT_DIR").unwrap()).join("plugins.rs");
    fs::write(out, list(&editors)).unwrap();
}

/// The files of all plugins by their paths below `root`, as an expression.
fn list(root: &Path) -> String {
    let mut files = Vec::new();
    collect(root, &mut files);
    files.sort();
    let mut code = String::from("&[\n");
    for file in files {
        let name = file.strip_prefix(root).unwrap().to_str().unwrap();
        let name = name.replace('\\', "/");
        writeln!(code, "({name:?}, include_bytes!({file:?})),").unwrap();
    }
    code.push_str("]\n");
    code
}

fn collect(folder: &Path, files: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if !is_part(path.file_name().unwrap().to_str().unwrap()) {
            continue;
        }
        if path.is_dir() {
            collect(&path, files);
        } else {
            files.push(path);
        }
    }
}

/// Neither what an editor left beside a file that it has open nor what people read in the repository.
fn is_part(name: &str) -> bool {
    !name.starts_with(['.', '#']) && !name.ends_with('~') && name != "README.md"
}
