//! Prints the licences of the grammars that are compiled in, for the page that is distributed with the program.

use std::io::{self, Write};

fn main() -> io::Result<()> {
    let listing = two_face::acknowledgement::listing();
    io::stdout().write_all(listing.to_md().as_bytes())
}
