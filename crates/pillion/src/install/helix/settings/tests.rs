//! Settings as people write them, with Pillion and back.

use std::collections::BTreeSet;

use proptest::prelude::*;

use super::*;

fn known() -> Vec<Language> {
    let language = |name: &str, servers: &[&str]| Language {
        name: name.to_owned(),
        servers: servers.iter().map(|it| (*it).to_owned()).collect(),
    };
    vec![
        language("rust", &["\"rust-analyzer\""]),
        language("python", &["\"ruff\"", "\"jedi\""]),
        language(
            "gjs",
            &["{ except-features = [\"format\"], name = \"ts\" }"],
        ),
        language("text", &[]),
    ]
}

/// The names of a language's servers.
fn servers_of(text: &str, language: &str) -> Vec<String> {
    let document: DocumentMut = text.parse().unwrap();
    let tables = document["language"].as_array_of_tables().unwrap();
    let tables = tables.iter();
    let found: Vec<&Table> = tables
        .filter(|table| table["name"].as_str() == Some(language))
        .collect();
    assert_eq!(found.len(), 1, "{language}");
    let list = found[0]["language-servers"].as_array().unwrap();
    let name = |value: &Value| match value {
        Value::InlineTable(table) => table["name"].as_str().unwrap().to_owned(),
        other => other.as_str().unwrap().to_owned(),
    };
    list.iter().map(name).collect()
}

/// With Pillion, and it can be undone.
fn installed(text: &str) -> String {
    let installed = install(Some(text), &known()).unwrap();
    let without = uninstall(&installed).unwrap().unwrap_or_default();
    assert_eq!(without.trim_end(), text.trim_end());
    let again = install(Some(&installed), &known()).unwrap();
    assert_eq!(again, installed, "idempotent");
    installed
}

#[test]
fn a_new_file_holds_every_language_with_its_own_servers_and_goes_again() {
    let text = install(None, &known()).unwrap();
    assert_eq!(servers_of(&text, "rust"), ["rust-analyzer", "pillion"]);
    assert_eq!(servers_of(&text, "python"), ["ruff", "jedi", "pillion"]);
    assert_eq!(servers_of(&text, "gjs"), ["ts", "pillion"]);
    assert_eq!(servers_of(&text, "text"), ["pillion"]);
    assert!(text.contains("except-features"));
    assert!(is_installed(&text));
    assert_eq!(uninstall(&text), Ok(None));
    assert_eq!(install(Some(&text), &known()).unwrap(), text);
}

#[test]
fn what_the_user_wrote_stays_and_comes_back() {
    for text in [
        "",
        "\n",
        "# mine",
        "# mine\n\n\n",
        "[[language]]\nname = \"rust\"",
        "[[language]]\nname = \"rust\" # why\nauto-format = true\n",
        "[[language]]\nauto-format = true\n  name = 'rust'\n\n[editor]\nx = 1\n",
        "[[language]]\nname = \"rust\"\nlanguage-servers = []\n",
        "[[language]]\nname = \"rust\"\nlanguage-servers = [ \"a\" , \"b\",\n  # last\n  \"c\", # c\n]\n",
        "[[language]]\nname = \"rust\"\nlanguage-servers = [{ name = \"a\", only-features = [\"format\"] }]\n",
        "[[language]]\nname = \"mine\"\n[language.auto-pairs]\n'(' = ')'\n",
        "[language-server.pillion]\ncommand = \"/opt/pillion\"\n\n[[language]]\nname = \"rust\"\nlanguage-servers = [\"pillion\", \"a\"]\n",
        "[language-server]\na = { command = \"a\" }\n",
        "# mine\r\n[[language]]\r\nname = \"rust\"\r\n\r\n# end\r\n",
    ] {
        let installed = installed(text);
        // A list may be extended behind its last entry.
        let is_list = |line: &&str| line.contains("language-servers") || line.contains("\"c\"");
        for line in text.lines().filter(|line| !is_list(line)) {
            assert!(installed.contains(line), "{line}");
        }
    }
}

#[test]
fn lists_of_the_user_are_extended_and_not_replaced() {
    let text = installed("[[language]]\nname = \"python\"\nlanguage-servers = [\"pyright\"]\n");
    assert_eq!(servers_of(&text, "python"), ["pyright", "pillion"]);
    let text = installed("[[language]]\nname = \"python\"\nauto-format = true\n");
    assert_eq!(servers_of(&text, "python"), ["ruff", "jedi", "pillion"]);
    let text = installed("[[language]]\nname = \"mine\"\nscope = \"x\"\n");
    assert_eq!(servers_of(&text, "mine"), ["pillion"]);
    assert_eq!(servers_of(&text, "rust"), ["rust-analyzer", "pillion"]);
}

#[test]
fn what_is_added_has_the_line_ends_of_the_file() {
    let text = installed("# mine\r\n[[language]]\r\nname = \"rust\"\r\n\r\n# end\r\n");
    assert!(!text.replace("\r\n", "").contains('\n'), "{text:?}");
    assert_eq!(servers_of(&text, "rust"), ["rust-analyzer", "pillion"]);
}

#[test]
fn a_server_that_the_user_set_up_is_left_alone() {
    let before = "[language-server.pillion]\ncommand = \"/opt/pillion\"\nargs = [\"lsp\"]\n\
                  [[language]]\nname = \"rust\"\nlanguage-servers = [\"pillion\"]\n";
    let text = installed(before);
    assert!(text.contains("command = \"/opt/pillion\""));
    assert_eq!(text.matches("[language-server.pillion]").count(), 1);
    assert_eq!(servers_of(&text, "rust"), ["pillion"]);
}

#[test]
fn what_the_user_changes_afterwards_stays() {
    let before = "[[language]]\nname = \"python\"\nlanguage-servers = [\"pyright\"]\n";
    let text = installed(before).replace("[\"pyright\", ", "[\"mine\", \"pyright\", ");
    let more = "\n[[language]]\nname = \"new\"\n";
    let after = uninstall(&format!("{text}{more}")).unwrap().unwrap();
    let expected = before.replace("[\"", "[\"mine\", \"");
    assert_eq!(after, format!("{expected}{more}"));

    let before = "[[language]]\nname = \"python\"\n";
    let text = installed(before).replace("[\"ruff\", \"jedi\"", "[\"jedi\"");
    let after = uninstall(&text).unwrap().unwrap();
    let kept = "[[language]]\nname = \"python\"\nlanguage-servers = [\"jedi\"]\n";
    assert_eq!(after, kept);
}

#[test]
fn an_entry_of_ours_that_the_user_has_extended_stays_without_pillion() {
    let text = install(None, &known()).unwrap();
    let text = text.replace("name = \"rust\"\n", "name = \"rust\"\nauto-format = true\n");
    let after = uninstall(&text).unwrap().unwrap();
    assert_eq!(
        after.trim(),
        "[[language]]\nname = \"rust\"\nauto-format = true"
    );
}

#[test]
fn what_cannot_be_read_or_extended_is_refused() {
    let refused = |text: &str| install(Some(text), &known()).unwrap_err();
    let error = refused("a = 1\n[[language]\nname = 1\n").why;
    assert!(error.contains("line 2"), "{error}");
    let inline = refused("language = [{ name = \"rust\" }]\n");
    assert_eq!(inline, super::inline("language"));
    let inline = refused("language-server = { }\n");
    assert_eq!(inline, super::inline("language-server"));
    assert!(!inline.hint.is_empty());
}

proptest! {
    #[test]
    fn whatever_the_user_wrote_comes_back(
        entries in prop::collection::vec(
            ("rust|python|mine|text", "\n|\n\n| # c\n", prop::option::of("(a|b|pillion)?")),
            0..4,
        ),
        is_ended: bool,
    ) {
        let mut seen = BTreeSet::new();
        let mut text = String::new();
        for (name, end, list) in entries {
            if !seen.insert(name.clone()) {
                continue;
            }
            text += &format!("[[language]]\nname = \"{name}\"{end}");
            if let Some(list) = list {
                let list = if list.is_empty() { list } else { format!("\"{list}\"") };
                text += &format!("language-servers = [{list}]{end}");
            }
        }
        if !is_ended {
            text = text.trim_end().to_owned();
        }
        installed(&text);
    }

    #[test]
    fn nothing_panics(text: String) {
        let _ = install(Some(&text), &known());
        let _ = uninstall(&format!("a = 1{MARK}\n{text}"));
    }
}
