//! Building the program for a target.

use std::env;
use std::path::PathBuf;

use anyhow::{Result, ensure};

use super::target::Target;
use crate::test::cargo;
use crate::{root, target_dir};

/// Builds it. Returns its path.
pub fn program(target: &Target) -> Result<PathBuf> {
    let mut command = cargo(&["build", "--locked", "--package", "pillion"]);
    command.args(["--profile", "dist", "--target", target.triple]);
    command.env("CARGO_ENCODED_RUSTFLAGS", flags());
    if target.triple.ends_with("-musl") {
        // It comes with Rust, as does musl itself, and links for every processor.
        let variable = target.triple.to_uppercase().replace('-', "_");
        command.env(format!("CARGO_TARGET_{variable}_LINKER"), "rust-lld");
    }
    ensure!(command.status()?.success(), "the build failed");
    let folder = target_dir().join(target.triple).join("dist");
    Ok(folder.join(target.program))
}

/// Panics name sources: by paths that are the same on every machine.
fn flags() -> String {
    let cargo_home = env::var_os("CARGO_HOME").map(PathBuf::from);
    let cargo_home = cargo_home.or_else(|| Some(env::home_dir()?.join(".cargo")));
    let places = [(cargo_home, "/cargo"), (Some(root()), "/pillion")];
    let flags = places.into_iter().filter_map(|(from, to)| {
        let from = from?;
        Some(format!("--remap-path-prefix={}={to}", from.display()))
    });
    flags.collect::<Vec<_>>().join("\u{1f}")
}
