//! Makes what needs the parts of all targets: the npm package that chooses, the installer, the recipes of other
//! package managers, and the checksums.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use anyhow::{Context, Result};
use pillion_text::fingerprint;

use super::target::Target;
use super::{ADDRESS, VERSION, files, npm, read, write};
use crate::{root, target_dir};

const SUMS: &str = "SHA256SUMS";

/// Files of `packaging`, and what they are called when they are filled in.
const TEMPLATES: [(&str, &str); 4] = [
    ("install.sh", "install.sh"),
    ("homebrew/pillion.rb", "recipes/pillion.rb"),
    ("arch/PKGBUILD", "recipes/PKGBUILD"),
    ("mise.toml", "recipes/mise.toml"),
];

/// Makes all of it in `out`.
pub fn make(out: &Path) -> Result<()> {
    npm::launcher(&target_dir().join("dist-staging/npm"), out)?;
    let sums = sums(out)?;
    for (template, name) in TEMPLATES {
        let text = read(&root().join("packaging").join(template))?;
        write(&out.join(name), filled(&text, &sums))?;
    }
    let lines = self::sums(out)?;
    let lines = lines.iter().map(|(name, sum)| format!("{sum}  {name}\n"));
    write(&out.join(SUMS), lines.collect::<String>())
}

/// The checksum of each file.
fn sums(out: &Path) -> Result<BTreeMap<String, String>> {
    let mut sums = BTreeMap::new();
    for file in files(out)? {
        let name = file
            .to_str()
            .context("a name that is no text")?
            .replace('\\', "/");
        if name != SUMS {
            let bytes = fs::read(out.join(&file));
            let bytes = bytes.with_context(|| format!("cannot read {name}"))?;
            sums.insert(name, fingerprint::hash(&bytes));
        }
    }
    Ok(sums)
}

/// A template with version, address and checksums. An unknown one stays as it is: `@SHA256:…@` of a target that
/// was not built, and `@ADDRESS@` as long as there is none.
fn filled(text: &str, sums: &BTreeMap<String, String>) -> String {
    let mut text = text
        .replace("@VERSION@", VERSION)
        .replace("@ADDRESS@", ADDRESS);
    for target in Target::all() {
        if let Some(sum) = sums.get(&format!("{}.tar.gz", target.archive())) {
            text = text.replace(&format!("@SHA256:{}@", target.triple), sum);
        }
    }
    text
}
