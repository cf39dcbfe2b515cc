//! `settings.json` with Pillion and without, as text.

use pillion_hooks::settings::{Format, Key, Refused};
use pillion_text::fingerprint;
use serde_json::{Map, Value, json};

use super::Language;

/// The server. Kate takes the first entry, by name, that fits a language, and this one fits all.
const SERVER: &str = "~pillion";

const SERVERS: &str = "servers";

/// The language of the file, in which Kate reads no comments.
const JSON: Format = Format::PlainJson("Kate");

/// The text with Pillion, and what the user has in it.
#[derive(Debug, PartialEq, Eq)]
pub struct Added {
    pub text: String,
    /// The languages for which the user names a server.
    pub users: Vec<String>,
}

/// Returns true if something of ours is in it.
pub fn is_installed(text: &str) -> bool {
    let servers = servers(text).unwrap_or_default();
    servers
        .get(SERVER)
        .is_some_and(|server| server["installed"].is_object())
}

/// With Pillion for the languages whose servers are `missing`, and for those that Kate has no server for.
pub fn install(
    text: Option<&str>,
    missing: &[&Language],
    served: &[&Language],
) -> Result<Added, Refused> {
    let mut result = text.unwrap_or_default().to_owned();
    let servers = servers(&result)?;
    let is_new = match servers.get(SERVER) {
        None => text.is_none(),
        Some(server) if server["installed"].is_object() => check(server)?,
        Some(_) => {
            // The user wrote it, after the page.
            return Err(Refused {
                why:
                    "it has an entry `~pillion` already, which `pillion install kate` did not write"
                        .to_owned(),
                hint: "Leave it as it is, or remove it and run this again.",
            });
        }
    };
    for Language { name, .. } in served {
        if servers.get(*name).is_some_and(uses_ours) {
            result = JSON.remove(&result, &path(name))?;
        }
    }
    for Language { name, .. } in missing {
        if !servers.contains_key(*name) {
            result = JSON.set(&result, &path(name), &json!({"use": SERVER}))?;
        }
    }
    let text = JSON.set(&result, &path(SERVER), &server(is_new))?;
    let users = servers.into_iter();
    let users = users.filter(|(name, entry)| name != SERVER && !uses_ours(entry));
    let users = users.map(|(name, _)| name).collect();
    Ok(Added { text, users })
}

/// Without Pillion; nothing, if there was no file before.
pub fn uninstall(text: &str) -> Result<Option<String>, Refused> {
    let mut result = text.to_owned();
    let servers = servers(text)?;
    let is_new = check(servers.get(SERVER).unwrap_or(&Value::Null))?;
    for (name, entry) in &servers {
        if name == SERVER || uses_ours(entry) {
            result = JSON.remove(&result, &path(name))?;
        }
    }
    let is_empty = JSON.values(&result)?.is_empty();
    Ok((!is_new || !is_empty).then_some(result))
}

/// The file that the user has chosen for the settings instead, in `katerc`.
pub fn other_file(katerc: &str) -> Option<&str> {
    let mut lines = katerc
        .lines()
        .skip_while(|line| line.trim() != "[lspclient]");
    lines.next()?;
    let mut lines = lines.take_while(|line| !line.starts_with('['));
    lines.find_map(|line| {
        let (key, value) = line.split_once('=')?;
        // A key may carry a mark, such as `[$e]`.
        let key = key.split('[').next()?.trim();
        (key == "ServerConfiguration" && !value.trim().is_empty()).then(|| value.trim())
    })
}

fn path(name: &str) -> [Key<'_>; 2] {
    [Key::Name(SERVERS), Key::Name(name)]
}

/// The servers in a text.
fn servers(text: &str) -> Result<Map<String, Value>, Refused> {
    match JSON.values(text)?.remove(SERVERS) {
        Some(Value::Object(servers)) => Ok(servers),
        // What it is instead is said when something is added.
        _ => Ok(Map::new()),
    }
}

/// Our entry, with a hash by which it is known whether somebody has changed it.
fn server(is_new: bool) -> Value {
    let mut server = json!({
        "command": ["pillion", "lsp", "--editor", "Kate", "--open-with", "kate"],
        "highlightingModeRegex": ".",
        "documentLanguageId": false,
        "installed": {
            "by": "pillion install kate; pillion uninstall kate removes it",
            "isNew": is_new,
        },
    });
    server["installed"]["hash"] = hash(&server).into();
    server
}

/// Tells whether there was no file before our entry was written.
fn check(server: &Value) -> Result<bool, Refused> {
    let mut own = server.clone();
    let written = own["installed"]
        .as_object_mut()
        .and_then(|it| it.remove("hash"));
    if written != Some(hash(&own).into()) {
        return Err(Refused {
            why: "what `pillion install kate` wrote was changed".to_owned(),
            hint: "Remove `~pillion` and the entries that use it yourself.",
        });
    }
    Ok(own["installed"]["isNew"] == true)
}

fn hash(server: &Value) -> String {
    let mut hash = fingerprint::hash(server.to_string().as_bytes());
    hash.truncate(16);
    hash
}

/// Returns true if a language is served by Pillion.
fn uses_ours(entry: &Value) -> bool {
    *entry == json!({"use": SERVER})
}

#[cfg(test)]
mod tests {
    use super::super::by_server;
    use super::*;
    use crate::install::machine::{Machine, Platform};

    /// On a machine without any server.
    fn installed(text: Option<&str>) -> Result<Added, Refused> {
        let machine = Machine::of(Platform::Linux, &[("HOME", "/nowhere")]);
        let (missing, served) = by_server(&machine);
        assert!(served.is_empty());
        install(text, &missing, &served)
    }

    /// Without white space.
    fn squeezed(text: impl Into<String>) -> String {
        text.into().split_whitespace().collect()
    }

    #[test]
    fn what_was_there_is_there_again() {
        for (text, after) in [
            (None, None),
            (Some(""), Some("{}\n")),
            (Some("{}"), Some("{}")),
            (Some("\r\n{ }\r\n"), Some("\r\n{}\r\n")),
            (Some("{\"servers\":{}}"), Some("{}")),
            (
                Some("{\n  \"global\": {\"x\": \"ü{}\\u007b\"}\n}"),
                Some("{\n  \"global\": {\"x\": \"ü{}\\u007b\"}\n}"),
            ),
            (
                Some(
                    "{\n\t\"servers\": {\n\t\t\"python\": {\"command\": [\"mine\"]}\n\t},\n\t\"a\": 1\n}",
                ),
                Some(
                    "{\n\t\"servers\": {\n\t\t\"python\": {\"command\": [\"mine\"]}\n\t},\n\t\"a\": 1\n}",
                ),
            ),
            (
                Some("{\"serv\\u0065rs\": {\"b\": null}}"),
                Some("{\"serv\\u0065rs\": {\"b\": null}}"),
            ),
        ] {
            let added = installed(text).unwrap();
            assert!(is_installed(&added.text), "{}", added.text);
            assert!(text.is_none_or(|text| !is_installed(text)));
            let value: Value = serde_json::from_str(&added.text).unwrap();
            let servers = &value["servers"];
            assert_eq!(servers["rust"], json!({"use": "~pillion"}));
            assert_eq!(servers["~pillion"]["highlightingModeRegex"], ".");
            let without = uninstall(&added.text).unwrap();
            match text.filter(|text| text.contains("\n  ") || text.contains('\t')) {
                Some(text) => assert_eq!(without.as_deref(), Some(text)),
                None => assert_eq!(without.map(squeezed), after.map(squeezed), "{}", added.text),
            }
            // Once more changes nothing.
            let again = installed(Some(&added.text)).unwrap();
            assert_eq!(again.text, added.text);
        }
    }

    #[test]
    fn the_user_s_own_servers_stay_and_are_named() {
        let text = r#"{"servers": {"python": {"command": ["mine"]}, "rust": {"use": "~pillion"}, "x": {}}}"#;
        let added = installed(Some(text)).unwrap();
        assert_eq!(added.users, ["python", "x"]);
        let value: Value = serde_json::from_str(&added.text).unwrap();
        assert_eq!(value["servers"]["python"]["command"][0], "mine");
        assert_eq!(added.text.matches("\"rust\"").count(), 1);
    }

    #[test]
    fn what_cannot_be_changed_is_refused_with_a_reason() {
        let by_hand =
            "it has an entry `~pillion` already, which `pillion install kate` did not write";
        for (text, why) in [
            (
                "{\"servers\": {,}}",
                "it is not valid JSON: unexpected token in object at line 1, column 14",
            ),
            (
                "{} // mine",
                "it has a comment (line 1, column 4), and Kate skips a file with comments",
            ),
            (
                "{ // mine\n}",
                "it has a comment (line 1, column 3), and Kate skips a file with comments",
            ),
            ("[]", "it is not a JSON object (line 1, column 1)"),
            (
                "{\"servers\": []}",
                "`servers` is not an object (line 1, column 13)",
            ),
            (
                "{\"servers\": {}, \"servers\": {}}",
                "`servers` is there twice (line 1, column 17)",
            ),
            ("{\"servers\": {\"~pillion\": {}}}", by_hand),
            (
                "{\"servers\": {\"~pillion\": {\"installed\": true}}}",
                by_hand,
            ),
        ] {
            assert_eq!(installed(Some(text)).unwrap_err().why, why, "{text}");
        }
    }

    #[test]
    fn what_was_changed_is_not_taken_away() {
        let added = installed(Some("{\"a\": 1}")).unwrap().text;
        for (from, to) in [
            ("\"--editor\"", "\"--log\",\"x\",\"--editor\""),
            ("\"isNew\": false", "\"isNew\": true"),
        ] {
            let text = added.replacen(from, to, 1);
            assert_ne!(text, added, "{from}");
            for refused in [
                uninstall(&text).unwrap_err(),
                installed(Some(&text)).unwrap_err(),
            ] {
                assert_eq!(refused.why, "what `pillion install kate` wrote was changed");
            }
        }
        // What stands around it may change.
        let around = added.replace("\"a\": 1", "\"a\": 2, \"b\": []");
        let around = around.replacen("\"use\": \"~pillion\"", "\"use\": \"mine\"", 1);
        let left: Value = serde_json::from_str(&uninstall(&around).unwrap().unwrap()).unwrap();
        let servers = left["servers"].as_object().unwrap();
        assert_eq!(
            (&left["a"], &left["b"], servers.len()),
            (&json!(2), &json!([]), 1)
        );
        assert!(
            servers
                .values()
                .all(|server| *server == json!({"use": "mine"}))
        );
    }

    #[test]
    fn another_file_that_the_user_chose_is_seen() {
        let rc = "[General]\nServerConfiguration=no\n\n[lspclient]\nA=1\nServerConfiguration[$e]=file:///x\n";
        assert_eq!(other_file(rc), Some("file:///x"));
        for none in [
            "",
            "[lspclient]\nServerConfiguration=\n",
            "[lspclient]\n[a]\nServerConfiguration=x\n",
        ] {
            assert_eq!(other_file(none), None);
        }
    }
}
