//! The places of the version. Its one home is `Cargo.toml`; the plugins, which people install without it, have copies, which
//! tests compare. The address of the project has one, too, and a copy where a package manager wants it.

use anyhow::{Context, Result, ensure};

pub const MANIFEST: &str = "Cargo.toml";

/// Files with copies, and how each looks where `{}` is the version.
const COPIES: [(&str, &str); 6] = [
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
    ("editors/vscode/package.json", "\"version\": \"{}\""),
];

/// The file with a copy of the address, once there is one: in this line, below that of the version.
const OF_ADDRESS: (&str, &str) = (COPIES[1].0, ";; URL: ");

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

/// The text without the lines that start so.
fn without_line(text: &str, start: &str) -> String {
    let lines = text.split_inclusive('\n');
    lines.filter(|line| !line.starts_with(start)).collect()
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
        let mut new = pattern.replace("{}", to);
        let (file, start) = OF_ADDRESS;
        if path == file {
            text = without_line(&text, start);
            new = format!("{new}{start}{address}\n");
        }
        text = text.replace(&copy, &new);
        changed.push((path, text));
    }
    Ok(changed)
}
