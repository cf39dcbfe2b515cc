//! Lines on standard error. They may hold paths and what agents wrote: none of that may control the
//! terminal.

use std::fmt;
use std::io::{self, Write};

use crate::visible;

/// Prints a line on standard error.
pub fn print(text: impl fmt::Display) {
    // The parent may have closed standard error.
    let _ = write(&mut io::stderr(), text);
}

/// Prints a warning on standard error.
pub fn warn(text: impl fmt::Display) {
    print(format_args!("warning: {text}"));
}

/// Writes a line to `out` as [`print()`] does to standard error.
///
/// # Errors
/// When it takes no more.
pub fn write(out: &mut impl Write, text: impl fmt::Display) -> io::Result<()> {
    // At once: others may write to the same terminal or file.
    let line = format!("{}\n", visible::lines(&text.to_string()));
    out.write_all(line.as_bytes())
}
