//! The folders that a companion serves.

use std::path::{Path, PathBuf};

use anyhow::Context;
use pillion_discovery::canonicalize;
use pillion_protocol::discovery::join_roots;

use crate::failure::{Failure, Kind};

/// The real paths of `roots`, or of the current folder when there are none.
pub fn roots(roots: &[PathBuf]) -> anyhow::Result<Vec<PathBuf>> {
    let roots = match roots {
        [] => {
            let current = std::env::current_dir().context(
                Failure::new(Kind::Refused, "the current folder no longer exists")
                    .hint("Change to an existing folder, or name one with --workspace."),
            )?;
            vec![root(&current)?]
        }
        roots => roots
            .iter()
            .map(|path| root(path))
            .collect::<Result<_, _>>()?,
    };
    join_roots(&roots).map_err(|error| {
        Failure::new(Kind::Refused, error.to_string()).hint(
            "The discovery files cannot hold such a path; rename the folder, or use one above it.",
        )
    })?;
    Ok(roots)
}

/// The real path of a folder that was named.
pub fn root(path: &Path) -> anyhow::Result<PathBuf> {
    let shown = path.display();
    // Agents compare real paths (C2.7).
    let real = canonicalize(path).with_context(|| {
        Failure::new(
            Kind::Refused,
            format!("the workspace {shown} does not exist"),
        )
        .hint("--workspace takes an existing folder.")
    })?;
    if !real.is_dir() {
        let failure = Failure::new(Kind::Refused, format!("{shown} is not a folder"));
        return Err(failure.hint("--workspace takes a folder.").into());
    }
    Ok(real)
}
