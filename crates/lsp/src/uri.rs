//! `file:` URIs and paths.

use std::path::{Path, PathBuf};

use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, percent_decode_str, percent_encode};

/// Everything but what RFC 3986 calls unreserved, and what separates folders.
const ENCODED: &AsciiSet = &NON_ALPHANUMERIC
    .remove(b'-')
    .remove(b'.')
    .remove(b'_')
    .remove(b'~')
    .remove(b'/');

/// The path that a URI names; nothing if it names no local file, or one that cannot be published.
pub fn to_path(uri: &str) -> Option<PathBuf> {
    let (scheme, rest) = uri.split_once(':')?;
    if !scheme.eq_ignore_ascii_case("file") {
        return None;
    }
    let encoded = match rest.strip_prefix("//") {
        Some(rest) => {
            let (host, _) = rest.split_once('/')?;
            let is_local = host.is_empty() || host.eq_ignore_ascii_case("localhost");
            is_local.then(|| &rest[host.len()..])?
        }
        None => rest,
    };
    let path = percent_decode_str(encoded).decode_utf8().ok()?;
    if path.contains('\0') {
        return None;
    }
    system_path(&path)
}

pub fn from_path(path: &Path) -> String {
    #[cfg(unix)]
    {
        use std::os::unix::ffi::OsStrExt;
        format!(
            "file://{}",
            percent_encode(path.as_os_str().as_bytes(), ENCODED)
        )
    }
    #[cfg(not(unix))]
    windows_uri(&path.to_string_lossy())
}

#[cfg(not(windows))]
fn system_path(path: &str) -> Option<PathBuf> {
    path.starts_with('/').then(|| path.into())
}

#[cfg(windows)]
fn system_path(path: &str) -> Option<PathBuf> {
    windows_path(path).map(PathBuf::from)
}

/// `/c:/a/b` as Windows writes it. Paths of other machines are none.
#[cfg(any(windows, test))]
fn windows_path(path: &str) -> Option<String> {
    let path = path.strip_prefix('/')?;
    let (drive, rest) = path.split_once(':')?;
    let is_drive = drive.len() == 1 && drive.chars().all(|letter| letter.is_ascii_alphabetic());
    (is_drive && rest.starts_with(['/', '\\']))
        .then(|| format!("{}:{}", drive.to_ascii_uppercase(), rest.replace('/', "\\")))
}

/// The URI of a Windows path.
#[cfg(any(windows, test))]
fn windows_uri(path: &str) -> String {
    let path = path.replace('\\', "/");
    let (drive, rest) = path.split_once(':').unwrap_or_default();
    let rest = percent_encode(rest.as_bytes(), ENCODED);
    format!("file:///{drive}:{rest}")
}

#[cfg(all(test, unix))]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn path(uri: &str) -> Option<String> {
        to_path(uri)?.into_os_string().into_string().ok()
    }

    #[test]
    fn local_files_have_a_path() {
        for (uri, expected) in [
            ("file:///a/b.rs", "/a/b.rs"),
            ("file:/a", "/a"),
            ("FILE://LOCALHOST/a", "/a"),
            ("file:///%5Bid%5D.tsx", "/[id].tsx"),
            ("file:///[id]#a?b.tsx", "/[id]#a?b.tsx"),
            ("file:///100%25%0A%20%C3%A9", "/100%\n é"),
            ("file:///50%", "/50%"),
        ] {
            assert_eq!(path(uri).as_deref(), Some(expected), "{uri}");
        }
    }

    #[test]
    fn everything_else_has_none() {
        for uri in [
            "",
            "file",
            "file:",
            "file://",
            "file://a",
            "file:a/b",
            "file://server/share/a",
            "file:///%FF",
            "file:///a%00b",
            "untitled:a",
            "https://example.org/a",
            "jar:file:///a",
            "/a/b",
        ] {
            assert_eq!(path(uri), None, "{uri}");
        }
    }

    #[test]
    fn nothing_in_a_name_means_anything_in_a_uri() {
        let uri = from_path(Path::new("/a b/[id]%#?|$(x)\n;é.tsx"));
        assert_eq!(
            uri,
            "file:///a%20b/%5Bid%5D%25%23%3F%7C%24%28x%29%0A%3B%C3%A9.tsx"
        );
    }

    #[test]
    fn windows_paths_begin_with_a_drive() {
        for (path, expected) in [
            ("/c:/a/b", Some(r"C:\a\b")),
            (r"/C:\a", Some(r"C:\a")),
            ("/a/b", None),
            ("/cd:/a", None),
            ("/c:a", None),
            ("c:/a", None),
        ] {
            assert_eq!(windows_path(path).as_deref(), expected, "{path}");
        }
        assert_eq!(windows_uri(r"C:\a"), "file:///C:/a");
    }

    proptest! {
        #[test]
        fn there_and_back_is_the_same_path(name in "[^\\x00]{0,20}") {
            let path = PathBuf::from(format!("/{name}"));
            prop_assert_eq!(to_path(&from_path(&path)), Some(path));
        }

        #[test]
        fn no_uri_panics(uri: String) {
            to_path(&uri);
        }
    }
}
