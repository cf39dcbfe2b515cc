//! The sources of the package: no warnings.

use std::fs;
use std::path::PathBuf;

use pillion_testkit::{EmacsSetup, EmacsVersion, Home, each_emacs};

/// The files of the package.
fn sources() -> Vec<PathBuf> {
    let files = fs::read_dir(EmacsSetup::package()).unwrap();
    let mut files: Vec<PathBuf> = files.map(|file| file.unwrap().path()).collect();
    files.retain(|path| {
        let name = path.file_name().unwrap().to_str().unwrap();
        // Those are written by package managers, too.
        name.ends_with(".el") && !name.ends_with("-pkg.el") && !name.ends_with("-autoloads.el")
    });
    files.sort();
    assert!(files.len() > 10, "{files:?}");
    files
}

#[each_emacs]
fn they_compile_without_a_warning(version: EmacsVersion) {
    let home = Home::new();
    let folder = home.other_workspace("package");
    for source in sources() {
        fs::copy(&source, folder.join(source.file_name().unwrap())).unwrap();
    }
    let files: Vec<String> = sources()
        .iter()
        .map(|it| folder.join(it.file_name().unwrap()).display().to_string())
        .collect();
    let mut arguments = vec![
        "--eval",
        "(setq byte-compile-error-on-warn t)",
        "-L",
        folder.to_str().unwrap(),
        "-f",
        "batch-byte-compile",
    ];
    arguments.extend(files.iter().map(String::as_str));
    let outcome = EmacsSetup::new(version, &home).batch(&arguments);
    assert!(outcome.is_ok(), "{}", outcome.unwrap_err());
}

#[each_emacs]
fn an_emacs_that_is_too_old_is_told(version: EmacsVersion) {
    let home = Home::new();
    let setup = EmacsSetup::new(version, &home);
    let core = format!(
        "{:?}",
        EmacsSetup::package()
            .join("pillion-core.el")
            .display()
            .to_string()
    );
    for (old, is_enough) in [("28.2", false), ("29.0.91", false), ("29.1", true)] {
        let load = format!("(progn (setq emacs-version {old:?}) (load {core}))");
        let outcome = setup.batch(&["--eval", &load]);
        assert_eq!(outcome.is_ok(), is_enough, "{old}: {outcome:?}");
        let said = outcome.err().unwrap_or_default();
        assert!(
            is_enough || said.contains("Pillion needs Emacs 29.1 or newer"),
            "{said}"
        );
    }
}

#[each_emacs]
fn checkdoc_has_nothing_to_say(version: EmacsVersion) {
    let home = Home::new();
    let files: Vec<String> = sources()
        .iter()
        .map(|it| format!("{:?}", it.display().to_string()))
        .collect();
    let check = format!(
        "(progn (require 'checkdoc) (mapc #'checkdoc-file '({})))",
        files.join(" ")
    );
    let said = EmacsSetup::new(version, &home)
        .batch(&["--eval", &check])
        .unwrap();
    assert_eq!(said.trim(), "");
}

#[test]
#[ignore = "needs Emacs: cargo xtask test"]
fn package_lint_has_nothing_to_say_in_emacs_30_2() {
    let home = Home::new();
    let main = EmacsSetup::package().join("pillion.el");
    let main = format!(
        "(setq package-lint-main-file {:?})",
        main.display().to_string()
    );
    let files: Vec<String> = sources()
        .iter()
        .map(|it| it.display().to_string())
        .collect();
    let mut arguments = vec![
        "--eval",
        &main,
        "-l",
        "package-lint",
        "-f",
        "package-lint-batch-and-exit",
    ];
    arguments.extend(files.iter().map(String::as_str));
    let setup = EmacsSetup::new(EmacsVersion::V30_2, &home).packages(&["package-lint"]);
    // It fails on warnings, too. The package has no address yet.
    let said = setup.batch(&arguments).unwrap_err();
    let said: Vec<&str> = said.lines().skip(1).collect();
    assert_eq!(
        said,
        ["pillion.el:1:0: error: Package should have a Homepage or URL header."]
    );
}
