//! The Debian package: the program, which needs no other, and the plugins where every editor looks for them.

use std::path::Path;
use std::process::Command;

use anyhow::{Context, Result};

use super::parts::{COMPLETIONS, LICENCES, MAN, OTHERS_LICENCES, PLUGINS, compressed};
use super::{VERSION, archive, copy, files, output, read, remove, write};

/// The folders from which editors load plugins that came with the system.
const PLACES: [(&str, &str); 4] = [
    ("nvim", "usr/share/nvim/site/pack/dist/start/pillion"),
    ("vim", "usr/share/vim/vimfiles/pack/dist/start/pillion"),
    // `package.el` activates what is here, as it does with the packages of a user.
    (
        "emacs",
        concat!(
            "usr/share/emacs/site-lisp/elpa/pillion-",
            env!("CARGO_PKG_VERSION")
        ),
    ),
    // What `autoload` is a link to.
    ("kakoune", "usr/share/kak/rc/pillion"),
];

const COMPLETION_PLACES: [(&str, &str); 3] = [
    (
        "pillion.bash",
        "usr/share/bash-completion/completions/pillion",
    ),
    (
        "pillion.fish",
        "usr/share/fish/vendor_completions.d/pillion.fish",
    ),
    ("_pillion", "usr/share/zsh/vendor-completions/_pillion"),
];

const DOC: &str = "usr/share/doc/pillion";

/// Makes it in `out` from the folder of the archive.
pub fn make(architecture: &str, folder: &Path, out: &Path) -> Result<()> {
    let root = folder.with_file_name("deb");
    remove(&root)?;
    copy(&folder.join("pillion"), &root.join("usr/bin/pillion"))?;
    for (editor, place) in PLACES {
        copy(&folder.join(PLUGINS).join(editor), &root.join(place))?;
    }
    for (file, place) in COMPLETION_PLACES {
        copy(&folder.join(COMPLETIONS).join(file), &root.join(place))?;
    }
    for page in files(&folder.join(MAN))? {
        let packed = compressed(&folder.join(MAN).join(&page))?;
        let name = format!("{}.gz", page.display());
        write(&root.join("usr/share/man/man1").join(name), packed)?;
    }
    let doc = root.join(DOC);
    write(
        &doc.join("changelog.gz"),
        compressed(&folder.join("CHANGELOG.md"))?,
    )?;
    write(
        &doc.join("THIRD-PARTY.md.gz"),
        compressed(&folder.join(OTHERS_LICENCES))?,
    )?;
    write(&doc.join("copyright"), copyright(folder)?)?;
    write(&root.join("DEBIAN/control"), control(architecture, &root)?)?;
    pack(
        &root,
        &out.join(format!("pillion_{VERSION}_{architecture}.deb")),
    )
}

fn control(architecture: &str, root: &Path) -> Result<String> {
    let mut bytes = 0;
    for file in files(root)? {
        bytes += root.join(file).metadata()?.len();
    }
    let size = bytes.div_ceil(1024);
    let homepage = match super::ADDRESS {
        address if address.starts_with("https://") => format!("Homepage: {address}\n"),
        _ => String::new(),
    };
    Ok(format!(
        "Package: pillion\nVersion: {VERSION}\nArchitecture: {architecture}\n\
         Maintainer: The Pillion developers\n\
         Installed-Size: {size}\nSection: editors\nPriority: optional\n\
         Enhances: neovim, vim, emacs, kakoune\n{homepage}\
         Description: IDE companion of terminal coding agents, for every editor\n \
         Shows Claude Code, Qwen Code and Gemini CLI which files you are working on,\n \
         and lets you review the changes that they propose: in Neovim, Vim, Emacs,\n \
         Kakoune, an editor with a language-server client, or the terminal.\n"
    ))
}

/// Both licences, in the form that Debian's tools read.
fn copyright(folder: &Path) -> Result<String> {
    let mut text = "Format: https://www.debian.org/doc/packaging-manuals/copyright-format/1.0/\n\
         Upstream-Name: Pillion\n\
         Comment: THIRD-PARTY.md.gz has the licences of what the program is built with.\n\n\
         Files: *\nCopyright: 2026 The Pillion developers\nLicense: Apache-2.0 or Expat\n"
        .to_owned();
    for (name, file) in ["Apache-2.0", "Expat"].into_iter().zip(LICENCES) {
        text.push_str(&format!("\nLicense: {name}\n"));
        for line in read(&folder.join(file))?.trim_matches('\n').lines() {
            let line = if line.trim().is_empty() { "." } else { line };
            text.push_str(&format!(" {line}\n"));
        }
    }
    Ok(text)
}

/// The times of the files are those of the last commit, as in the archive.
fn pack(root: &Path, to: &Path) -> Result<()> {
    for file in files(root)? {
        archive::settle(&root.join(file))?;
    }
    let mut dpkg = Command::new("dpkg-deb");
    dpkg.args(["--root-owner-group", "-Zxz", "--build"])
        .arg(root)
        .arg(to);
    dpkg.env("SOURCE_DATE_EPOCH", archive::time()?.to_string());
    output(&mut dpkg)
        .map(drop)
        .context("the Debian package cannot be made")
}
