//! The codec of the plugin profile: how the types that views and companions share look to a plugin. A file is a `uri`, beside
//! which a plugin reads the path for people; what is `null` is missing.

use pillion_discovery::exact;
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::Value;

use crate::{message, uri};

/// Reads what a plugin sends.
///
/// # Errors
/// A sentence that names the field.
pub fn read<T: DeserializeOwned>(mut params: Value) -> Result<T, String> {
    name_paths(&mut params)?;
    message::params(params).map_err(|why| why.replace("`path`", "`uri`"))
}

fn name_paths(value: &mut Value) -> Result<(), String> {
    match value {
        Value::Array(items) => items.iter_mut().try_for_each(name_paths),
        Value::Object(fields) => {
            fields.retain(|_, it| !it.is_null());
            fields.remove("path");
            if let Some(uri) = fields.remove("uri") {
                let path = uri.as_str().and_then(uri::to_path);
                let path = path.ok_or("uri: not a file")?;
                // All that a URI names here are Unicode.
                fields.insert("path".to_owned(), path.to_string_lossy().into());
            }
            fields.values_mut().try_for_each(name_paths)
        }
        _ => Ok(()),
    }
}

/// What a plugin reads.
pub fn written(value: impl Serialize) -> Value {
    let mut value = serde_json::to_value(value).unwrap_or_default();
    name_uris(&mut value);
    value
}

fn name_uris(value: &mut Value) {
    match value {
        Value::Array(items) => items.iter_mut().for_each(name_uris),
        Value::Object(fields) => {
            fields.values_mut().for_each(name_uris);
            let path = fields.get("path").map(exact::path::deserialize);
            if let Some(Ok(path)) = path {
                fields.insert("uri".to_owned(), uri::from_path(&path).into());
                fields.insert("path".to_owned(), path.to_string_lossy().into());
            }
        }
        _ => {}
    }
}

#[cfg(all(test, unix))]
mod tests {
    use std::ffi::OsStr;
    use std::os::unix::ffi::OsStrExt;
    use std::path::{Path, PathBuf};

    use pillion_view::ask::Mention;
    use pillion_view::changes::{ChangesAct, Part};
    use serde_json::json;

    use super::*;

    #[test]
    fn a_path_has_a_uri_and_a_text_for_people_beside_it() {
        let mention = |path: &Path| Mention {
            path: path.to_owned(),
            lines: None,
        };
        let raw = mention(Path::new(OsStr::from_bytes(b"/a/\xff")));
        let told = json!({"uri": "file:///a/%FF", "path": "/a/\u{fffd}"});
        assert_eq!(written(raw), told);
        let spaced = mention(Path::new("/a/b c"));
        let told = json!({"uri": "file:///a/b%20c", "path": "/not/this"});
        assert_eq!(read::<Mention>(told), Ok(spaced));
    }

    #[test]
    fn files_are_found_however_deep_and_what_is_none_is_named() {
        let buffer = |uri: Value| json!({"uri": uri, "content": "", "isModified": true});
        let act = |uri: Value| {
            let params = json!({"id": "7", "uri": null, "notes": null, "buffers": [buffer(uri)]});
            read::<Part>(params).map(ChangesAct::TakeBack)
        };
        let ChangesAct::TakeBack(taken) = act("file:///b".into()).unwrap() else {
            unreachable!("it is one");
        };
        assert_eq!(taken.meant.buffers[0].path, PathBuf::from("/b"));
        assert_eq!(
            (taken.meant.id.as_deref(), taken.meant.path),
            (Some("7"), None)
        );
        for wrong in [json!("untitled:1"), json!(1)] {
            assert_eq!(act(wrong).unwrap_err(), "uri: not a file");
        }
        let backwards = json!({"uri": "file:///b", "lines": {"first": 2, "last": 1}});
        let why = read::<Mention>(backwards).unwrap_err();
        assert_eq!(why, "lines: the last comes before the first");
        assert_eq!(
            read::<Mention>(json!({})).unwrap_err(),
            "missing field `uri`"
        );
    }
}
