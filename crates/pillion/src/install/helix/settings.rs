//! `languages.toml` with Pillion and without. Helix replaces a language's own servers by a list in this file, so a list is
//! extended, or starts with those that Helix was built with. A comment marks what is ours.

use pillion_hooks::settings::{Refused, toml};
use pillion_text::fingerprint;
use toml_edit::{Array, ArrayOfTables, Decor, DocumentMut, Item, RawString, Table, Value, value};

use super::languages::Language;

/// The comment behind a header or a list of ours. Behind a list that is wholly ours follows what it held, as a hash.
const MARK: &str = " # by `pillion install helix`";

const SERVERS: &str = "language-servers";

/// Returns true if something of ours is in it.
pub fn is_installed(text: &str) -> bool {
    text.contains(MARK)
}

/// With Pillion for every language that Helix knows, and for those that the file adds.
pub fn install(text: Option<&str>, known: &[Language]) -> Result<String, Refused> {
    edit(text.unwrap_or_default(), |document| {
        // What an older version wrote, or one for another Helix, goes first.
        remove(document);
        // Where nothing else is, comments stand before what is added.
        let is_empty = document.is_empty();
        let head = text_of(Some(document.trailing()));
        let mut tables = Table::new();
        tables.set_implicit(true);
        let servers = document.entry("language-server");
        let servers = servers.or_insert(Item::Table(tables)).as_table_mut();
        let servers = servers.ok_or_else(|| inline("language-server"))?;
        if !servers.contains_key("pillion") {
            let mut server = Table::new();
            server.insert("command", value("pillion"));
            server.insert("args", value(Array::from_iter(["lsp"])));
            mark(server.decor_mut(), "");
            if is_empty && head.contains('#') {
                server
                    .decor_mut()
                    .set_prefix(format!("{}\n", head.trim_end()));
            }
            servers.insert("pillion", Item::Table(server));
        }
        let languages = document.entry("language");
        let languages = languages.or_insert(Item::ArrayOfTables(ArrayOfTables::new()));
        let languages = languages.as_array_of_tables_mut();
        let languages = languages.ok_or_else(|| inline("language"))?;
        let mut missing: Vec<_> = known.iter().collect();
        for table in languages.iter_mut() {
            // Helix refuses one without a name.
            let Some(name) = table.get("name").and_then(Item::as_str) else {
                continue;
            };
            let own = known.iter().find(|language| language.name == name);
            missing.retain(|language| language.name != name);
            match table.get_mut(SERVERS) {
                None => add(table, own.map_or(&[][..], |own| &own.servers)),
                Some(list) => {
                    if let Some(list) = list.as_array_mut()
                        && !list.iter().any(is_pillion)
                    {
                        list.push("pillion");
                        mark(list.decor_mut(), "");
                    }
                }
            }
        }
        for language in missing {
            let mut table = Table::new();
            table.insert("name", value(&language.name));
            add(&mut table, &language.servers);
            mark(table.decor_mut(), "");
            languages.push(table);
        }
        if is_empty {
            document.set_trailing("");
        }
        Ok(())
    })
}

/// Without Pillion; nothing, if nothing else is in it.
pub fn uninstall(text: &str) -> Result<Option<String>, Refused> {
    let text = edit(text, |document| {
        remove(document);
        Ok(())
    })?;
    Ok((!text.trim().is_empty()).then_some(text))
}

/// Changes a text, and keeps its line ends.
fn edit(
    text: &str,
    change: impl FnOnce(&mut DocumentMut) -> Result<(), Refused>,
) -> Result<String, Refused> {
    let mut document = toml::parse(text)?.into_mut();
    change(&mut document)?;
    let result = document.to_string();
    let is_crlf = text
        .split_once('\n')
        .is_some_and(|(first, _)| first.ends_with('\r'));
    Ok(match is_crlf {
        true => result.replace("\r\n", "\n").replace('\n', "\r\n"),
        false => result,
    })
}

/// Gives a language its own servers, and Pillion.
fn add(table: &mut Table, own: &[String]) {
    let own = own.iter().filter_map(|server| server.parse::<Value>().ok());
    let mut list: Array = own.collect();
    list.push("pillion");
    let held = held(&list);
    mark(list.decor_mut(), &held);
    table.insert(SERVERS, value(list));
}

fn remove(document: &mut DocumentMut) {
    if let Some(Item::ArrayOfTables(languages)) = document.get_mut("language") {
        for table in languages.iter_mut() {
            let Some(Item::Value(Value::Array(list))) = table.get_mut(SERVERS) else {
                continue;
            };
            let held = held(list);
            match unmark(list.decor_mut()) {
                Some(ours) if ours == held => drop(table.remove(SERVERS)),
                Some(_) => list.retain(|server| !is_pillion(server)),
                None => {}
            }
        }
        // With more than its name in it, it is the person's by now.
        languages.retain(|table| !(is_marked(table.decor()) && table.len() == 1));
        languages
            .iter_mut()
            .for_each(|table| _ = unmark(table.decor_mut()));
        if languages.is_empty() {
            document.remove("language");
        }
    }
    let mut head = String::new();
    if let Some(Item::Table(servers)) = document.get_mut("language-server") {
        servers.retain(|_, server| {
            let ours = server.as_table().filter(|it| is_marked(it.decor()));
            head = ours.map_or(std::mem::take(&mut head), |it| text_of(it.decor().prefix()));
            ours.is_none()
        });
        if servers.is_empty() && servers.is_implicit() {
            document.remove("language-server");
        }
    }
    // Comments of the person's stay.
    if head.contains('#') {
        let rest = text_of(Some(document.trailing()));
        document.set_trailing(head + &rest);
    }
}

fn text_of(raw: Option<&RawString>) -> String {
    let text = raw.and_then(RawString::as_str);
    text.unwrap_or_default().to_owned()
}

/// The servers of a list, whatever stands between them.
fn held(list: &Array) -> String {
    let servers = list
        .iter()
        .map(|server| server.to_string().trim().to_owned());
    let mut hash = fingerprint::hash(servers.collect::<Vec<_>>().join(",").as_bytes());
    hash.truncate(8);
    hash
}

fn is_marked(decor: &Decor) -> bool {
    text_of(decor.suffix()).contains(MARK)
}

fn mark(decor: &mut Decor, held: &str) {
    let marked = format!("{}{MARK} {held}", text_of(decor.suffix()));
    decor.set_suffix(marked.trim_end());
}

/// Takes a mark away. Returns what follows it.
fn unmark(decor: &mut Decor) -> Option<String> {
    let suffix = text_of(decor.suffix());
    let (before, held) = suffix.split_once(MARK)?;
    decor.set_suffix(before);
    Some(held.trim().to_owned())
}

fn is_pillion(server: &Value) -> bool {
    let name = match server {
        Value::InlineTable(table) => table.get("name"),
        other => Some(other),
    };
    name.and_then(Value::as_str) == Some("pillion")
}

/// It is TOML, but nothing can be added.
fn inline(key: &str) -> Refused {
    Refused {
        why: format!("`{key}` is not written as a table, so no entry can be added"),
        hint: "Write each entry as a table of its own, such as `[[language]]`.",
    }
}

#[cfg(test)]
mod tests;
