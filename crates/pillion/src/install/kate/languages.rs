//! The languages that Kate has a server for, and whether that server is there. Kate compiles them into its plugin,
//! compressed; `languages.txt` has those of 25.04 to 26.08.

use std::sync::LazyLock;

use crate::install::machine::Machine;

/// A language of Kate's.
#[derive(Debug, PartialEq, Eq)]
pub struct Language {
    /// The name of its entry.
    pub name: &'static str,
    /// The program of its server, or those of several releases.
    programs: Vec<&'static str>,
}

/// The folders in which Kate looks besides PATH for some of them.
const FOLDERS: [&str; 4] = [".cargo/bin", "go/bin", ".juliaup/bin", ".nimble/bin"];

/// Likewise, below what a variable names.
const VARIABLES: [&str; 2] = ["CARGO_HOME", "GOPATH"];

/// The languages whose servers are not on this machine, and those whose are.
pub fn by_server(machine: &Machine) -> (Vec<&'static Language>, Vec<&'static Language>) {
    let homes = FOLDERS.iter().filter_map(|folder| {
        let home = machine.home()?;
        Some(machine.join(home, folder))
    });
    let named = VARIABLES.iter().filter_map(|name| {
        let folder = machine.variable(name)?;
        Some(machine.join(folder, "bin"))
    });
    let folders: Vec<_> = homes.chain(named).collect();
    let is_there = |program: &&str| {
        let beside = folders
            .iter()
            .any(|folder| machine.join(folder, program).is_file());
        beside || machine.program(&[program]).is_some()
    };
    let is_missing = |language: &&Language| !language.programs.iter().any(is_there);
    LANGUAGES.iter().partition(is_missing)
}

static LANGUAGES: LazyLock<Vec<Language>> = LazyLock::new(|| {
    let language = |line: &'static str| {
        let mut words = line.split_whitespace();
        let name = words.next()?;
        let programs = words.collect();
        Some(Language { name, programs })
    };
    let lines = include_str!("languages.txt").lines();
    lines.filter_map(language).collect()
});
