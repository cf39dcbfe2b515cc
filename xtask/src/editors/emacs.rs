//! Libraries of Emacs 28 as machine code.

use std::path::Path;
use std::process::Command;

use anyhow::{Context, Result};
use pillion_testkit::{Editors, EmacsVersion};

/// Compiles a library, which is a path below its Lisp, and puts it where Emacs looks before it compiles by
/// itself: in `folder`, that of its Debian release.
///
/// # Errors
/// If Emacs fails.
pub fn compile(folder: &Path, library: &str) -> Result<()> {
    let editors = folder.parent().context("it is one of several")?;
    let emacs = Editors::at(editors).emacs(EmacsVersion::V28);
    let compile = format!(
        "(let ((file {:?})) \
           (native-compile file (comp-el-to-eln-filename file (car (last native-comp-eln-load-path)))))",
        emacs.lisp.join(library).display().to_string()
    );
    let mut command = Command::new(&emacs.program);
    command
        .arg(emacs.dump_option())
        .args(["--batch", "-Q", "--eval", &compile])
        .envs(emacs.variables());
    super::run(&mut command).map(drop)
}
