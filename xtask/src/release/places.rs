//! Where the version is. Its one home is `Cargo.toml`; the plugins, which people install without it, have copies, which
//! tests compare. The address of the project has one, too, and a copy where a package manager wants it.

use anyhow::{Context, Result, ensure};

pub const MANIFEST: &str = "Cargo.toml";

/// Files with copies, and how each looks where `{}` is the version.
const COPIES: [(&str, &str); 5] = [
    (
        "editors/emacs/pillion-pkg.el",
        "(define-package \"pillion\" \"{}\"",
    ),
    ("editors/emacs/pillion.el", ";; Version: {}\n"),
    (
        "editors/emacs/pillion-core.el",
        "(defconst pillion-version \"{}\"",
    ),
    ("editors/vim/autoload/pillion/version.vim", "NUMBER = '{}'"),
    ("editors/nvim/lua/pillion/version.lua", "return \"{}\""),
];

/// The copy of the address, and what stands there while there is none.
const OF_ADDRESS: (&str, &str) = (
    "editors/emacs/pillion.el",
    ";; URL: https://repository.invalid/pillion\n",
);

/// The version.
pub fn current(manifest: &str) -> Result<&str> {
    field(manifest, "version")
}

/// The address.
pub fn address(manifest: &str) -> Result<&str> {
    field(manifest, "repository")
}

/// A line of `[workspace.package]`.
fn field<'a>(manifest: &'a str, name: &str) -> Result<&'a str> {
    let start = format!("{name} = \"");
    let line = manifest
        .lines()
        .find_map(|line| line.strip_prefix(start.as_str()));
    let value = line.and_then(|line| line.strip_suffix('"'));
    value.with_context(|| format!("{MANIFEST} has no {name}"))
}

/// Each file that has the version, as `read` finds it, with the new one.
pub fn changed(
    read: impl Fn(&str) -> Result<String>,
    from: &str,
    to: &str,
    address: &str,
) -> Result<Vec<(&'static str, String)>> {
    let is_ours = |line: &str| line.starts_with("version = ") || line.contains("path = \"crates/");
    let manifest = read(MANIFEST)?;
    let version = |number: &str| format!("version = \"{number}\"");
    let lines = manifest.lines().map(|line| match is_ours(line) {
        true => line.replace(&version(from), &version(to)),
        false => line.to_owned(),
    });
    let mut changed = vec![(MANIFEST, lines.collect::<Vec<_>>().join("\n") + "\n")];
    for (path, pattern) in COPIES {
        let mut text = read(path)?;
        let copy = pattern.replace("{}", from);
        ensure!(text.contains(&copy), "{path} does not have version {from}");
        text = text.replace(&copy, &pattern.replace("{}", to));
        if path == OF_ADDRESS.0 {
            text = text.replace(OF_ADDRESS.1, &format!(";; URL: {address}\n"));
        }
        changed.push((path, text));
    }
    Ok(changed)
}
