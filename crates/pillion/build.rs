//! Lists the files of the plugins that `pillion install` puts in place, so that the program holds
//! them: no download, and plugin and program are of one version.

#![allow(
    clippy::unwrap_used,
    reason = "a build that cannot read its sources says where it stopped"
)]

use std::fmt::Write;
use std::path::{Path, PathBuf};
use std::{env, fs};

/// Where a plugin's files lie, beside what people read in the repository.
const FOLDERS: [&str; 3] = ["doc", "lua", "plugin"];

/// What of them an editor reads.
const EXTENSIONS: [&str; 2] = ["lua", "txt"];

fn main() {
    let root = Path::new(&env::var("CARGO_MANIFEST_DIR").unwrap()).join("../../editors/nvim");
    let root = root.canonicalize().unwrap();
    let mut files = Vec::new();
    for folder in FOLDERS {
        collect(&root.join(folder), &mut files);
    }
    files.sort();
    let mut code = String::from("&[\n");
    for file in files {
        let name = file.strip_prefix(&root).unwrap().to_str().unwrap();
        let name = name.replace('\\', "/");
        writeln!(code, "({name:?}, include_bytes!({file:?})),").unwrap();
    }
    code.push_str("]\n");
    let out = Path::new(&env::var("OUT_DIR").unwrap()).join("nvim_files.rs");
    fs::write(out, code).unwrap();
    println!("cargo::rerun-if-changed=build.rs");
    println!("cargo::rerun-if-changed={}", root.display());
}

fn collect(folder: &Path, files: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        let is_read = |extension| EXTENSIONS.iter().any(|read| extension == *read);
        if path.is_dir() {
            collect(&path, files);
        } else if path.extension().is_some_and(is_read) {
            files.push(path);
        }
    }
}
