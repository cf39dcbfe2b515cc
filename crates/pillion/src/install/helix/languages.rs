//! The languages that a Helix was built with, and the servers of each. `hx --health` prints the programs of
//! the servers and not their names, which are not always the same; the names stand in the settings that are
//! compiled into the program, as text.

use std::path::{Path, PathBuf};

use pillion_discovery::regular_file;
use toml_edit::{DocumentMut, Value};

/// A language of Helix's.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Language {
    pub name: String,
    /// Its servers, as TOML writes them.
    pub servers: Vec<String>,
}

const HEADER: &str = "\n[[language]]";

/// No entry of a language is longer.
const MAX_ENTRY: usize = 16 << 10;

/// Fewer are not all of them.
const MIN_LANGUAGES: usize = 50;

/// A shorter file is a script that starts the program.
const MAX_SCRIPT: usize = 64 << 10;

/// No build of Helix is as long.
const MAX_PROGRAM: u64 = 1 << 30;

/// The places where distributions keep the program that such a script starts.
const HIDDEN: [&str; 2] = ["/usr/lib/helix/hx", "/usr/lib/hx/hx"];

/// The languages of this program, or of the one that it starts.
pub fn of_program(program: &Path) -> Option<Vec<Language>> {
    let bytes = read(program)?;
    let own = of_bytes(&bytes);
    if own.is_some() || bytes.len() > MAX_SCRIPT {
        return own;
    }
    let script = String::from_utf8(bytes).ok()?;
    let mut started = started(&script)
        .into_iter()
        .chain(HIDDEN.map(PathBuf::from));
    started.find_map(|program| of_bytes(&read(&program)?))
}

fn read(program: &Path) -> Option<Vec<u8>> {
    regular_file::read(program, MAX_PROGRAM).ok()
}

/// The programs of Helix that a script names.
fn started(script: &str) -> Vec<PathBuf> {
    let ends = |letter: char| letter.is_whitespace() || "\"'`;=:".contains(letter);
    let words = script.split(ends).filter(|word| word.starts_with('/'));
    let is_helix = |path: &PathBuf| {
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        ["hx", "helix", ".hx-wrapped", ".helix-wrapped"].contains(&name.as_ref())
    };
    words.map(PathBuf::from).filter(is_helix).collect()
}

fn of_bytes(bytes: &[u8]) -> Option<Vec<Language>> {
    let header = HEADER.as_bytes();
    let mut languages: Vec<Language> = Vec::new();
    let newlines = bytes.iter().enumerate().filter(|(_, byte)| **byte == b'\n');
    for (at, _) in newlines {
        let Some(rest) = bytes[at..].strip_prefix(header) else {
            continue;
        };
        let rest = &rest[..rest.len().min(MAX_ENTRY)];
        if let Some(language) = entry(rest)
            && languages.iter().all(|known| known.name != language.name)
        {
            languages.push(language);
        }
    }
    (languages.len() >= MIN_LANGUAGES).then_some(languages)
}

/// One entry, which ends where the next table begins, or the settings do.
fn entry(bytes: &[u8]) -> Option<Language> {
    let valid = match std::str::from_utf8(bytes) {
        Ok(text) => text,
        Err(error) => std::str::from_utf8(&bytes[..error.valid_up_to()]).unwrap_or_default(),
    };
    let text = valid.split("\n[").next()?;
    let name = value(text, "name")?.as_str()?.to_owned();
    let servers = value(text, "language-servers");
    let servers = servers.as_ref().and_then(Value::as_array);
    let servers = servers.into_iter().flatten().map(one_line).collect();
    Some(Language { name, servers })
}

/// A value on one line.
fn one_line(value: &Value) -> String {
    let mut value = value.clone();
    tidy(&mut value);
    value.to_string().trim().to_owned()
}

fn tidy(value: &mut Value) {
    match value {
        Value::Array(list) => {
            list.iter_mut().for_each(tidy);
            list.fmt();
        }
        Value::InlineTable(table) => {
            table.iter_mut().for_each(|(_, value)| tidy(value));
            table.fmt();
        }
        _ => {}
    }
}

/// The value of a key, which may go over several lines: as many as it takes to be one.
fn value(text: &str, key: &str) -> Option<Value> {
    let start = format!("\n{key} = ");
    let (_, rest) = text.split_once(start.as_str())?;
    let ends = rest.match_indices('\n').map(|(end, _)| end);
    let mut ends = ends.chain([rest.len()]);
    // As a line of a document, which may end in a comment.
    let document =
        ends.find_map(|end| format!("it = {}", &rest[..end]).parse::<DocumentMut>().ok());
    document?.remove("it")?.into_value().ok()
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    /// The settings of a made-up Helix, between what else is in a program.
    fn program() -> Vec<u8> {
        let mut text = "\0\x01\n[language-server.gopls]\ncommand = \"x\"\n".to_owned();
        for number in 0..60 {
            text += &format!("\n[[language]]\nname = \"l{number}\"\nscope = \"a\"\n");
        }
        text += "\n[[language]]\n# a comment\nname = \"python\"\nfile-types = [\"py\"]\n\
                 language-servers = [\"ruff\", \"jedi\"] # why\n[language.auto-pairs]\n'(' = ')'\n\
                 \n[[language]]\nname = \"gjs\"\nlanguage-servers = [\n  { except-features = [\n    \
                 \"format\",\n  ], name = \"ts\" },\n  \"eslint\",\n]\n\n[[grammar]]\nname = \"x\"\n\
                 \n[[language]]\nname = \"last\"\n";
        let mut bytes = text.into_bytes();
        bytes.extend(b"\xff\xfehelix-loader/src/config.rs\n[[language]]");
        bytes
    }

    #[test]
    fn languages_and_their_servers_stand_in_the_program() {
        let found = of_bytes(&program()).unwrap();
        assert_eq!(found.len(), 63);
        let servers = |name: &str| {
            let found = found.iter().find(|language| language.name == name);
            found.unwrap().servers.clone()
        };
        assert!(servers("l7").is_empty());
        assert_eq!(servers("python"), ["\"ruff\"", "\"jedi\""]);
        let ts = "{ except-features = [\"format\"], name = \"ts\" }";
        assert_eq!(servers("gjs"), [ts, "\"eslint\""]);
        assert!(servers("last").is_empty());
    }

    #[test]
    fn what_is_not_helix_has_none() {
        for bytes in [
            &b""[..],
            b"\n[[language]]\nname = \"one\"\n",
            &[0xff; 100],
            b"\n[[language]]",
        ] {
            assert_eq!(of_bytes(bytes), None);
        }
    }

    #[test]
    fn a_script_that_starts_it_leads_to_it() {
        let folder = tempfile::tempdir().unwrap();
        let hidden = folder.path().join(".hx-wrapped");
        let script = folder.path().join("helix");
        fs::write(&hidden, program()).unwrap();
        let start = format!("#!/bin/sh\nX=1 exec \"{}\" \"$@\"\n", hidden.display());
        fs::write(&script, start).unwrap();
        assert_eq!(of_program(&script).unwrap().len(), 63);
        assert_eq!(of_program(&folder.path().join("missing")), None);
    }
}
