//! Makes the programs of Debian packages run from a folder that is not the root of the file system.

use std::ffi::{OsStr, OsString};
use std::fs;
use std::io::Read as _;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result};

use super::run;

/// Unpacks a package's files; runs none of its scripts.
pub fn unpack(package: &Path, folder: &Path) -> Result<()> {
    run(Command::new("dpkg-deb").arg("-x").arg(package).arg(folder))
        .with_context(|| format!("cannot unpack {}", package.display()))?;
    Ok(())
}

/// Makes `program` use the libraries in `folder`, the C library too: the machine's may be older.
///
/// By what stands in the program and not by its environment, which its children would inherit.
pub fn use_libraries_of(folder: &Path, program: &Path) -> Result<()> {
    let loader = loader(folder).with_context(|| no_c_library(folder))?;
    let triplet = triplet(&loader)?;
    let mut libraries = OsString::new();
    for place in ["usr/lib", "lib"] {
        if !libraries.is_empty() {
            libraries.push(":");
        }
        libraries.push(folder.join(place).join(triplet));
    }
    let mut patchelf = Command::new("patchelf");
    patchelf.arg("--set-interpreter").arg(&loader);
    // The forced form counts for the libraries of its libraries, too.
    patchelf.args(["--force-rpath", "--set-rpath"]);
    run(patchelf.arg(libraries).arg(program))
        .with_context(|| format!("cannot tell {} where its libraries are", program.display()))?;
    Ok(())
}

/// Leads libraries that name folders of the machine, such as `/usr/lib/x86_64-linux-gnu/pulseaudio`, to those
/// in `folder`: what stands in a library counts more than what stands in the program.
pub fn move_library_paths(folder: &Path) -> Result<()> {
    let libraries = libraries(folder)?;
    let places = Path::new("/").join(libraries.strip_prefix(folder)?);
    let mut grep = Command::new("grep");
    grep.args(["-rlF", "--include=*.so*"]).arg(&places);
    // It fails if there are none.
    let found = grep.arg(&libraries).output().context("grep")?;
    let found = String::from_utf8_lossy(&found.stdout);
    for library in found.lines().filter(|library| is_program_code(library)) {
        let named = run(Command::new("patchelf").arg("--print-rpath").arg(library))?;
        let named = String::from_utf8_lossy(&named);
        let named = named.trim();
        if named.starts_with('/') {
            let moved = format!("{}{named}:{}", folder.display(), libraries.display());
            let mut patchelf = Command::new("patchelf");
            patchelf.args(["--force-rpath", "--set-rpath"]);
            run(patchelf.args([&moved, library]))?;
        }
    }
    Ok(())
}

/// Some are scripts of the linker.
fn is_program_code(path: &str) -> bool {
    let mut magic = [0; 4];
    let file = fs::File::open(path);
    file.and_then(|mut file| file.read_exact(&mut magic))
        .is_ok()
        && magic == *b"\x7fELF"
}

/// The folder of the libraries, such as `usr/lib/x86_64-linux-gnu` in `folder`.
pub fn libraries(folder: &Path) -> Result<PathBuf> {
    let loader = loader(folder).with_context(|| no_c_library(folder))?;
    Ok(folder.join("usr/lib").join(triplet(&loader)?))
}

fn triplet(loader: &Path) -> Result<&OsStr> {
    let triplet = loader.parent().and_then(Path::file_name);
    triplet.context("the C library lies in a folder")
}

fn no_c_library(folder: &Path) -> String {
    let folder = folder.display();
    format!("there is no C library in {folder}, though every program depends on it")
}

/// The program that starts others, such as `usr/lib/x86_64-linux-gnu/ld-linux-x86-64.so.2`.
fn loader(folder: &Path) -> Option<PathBuf> {
    let files_in_folders_of = |place: &str| {
        let folders = fs::read_dir(folder.join(place)).into_iter().flatten();
        let files = folders.flatten().map(|entry| fs::read_dir(entry.path()));
        files.flatten().flatten().flatten().map(|file| file.path())
    };
    let mut files = files_in_folders_of("usr/lib").chain(files_in_folders_of("lib"));
    files.find(|path| {
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        name.starts_with("ld-linux") || name.starts_with("ld64.so")
    })
}
