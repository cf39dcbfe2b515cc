//! Variables in findings: where one comes from, and how to be rid of it.

use super::super::facts::Facts;
use super::shell;

/// A variable's name, and the file that sets it for the agent if the terminal does not.
pub fn shown(facts: &Facts, name: &str) -> String {
    match facts.setup.variables.origin(name) {
        Some(origin) => format!("{name} ({origin})"),
        None => name.to_owned(),
    }
}

/// Takes a variable away, or opens the file that sets it.
pub fn unset(facts: &Facts, name: &str) -> String {
    match facts.setup.variables.origin(name) {
        Some(origin) => shell::edit(&origin.path),
        None => format!("unset {name}"),
    }
}
