//! The source of the page has no way to take a text for something else.

use std::fs;
use std::path::Path;

/// Each would do so, or needs a Content-Security-Policy that is weaker than ours.
const FORBIDDEN: [&str; 12] = [
    "innerHTML",
    "outerHTML",
    "insertAdjacentHTML",
    "document.write",
    "eval(",
    "new Function",
    "DOMParser",
    "srcdoc",
    "style=",
    "setAttribute(\"style\"",
    "javascript:",
    "setHTML",
];

#[test]
fn the_page_has_neither_markup_from_texts_nor_inline_styles() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../web/page");
    let mut files = 0;
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        let text = fs::read_to_string(&path).unwrap();
        files += 1;
        for word in FORBIDDEN {
            assert!(!text.contains(word), "{}: {word}", path.display());
        }
        let has_listener = text.contains(" onclick=\"") || text.contains("<script>");
        assert!(!has_listener, "{}", path.display());
    }
    assert!(files > 8, "{files}");
}
