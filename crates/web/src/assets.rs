//! The files of the page, as they are shipped: source that a browser reads.

/// A file of the page.
pub struct Asset {
    /// Its path in the address.
    pub path: &'static str,
    /// Its media type.
    pub kind: &'static str,
    /// Its text.
    pub text: &'static str,
}

macro_rules! assets {
    ($($path:literal = $file:literal $kind:literal;)+) => {
        /// All files of the page.
        pub static ASSETS: &[Asset] = &[$(Asset {
            path: $path,
            kind: $kind,
            text: include_str!(concat!("../page/", $file)),
        }),+];
    };
}

assets! {
    "/" = "index.html" "text/html; charset=utf-8";
    "/app.css" = "app.css" "text/css; charset=utf-8";
    "/app.js" = "app.js" "text/javascript; charset=utf-8";
    "/cells.js" = "cells.js" "text/javascript; charset=utf-8";
    "/decide.js" = "decide.js" "text/javascript; charset=utf-8";
    "/dom.js" = "dom.js" "text/javascript; charset=utf-8";
    "/keys.js" = "keys.js" "text/javascript; charset=utf-8";
    "/list.js" = "list.js" "text/javascript; charset=utf-8";
    "/net.js" = "net.js" "text/javascript; charset=utf-8";
    "/seen.js" = "seen.js" "text/javascript; charset=utf-8";
    "/sheet.js" = "sheet.js" "text/javascript; charset=utf-8";
    "/words.js" = "words.js" "text/javascript; charset=utf-8";
}
