//! `settings.json` with Pillion and without, as text: nothing of the user's is written anew, and what was added is
//! taken away to the byte. What is ours stands in one piece, whose last entry says how long it is.

use std::collections::BTreeMap;
use std::ops::Range;

use pillion_text::fingerprint;
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;
use serde_json::{Value, json};

use super::super::edit::Refused;
use super::languages::Language;

/// The server. Kate takes the first entry, by name, that fits a language, and this one fits all.
const SERVER: &str = "~pillion";

/// The text that is hashed in place of the hash.
const NO_HASH: &str = "0000000000000000";

const SERVERS: &str = "servers";

/// The text with Pillion, and what the user has in it.
#[derive(Debug, PartialEq, Eq)]
pub struct Added {
    pub text: String,
    /// The languages for which the user names a server.
    pub users: Vec<String>,
}

/// The facts that are needed to undo it.
#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Record {
    by: String,
    /// There was no file.
    is_new: bool,
    /// In bytes: how much is ours before the entry's value, and behind it.
    before: usize,
    after: usize,
    /// Of what is ours, the beginning.
    hash: String,
}

/// It is not what Kate reads.
fn unfit(why: String) -> Refused {
    let hint = "Fix it in Settings, LSP Client, User Server Settings.";
    Refused { why, hint }
}

fn malformed(error: serde_json::Error) -> Refused {
    unfit(format!("it cannot be parsed: {error}"))
}

/// The refusal where our text is not as we wrote it.
fn changed() -> Refused {
    Refused {
        why: "what `pillion install kate` wrote was changed".to_owned(),
        hint: "Remove `~pillion` and the entries that use it yourself.",
    }
}

/// Returns true if something of ours is in it.
pub fn is_installed(text: &str) -> bool {
    ours(text).is_ok_and(|found| found.is_some())
}

/// With Pillion for these languages, and for those that Kate has no server for.
///
/// # Errors
/// Why nothing can be added.
pub fn install(text: Option<&str>, languages: &[&Language]) -> Result<Added, Refused> {
    let clean = match text {
        // What an older version wrote, or one for other servers, goes first.
        Some(text) if is_installed(text) => uninstall(text)?,
        other => other.map(str::to_owned),
    };
    let text = clean.as_deref().unwrap_or_default();
    let place = place(text)?;
    if place.users.contains_key(SERVER) {
        // The user wrote it, after the page.
        let why = "it has an entry `~pillion` already, which `pillion install kate` did not write";
        let hint = "Leave it as it is, or remove it and run this again.";
        let why = why.to_owned();
        return Err(Refused { why, hint });
    }
    let mut before = place.before;
    for language in languages {
        if !place.users.contains_key(language.name) {
            before += &format!(
                "        \"{}\": {{ \"use\": \"{SERVER}\" }},\n",
                language.name
            );
        }
    }
    before += &format!("        \"{SERVER}\": ");
    let record = Record {
        by: "pillion install kate; pillion uninstall kate removes it".to_owned(),
        is_new: clean.is_none(),
        before: before.len(),
        after: place.after.len(),
        hash: NO_HASH.to_owned(),
    };
    let ours = format!("{before}{}{}", server(&record), place.after);
    let ours = ours.replacen(NO_HASH, &hash(&ours), 1);
    let result = format!("{}{ours}{}", &text[..place.at], &text[place.at..]);
    let users = place.users.into_iter();
    let users = users.filter(|(_, entry)| !uses_ours(entry));
    Ok(Added {
        text: result,
        users: users.map(|(name, _)| name).collect(),
    })
}

/// Without Pillion; nothing, if there was no file before.
///
/// # Errors
/// When what is ours was changed.
pub fn uninstall(text: &str) -> Result<Option<String>, Refused> {
    let (found, record) = ours(text)?.ok_or_else(changed)?;
    let at = offset(text, found);
    let ours = range(at, found, &record).ok_or_else(changed)?;
    let written = text.get(ours.clone()).ok_or_else(changed)?;
    if hash(&written.replacen(&record.hash, NO_HASH, 1)) != record.hash {
        return Err(changed());
    }
    let rest = format!("{}{}", &text[..ours.start], &text[ours.end..]);
    Ok((!record.is_new || !rest.is_empty()).then_some(rest))
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

/// The place of ours, and the text that has to stand around it.
#[derive(Debug)]
struct Place {
    at: usize,
    before: String,
    after: String,
    /// The servers that the user names.
    users: BTreeMap<String, Value>,
}

fn place(text: &str) -> Result<Place, Refused> {
    let open = format!("\n    \"{SERVERS}\": {{\n");
    if text.trim().is_empty() {
        return Ok(Place {
            at: 0,
            before: format!("{{{open}"),
            after: "\n    }\n}\n".to_owned(),
            users: BTreeMap::new(),
        });
    }
    let members = members(text.trim_start(), "its content")?;
    let comma = |is_last: bool| if is_last { "" } else { "," };
    let Some(servers) = members.get(SERVERS) else {
        return Ok(Place {
            at: brace(text, text.trim_start()),
            before: open,
            after: format!("\n    }}{}", comma(members.is_empty())),
            users: BTreeMap::new(),
        });
    };
    let users = self::members(servers.get(), "`servers`")?;
    let value = |raw: &RawValue| serde_json::from_str(raw.get()).unwrap_or_default();
    Ok(Place {
        at: brace(text, servers.get()),
        before: "\n".to_owned(),
        after: comma(users.is_empty()).to_owned(),
        users: users
            .into_iter()
            .map(|(name, raw)| (name, value(raw)))
            .collect(),
    })
}

/// Behind the brace that a part of a text starts with.
fn brace(text: &str, part: &str) -> usize {
    offset(text, part) + 1
}

/// The place at which a part of a text begins in it.
fn offset(text: &str, part: &str) -> usize {
    part.as_ptr() as usize - text.as_ptr() as usize
}

/// The value of our entry, as it stands in the text, and what it says about itself.
fn ours(text: &str) -> Result<Option<(&str, Record)>, Refused> {
    if text.trim().is_empty() {
        return Ok(None);
    }
    let members = members(text, "its content")?;
    let Some(servers) = members.get(SERVERS) else {
        return Ok(None);
    };
    let servers = self::members(servers.get(), "`servers`")?;
    let entry = servers.get(SERVER).map(|entry| entry.get());
    Ok(entry.and_then(|entry| {
        let value: Value = serde_json::from_str(entry).ok()?;
        Some((entry, Record::deserialize(value.get("installed")?).ok()?))
    }))
}

/// The members of an object, as they stand in the text.
fn members<'a>(
    text: &'a str,
    what: &'static str,
) -> Result<BTreeMap<String, &'a RawValue>, Refused> {
    let value: &RawValue = serde_json::from_str(text).map_err(malformed)?;
    if !value.get().starts_with('{') {
        return Err(unfit(format!("{what} is not an object")));
    }
    serde_json::from_str(value.get()).map_err(malformed)
}

/// The value of our entry.
fn server(record: &Record) -> String {
    let command = json!(["pillion", "lsp", "--editor", "Kate", "--open-with", "kate"]);
    let record = json!(record);
    format!(
        "{{\n            \"command\": {command},\n            \"highlightingModeRegex\": \".\",\n            \
         \"documentLanguageId\": false,\n            \"installed\": {record}\n        }}"
    )
}

/// Returns true if a language of the user's is served by Pillion.
fn uses_ours(entry: &Value) -> bool {
    entry.get("use").and_then(Value::as_str) == Some(SERVER)
}

fn range(at: usize, entry: &str, record: &Record) -> Option<Range<usize>> {
    let end = at.checked_add(entry.len())?.checked_add(record.after)?;
    Some(at.checked_sub(record.before)?..end)
}

fn hash(text: &str) -> String {
    let mut hash = fingerprint::hash(text.as_bytes());
    hash.truncate(NO_HASH.len());
    hash
}

#[cfg(test)]
mod tests {
    use super::super::languages::by_server;
    use super::*;
    use crate::install::machine::{Machine, Platform};

    /// On a machine without any server.
    fn installed(text: Option<&str>) -> Result<Added, Refused> {
        let machine = Machine::of(Platform::Linux, &[("HOME", "/nowhere")]);
        let (missing, served) = by_server(&machine);
        assert!(served.is_empty());
        install(text, &missing)
    }

    #[test]
    fn what_was_there_is_there_again_to_the_byte() {
        for text in [
            None,
            Some(""),
            Some(" \n"),
            Some("{}"),
            Some("\r\n{ }\r\n"),
            Some("{\"servers\":{}}"),
            Some("{\"global\": {\"x\": \"ü{}\\u007b\"}}"),
            Some(
                "{\n\t\"servers\": {\n\t\t\"python\": {\"command\": [\"mine\"]}\n\t},\n\t\"a\": 1\n}",
            ),
            Some("{\"servers\": {\"a\": 1}, \"servers\": {\"b\": {\"use\": \"c\"}}}"),
            Some("{\"serv\\u0065rs\": {\"b\": null}}"),
        ] {
            let added = installed(text).unwrap();
            assert!(is_installed(&added.text), "{}", added.text);
            assert!(text.is_none_or(|text| !is_installed(text)));
            let value: Value = serde_json::from_str(&added.text).unwrap();
            let servers = &value["servers"];
            assert_eq!(servers["rust"], json!({"use": "~pillion"}));
            assert_eq!(servers["~pillion"]["highlightingModeRegex"], ".");
            assert_eq!(uninstall(&added.text), Ok(text.map(str::to_owned)));
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
        let malformed = installed(Some("{\"servers\": {,}}"));
        let why = malformed.unwrap_err().why;
        assert!(why.starts_with("it cannot be parsed: ") && why.contains("line 1"));
        let by_hand =
            "it has an entry `~pillion` already, which `pillion install kate` did not write";
        for (text, why) in [
            ("[]", "its content is not an object"),
            ("{\"servers\": []}", "`servers` is not an object"),
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
            (
                "{ \"use\": \"~pillion\" },\n        \"zig\"",
                "{ \"use\": \"mine\" },\n        \"zig\"",
            ),
            ("\"before\":", "\"before\":9"),
            ("\"after\":", "\"after\":18446744073709551"),
        ] {
            let text = added.replacen(from, to, 1);
            assert_ne!(text, added, "{from}");
            assert_eq!(uninstall(&text), Err(changed()), "{from}");
        }
        // What stands around it may change.
        let around = added.replace("\"a\": 1", "\"a\": 2, \"b\": []");
        assert_eq!(
            uninstall(&around),
            Ok(Some("{\"a\": 2, \"b\": []}".to_owned()))
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
