//! VS Code's extension for marketplaces: a file for each platform, with the program in it. Publishing them takes an account at
//! each marketplace (`vsce publish --packagePath`, `ovsx publish`).

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};

use super::parts::{LICENCES, OTHERS_LICENCES, PLUGINS};
use super::target::Target;
use super::{VERSION, files, write};

// That of `pillion install vscode`, which has nothing else of the program in it.
#[path = "../../../crates/pillion/src/install/vscode/vsix.rs"]
mod packing;

/// Makes those of one target in `out`, from the folder of the archive.
pub fn platform(target: &Target, folder: &Path, out: &Path) -> Result<()> {
    let sources = folder.join(PLUGINS).join("vscode");
    let own = files(&sources)?.into_iter();
    let own = own.map(|file| (file.display().to_string(), sources.join(file)));
    let licences = LICENCES.into_iter().chain([OTHERS_LICENCES]);
    let licences = licences.map(|file| (file.to_owned(), folder.join(file)));
    let program = format!("bin/{}", target.program);
    let program = (program, folder.join(target.program));
    let read = |(name, path): (String, PathBuf)| {
        let bytes = fs::read(&path).with_context(|| format!("cannot read {}", path.display()))?;
        Ok((name.replace('\\', "/"), bytes))
    };
    let files = own.chain(licences).chain([program]).map(read);
    let files: Vec<(String, Vec<u8>)> = files.collect::<Result<_>>()?;
    for platform in target.vscode() {
        let files = files
            .iter()
            .map(|(name, bytes)| (name.as_str(), bytes.as_slice()));
        let packed = packing::packed(files, Some(&platform))?;
        write(
            &out.join(format!("pillion-{platform}-{VERSION}.vsix")),
            packed,
        )?;
    }
    Ok(())
}
