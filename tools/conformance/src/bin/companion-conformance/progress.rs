//! The rule that is being checked, in a line of the terminal that goes again: one can take a minute.

use std::io::{self, IsTerminal, Write};

/// Says that this rule is being checked. Nothing is said to scripts.
pub fn checking(id: &str) {
    write(&format!("\r\x1b[Kchecking {id} …"));
}

/// Takes the line away: something else is about to be printed.
pub fn clear() {
    write("\r\x1b[K");
}

fn write(text: &str) {
    let mut terminal = io::stderr().lock();
    if terminal.is_terminal() {
        // If the terminal is gone, so is the line.
        let _ = terminal.write_all(text.as_bytes());
        let _ = terminal.flush();
    }
}
