//! The encodings in which a text may stand on the disk, and byte for byte comparison with it.

use std::fs;
use std::path::Path;

/// The way in which a text becomes a file: a name for its kind, and its bytes.
pub type Encoding = (&'static str, fn(&str) -> Vec<u8>);

/// Those in which an agent edits files.
pub const ENCODINGS: [Encoding; 7] = [
    ("lf", |text| text.into()),
    ("crlf", |text| crlf(text).into()),
    ("bom", |text| format!("\u{feff}{text}").into()),
    ("bom-crlf", |text| format!("\u{feff}{}", crlf(text)).into()),
    ("no-final-newline", |text| text.trim_end().into()),
    ("utf16", utf16),
    ("utf16-crlf", |text| utf16(&crlf(text))),
];

/// That these are the bytes of a file.
#[track_caller]
pub fn assert_bytes(path: &Path, expected: &[u8]) {
    let found = fs::read(path).expect("the agent has written it");
    assert_eq!(
        found.escape_ascii().to_string(),
        expected.escape_ascii().to_string(),
        "{}",
        path.display()
    );
}

fn crlf(text: &str) -> String {
    text.replace('\n', "\r\n")
}

/// UTF-16LE with a byte order mark.
fn utf16(text: &str) -> Vec<u8> {
    let units = "\u{feff}".encode_utf16().chain(text.encode_utf16());
    units.flat_map(u16::to_le_bytes).collect()
}
