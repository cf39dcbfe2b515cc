//! Emacs: the package that this program holds, where Emacs itself looks for packages.

use std::ffi::OsStr;
use std::fmt;
use std::path::{Path, PathBuf};

use super::Step;
use super::machine::Machine;
use super::package::{Package, Plugin};
use super::program::{self, INSTALL_TIMEOUT};

/// Emacs 29 and later.
pub const EMACS: Plugin = Plugin {
    names: &["emacs"],
    editor: "Emacs",
    programs: &["emacs"],
    kind: "package",
    setting: "`pillion-command`",
    distributed: ("emacs/site-lisp/elpa", "pillion-"),
    oldest: &[29, 1],
    package,
};

const NEXT: &str = "Put `(pillion-mode 1)` into your init file and restart Emacs; `M-x pillion-doctor` then checks \
                    the installation.";

/// In the folder that `package.el` sets up before it reads the init file.
fn package(machine: &Machine) -> anyhow::Result<Package> {
    let home = machine.absolute_home()?;
    let folder = settings(machine, &home)?;
    let target = machine.join(&folder, "elpa/pillion");
    let compile = machine.program(EMACS.programs).map(|program| {
        let target = target.clone();
        Box::new(Compile { program, target }) as Box<dyn Step>
    });
    Ok(Package {
        target,
        backup: machine.join(&folder, "pillion-backup"),
        next: NEXT,
        then: compile,
        ..Package::default()
    })
}

/// The package compiled by the Emacs that is here, as package managers do: it loads in half the time.
#[derive(Debug)]
struct Compile {
    program: PathBuf,
    target: PathBuf,
}

impl Compile {
    fn run(&self) -> Result<(), String> {
        let files = EMACS.files().into_iter();
        let files = files.map(|(name, _)| self.target.join(name));
        let sources: Vec<_> = files
            .filter(|it| it.extension() == Some(OsStr::new("el")))
            .collect();
        let options = ["--batch", "-Q", "-L"].map(OsStr::new).into_iter();
        let options = options.chain([self.target.as_os_str()]);
        let arguments = options.chain(["-f", "batch-byte-compile"].map(OsStr::new));
        let arguments: Vec<_> = arguments
            .chain(sources.iter().map(|it| it.as_os_str()))
            .collect();
        let ended = program::run(&self.program, &arguments, INSTALL_TIMEOUT)?;
        match ended.status.success() {
            true => Ok(()),
            false => Err(program::in_words(&ended.errors).unwrap_or_default()),
        }
    }
}

impl Step for Compile {
    /// Does it. Emacs loads what is not compiled, too.
    fn carry_out(&self) -> anyhow::Result<String> {
        let program = self.program.display();
        Ok(match self.run() {
            Ok(()) => format!("compiled it with {program}"),
            Err(why) => {
                format!("{program} did not compile all of it, so it loads more slowly: {why}")
            }
        })
    }
}

impl fmt::Display for Compile {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "compile it with {}", self.program.display())
    }
}

/// The folder that Emacs takes for `user-emacs-directory`: `~/.emacs.d`, unless there is only the other one.
fn settings(machine: &Machine, home: &Path) -> anyhow::Result<PathBuf> {
    let classic = machine.join(home, ".emacs.d");
    let is_classic = [".emacs.d", ".emacs"]
        .iter()
        .any(|name| machine.join(home, name).exists());
    let other = machine.folder_or("XDG_CONFIG_HOME", ".config")?;
    let other = machine.join(other, "emacs");
    Ok(if !is_classic && other.is_dir() {
        other
    } else {
        classic
    })
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;
    use crate::install::machine::Platform;

    #[test]
    fn the_program_holds_the_package_of_its_own_version() {
        let files = EMACS.files();
        let text = |name: &str| {
            let file = files.iter().find(|(found, _)| found == name);
            String::from_utf8(file.unwrap_or_else(|| panic!("{name}")).1.clone()).unwrap()
        };
        let version = env!("CARGO_PKG_VERSION");
        assert!(text("pillion-pkg.el").contains(&format!("\"{version}\"")));
        assert!(text("pillion.el").contains(&format!(";; Version: {version}\n")));
        assert!(text("pillion-core.el").contains(&format!("pillion-version \"{version}\"")));
        assert!(!files.iter().any(|(name, _)| name == "README.md"));
    }

    /// Those before the definitions of functions in the package. A file that is not loaded with the rest names itself.
    #[test]
    fn everything_with_a_cookie_is_autoloaded() {
        let files = EMACS.files();
        let mut count = 0;
        let autoloads = files
            .iter()
            .find(|(name, _)| name == "pillion-autoloads.el");
        let autoloads = String::from_utf8(autoloads.unwrap().1.clone()).unwrap();
        for (name, text) in &files {
            let text = String::from_utf8(text.clone()).unwrap();
            for form in text.split("\n;;;###autoload\n").skip(1) {
                let function = form.split([' ', '\n']).nth(1).unwrap();
                assert!(
                    autoloads.contains(&format!("(autoload '{function} \"pillion\"")),
                    "{function} of {name}"
                );
                count += 1;
            }
            for line in text.split("\n;;;###autoload (").skip(1) {
                let autoload = line.split(" nil").next().unwrap();
                assert!(autoloads.contains(autoload), "{autoload} of {name}");
                count += 1;
            }
        }
        assert_eq!(count, autoloads.matches("(autoload '").count());
    }

    #[test]
    fn the_package_lies_where_emacs_looks() {
        let home = tempfile::tempdir().unwrap();
        let root = home.path().to_str().unwrap();
        let target = || {
            let machine = Machine::of(Platform::Linux, &[("HOME", root)]);
            let target = package(&machine).unwrap().target;
            target.strip_prefix(root).unwrap().display().to_string()
        };
        assert_eq!(target(), ".emacs.d/elpa/pillion");
        fs::create_dir_all(home.path().join(".config/emacs")).unwrap();
        assert_eq!(target(), ".config/emacs/elpa/pillion");
        fs::write(home.path().join(".emacs"), "").unwrap();
        assert_eq!(target(), ".emacs.d/elpa/pillion");
        let machine = Machine::of(Platform::Linux, &[("HOME", "relative")]);
        assert!(package(&machine).is_err());
    }
}
