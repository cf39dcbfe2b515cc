//! Entries that are added go again, and everything that is not ours stays.

use jsonc_parser::ParseOptions;
use jsonc_parser::cst::{CstNode, CstRootNode};
use proptest::prelude::*;
use serde_json::json;

use super::state as state_of;
use super::*;

/// A settings file of some agent.
#[derive(Debug)]
struct Settings {
    format: Format,
    entries: fn(&str) -> Vec<Entry>,
}

const JSON: Settings = Settings {
    format: Format::Json,
    entries: groups,
};
const PLAIN: Settings = Settings {
    format: Format::PlainJson("Claude Code"),
    entries: groups,
};
const FLAT: Settings = Settings {
    format: Format::Json,
    entries: flat,
};
const TOML: Settings = Settings {
    format: Format::Toml,
    entries: groups,
};

fn groups(command: &str) -> Vec<Entry> {
    let group = |limit| json!({"matcher": "Edit|Write", "hooks": [{"type": "command", "command": command, "timeout": limit}]});
    vec![
        Entry {
            event: "PreToolUse",
            item: group(86_400),
        },
        Entry {
            event: "PermissionRequest",
            item: group(60),
        },
    ]
}

fn flat(command: &str) -> Vec<Entry> {
    let item = json!({"type": "command", "bash": command, "timeoutSec": 9.5});
    let entry = |event| Entry {
        event,
        item: item.clone(),
    };
    ["preToolUse", "permissionRequest"].map(entry).into()
}

impl Settings {
    fn add(&self, text: Option<&str>, command: &CommandLine) -> Result<String, Refused> {
        add(
            self.format,
            text,
            &command.agent,
            &(self.entries)(&command.to_string()),
        )
    }

    fn remove(&self, text: &str, agent: &str) -> Result<String, Refused> {
        remove(self.format, text, agent)
    }

    fn values(&self, text: &str) -> Map<String, Value> {
        let values = self.format.values(text);
        values.unwrap_or_else(|why| panic!("{why:?}: {text}"))
    }

    /// All that a text says to a program and to a person: values, but for lists and objects with nothing in them, and
    /// comments, in their order.
    fn content(&self, text: &str) -> (Value, Vec<String>) {
        let values = Value::Object(self.values(text));
        (
            full(values).unwrap_or_default(),
            comments(self.format, text),
        )
    }

    /// Our hooks in a text.
    fn ours(&self, text: &str) -> Vec<(Hook, CommandLine)> {
        let hooks = hooks(&self.values(text)).into_iter();
        hooks
            .filter_map(|hook| hook.ours("claude").map(|own| (hook, own)))
            .collect()
    }
}

fn ours() -> CommandLine {
    CommandLine {
        program: "/opt/a b/pillion".to_owned(),
        agent: "claude".to_owned(),
        flags: Vec::new(),
    }
}

fn moved() -> CommandLine {
    CommandLine {
        program: "/usr/bin/pillion".to_owned(),
        agent: "claude".to_owned(),
        flags: vec!["--strict".to_owned()],
    }
}

/// Checks all that holds for every text that can be read.
fn check(settings: &Settings, text: &str) {
    let with = settings
        .add(Some(text), &ours())
        .unwrap_or_else(|why| panic!("{why:?}: {text}"));
    assert_eq!(
        settings.add(Some(&with), &ours()).as_deref(),
        Ok(&*with),
        "{text}"
    );
    let mut events: Vec<_> = (settings.entries)("")
        .into_iter()
        .map(|entry| entry.event)
        .collect();
    events.sort_unstable();
    let found = settings.ours(&with);
    assert!(
        found.iter().map(|(hook, _)| &hook.event).eq(events),
        "{with}"
    );
    assert!(found.iter().all(|(_, own)| *own == ours()), "{with}");
    assert_eq!(
        settings.remove(&with, "gemini").as_deref(),
        Ok(&*with),
        "{with}"
    );
    // What an older Pillion wrote is replaced where it is.
    let other = settings.add(Some(text), &moved()).unwrap();
    assert_ne!(other, with);
    let again = settings.add(Some(&other), &ours()).unwrap();
    assert_eq!(settings.values(&again), settings.values(&with), "{other}");
    for text_with in [with, other, again] {
        assert!(is_within(text, &text_with), "{text}\n{text_with}");
        if text.contains('\n') && !text.replace("\r\n", "").contains('\n') {
            assert!(
                !text_with.replace("\r\n", "").contains('\n'),
                "{text_with:?}"
            );
        }
        let without = settings.remove(&text_with, "claude").unwrap();
        assert_eq!(
            settings.content(&without),
            settings.content(text),
            "{text_with}"
        );
        assert_eq!(settings.remove(&without, "claude").as_ref(), Ok(&without));
        if settings.format == Format::Toml {
            assert_eq!(
                without.trim_end_matches(['\r', '\n']),
                text.trim_end_matches(['\r', '\n']),
                "{text_with}"
            );
            let is_ended = [text, &without].map(|text| text.ends_with('\n'));
            assert_eq!(is_ended[0], is_ended[1], "{text:?} {without:?}");
        }
    }
}

/// Returns true if one text is the other with something put in, white space aside.
fn is_within(text: &str, longer: &str) -> bool {
    let mut rest = longer.chars();
    let mut chars = text.chars().filter(|char| !char.is_whitespace());
    chars.all(|char| rest.any(|other| other == char))
}

/// The value without what is empty in it.
fn full(value: Value) -> Option<Value> {
    match value {
        Value::Object(fields) => {
            let fields = fields.into_iter();
            let fields: Map<_, _> = fields
                .filter_map(|(name, own)| Some((name, full(own)?)))
                .collect();
            (!fields.is_empty()).then_some(Value::Object(fields))
        }
        Value::Array(items) => (!items.is_empty()).then_some(Value::Array(items)),
        other => Some(other),
    }
}

fn comments(format: Format, text: &str) -> Vec<String> {
    fn below(node: &CstNode) -> Vec<String> {
        match node.is_comment() {
            true => vec![node.to_string()],
            false => node.children().iter().flat_map(below).collect(),
        }
    }
    if format == Format::Toml {
        let comments = text.lines().filter_map(|line| line.split_once('#'));
        return comments.map(|(_, comment)| comment.to_owned()).collect();
    }
    let text = text.trim_start_matches('\u{feff}');
    let root = CstRootNode::parse(text, &ParseOptions::default()).unwrap();
    root.children().iter().flat_map(below).collect()
}

#[test]
fn an_entry_is_written_as_people_write_it_and_is_read_back() {
    let with = JSON
        .add(Some("{\n\t\"model\": \"x\" // mine\n}\n"), &moved())
        .unwrap();
    assert_eq!(
        with,
        r#"{
	"model": "x", // mine
	"hooks": {
		"PreToolUse": [
			{
				"matcher": "Edit|Write",
				"hooks": [
					{
						"type": "command",
						"command": "/usr/bin/pillion hook claude --strict",
						"timeout": 86400
					}
				]
			}
		],
		"PermissionRequest": [
			{
				"matcher": "Edit|Write",
				"hooks": [
					{
						"type": "command",
						"command": "/usr/bin/pillion hook claude --strict",
						"timeout": 60
					}
				]
			}
		]
	}
}
"#
    );
    let (hook, own) = &JSON.ours(&with)[1];
    let matcher = Some("Edit|Write".to_owned());
    let (event, command) = ("PreToolUse".to_owned(), moved().to_string());
    assert_eq!(
        *hook,
        Hook {
            event,
            place: (0, 0),
            matcher,
            command,
            limit: Some(86_400.0)
        }
    );
    assert_eq!(*own, moved());
    let with = TOML.add(Some("model = \"x\" # mine\n"), &moved()).unwrap();
    assert_eq!(
        with,
        r#"model = "x" # mine

[[hooks.PreToolUse]]
matcher = "Edit|Write"
[[hooks.PreToolUse.hooks]]
type = "command"
command = "/usr/bin/pillion hook claude --strict"
timeout = 86400

[[hooks.PermissionRequest]]
matcher = "Edit|Write"
[[hooks.PermissionRequest.hooks]]
type = "command"
command = "/usr/bin/pillion hook claude --strict"
timeout = 60
"#
    );
    let (hook, own) = &FLAT.ours(&FLAT.add(None, &ours()).unwrap())[0];
    assert_eq!(
        (hook.limit, &hook.matcher, own),
        (Some(9.5), &None, &ours())
    );
}

#[test]
fn json_of_every_layout_gets_the_hooks_and_nothing_else_goes_with_them() {
    for text in [
        "",
        "\n",
        "  ",
        "\r\n\r\n",
        "\u{feff}",
        "\u{feff}// x\n",
        "// x",
        "// x\n",
        "// x\r\n/* y\n */",
        "/* x */ ",
        "// x\n{\n}",
        "// x\n{ }\n",
        "{ \"hooks\": {} }\n",
        "{ \"hooks\": {\n} }",
        "{ \n}\n",
        "{}",
        "{ }",
        "{\n}\n",
        "{\r\n}",
        "\u{feff}{\n  \"a\": 1\n}\n",
        " {} // x",
        "{ /* x */ }",
        "{ // x\n}",
        "{\n  // x\n}\n",
        "{ // x\n // y\n }",
        "{\"a\":1}",
        "{\"a\": 1, \"b\": [1, 2]}",
        "{\n\t\"a\": 1 // one\n\t// two\n}\n",
        "{\n  \"a\": 1, // one\n  \"b\": 2 /* two */ // three\n}",
        "{\"a\": 1 // one\n}",
        "{\"a\": 1 /* one\n two */ }",
        "{\r\n    \"a\": {\r\n        \"b\": 1\r\n    }\r\n}\r\n",
        "{\"hooks\": {}}",
        "{\"hooks\": { }, \"a\": 1}",
        "{\n  \"hooks\": {\n  }\n}",
        "{\n  \"hooks\": { // x\n  }\n}",
        "{\"hooks\": {/* x */}}",
        "{\n  \"hooks\": {\n    \"Stop\": [] // x\n  }\n}\n",
        "{\"hooks\": {\"PreToolUse\": []}}",
        "{\"hooks\": {\"PreToolUse\": [ // x\n]}}",
        "{\"hooks\": {\"preToolUse\": [\n], \"PermissionRequest\": [ ], \"PreToolUse\": [\n  {\"matcher\": \"Bash\"} // x\n  // y\n]}}",
        "{\n  \"hooks\": {\n    \"PreToolUse\": [\n      {\"hooks\": [{\"command\": \"other hook claude\"}]}\n    ]\n  },\n  \"z\": 1\n}\n",
        "{\"ä\": \"ö\" ,\"hooks\"  :  {\"PreToolUse\":[{}]  , \"x\": null}}",
    ] {
        check(&JSON, text);
        check(&FLAT, text);
    }
}

#[test]
fn toml_of_every_layout_gets_the_hooks_and_nothing_else_goes_with_them() {
    for text in [
        "",
        "\n",
        "\n\n",
        "a = 1",
        "a = 1\n",
        "a = 1\n\n",
        "a = 1\n\n\n",
        "# only this",
        "\u{feff}a = 1\n",
        "\u{feff}",
        "a = 1\r\n[b]\r\nc = 2\r\n",
        "a = 1\r\nb = 2",
        "[hooks]\n",
        "[hooks]\nx = 1",
        "[[hooks.PreToolUse]]\nmatcher = \"x\" # y\n",
        "[[hooks.PreToolUse]]\n[[hooks.PreToolUse.hooks]]\ncommand = \"other\"\n\n# end\n",
        "[hooks.state.\"f:pre_tool_use:0:0\"]\ntrusted_hash = \"x\"\n",
        "x = '''\n[[hooks.PreToolUse]]\n'''\n",
        "   ",
    ] {
        check(&TOML, text);
    }
}

#[test]
fn what_stands_behind_toml_of_ours_stays() {
    for (before, after) in [
        ("a = 1\n", "\n[z]\nb = 2\n"),
        ("", "# x\n"),
        ("a = 1\n", "\n# x\n\n[z]"),
    ] {
        let with = TOML.add(Some(before), &ours()).unwrap();
        let grown = format!("{with}{after}");
        assert_eq!(
            TOML.remove(&grown, "claude").unwrap(),
            format!("{before}{after}")
        );
        let other = TOML.add(Some(&grown), &moved()).unwrap();
        assert_eq!(
            TOML.remove(&other, "claude").unwrap(),
            format!("{before}{after}")
        );
        assert!(other.ends_with(after), "{other}");
    }
}

#[test]
fn comments_beside_ours_stay_and_so_does_what_they_are_about() {
    let theirs = r#"{"command": "theirs"}"#;
    let ours = r#"{"command": "pillion hook claude"}"#;
    for (text, expected) in [
        (
            "{\"hooks\": {\"Stop\": [ // a\n  O, // b\n  T // c\n]}}",
            "{\"hooks\": {\"Stop\": [ // a\n  // b\n  T // c\n]}}",
        ),
        (
            "{\"hooks\": {\"Stop\": [\n  T, // a\n  // b\n  O // c\n]}}",
            "{\"hooks\": {\"Stop\": [\n  T // a\n  // b\n  // c\n]}}",
        ),
        (
            "{\"hooks\": {\"Stop\": [T, /* a */ O /* b */, T]}}",
            "{\"hooks\": {\"Stop\": [T, /* a */ /* b */ T]}}",
        ),
        (
            "{\"hooks\": {\"Stop\": [T, O]}}",
            "{\"hooks\": {\"Stop\": [T]}}",
        ),
        (
            "{\"hooks\": {\"Stop\": [O, T]}}",
            "{\"hooks\": {\"Stop\": [T]}}",
        ),
        (
            "{\"hooks\": {\"Stop\": [O /* a */]}, \"b\": 1}",
            "{\"hooks\": {\"Stop\": [/* a */]}, \"b\": 1}",
        ),
        (
            "{\n  // a\n  \"hooks\": {\"Stop\": [O]}, // b\n  \"c\": 1\n}",
            "{\n  // a\n  // b\n  \"c\": 1\n}",
        ),
        (
            "{\r\n\t\"b\": 1,\r\n\t\"hooks\": {\r\n\t\t\"Stop\": [O]\r\n\t}\r\n}\r\n",
            "{\r\n\t\"b\": 1\r\n}\r\n",
        ),
    ] {
        let filled = |text: &str| text.replace('O', ours).replace('T', theirs);
        let without = JSON.remove(&filled(text), "claude").unwrap();
        assert_eq!(without, filled(expected));
    }
}

/// The list of a table may stand anywhere behind it.
#[test]
fn toml_tables_of_others_between_ours_stay() {
    let text = "[[hooks.Stop]]\nmatcher = \"x\"\n[z]\nb = 2\n[[hooks.Stop.hooks]]\ncommand = \"pillion hook claude\"\n";
    let refused = TOML.remove(text, "claude").unwrap_err();
    assert!(
        refused
            .why
            .contains("`hooks.Stop` is not written as a table (line 1, column 1)"),
        "{}",
        refused.why
    );
    let theirs =
        "[[hooks.Stop]]\nmatcher = \"x\"\n[[hooks.Stop.hooks]]\ncommand = \"theirs\" # mine\n";
    let ours = "[[hooks.Stop.hooks]]\ncommand = \"pillion hook claude\"\n";
    let without = TOML.remove(&format!("{theirs}\n{ours}[z]\n"), "claude");
    assert_eq!(without.as_deref(), Ok(&*format!("{theirs}[z]\n")));
}

#[test]
fn what_others_add_later_stays() {
    let with = JSON.add(None, &ours()).unwrap();
    let theirs = r#"{"matcher": "x", "hooks": [{"type": "command", "command": "theirs"}]}"#;
    let first = with.replacen(
        "\"PreToolUse\": [",
        &format!("\"PreToolUse\": [{theirs}, "),
        1,
    );
    let last = with.replacen(
        "      }\n    ]",
        &format!("      }}, // x\n {theirs}\n    ]"),
        1,
    );
    let merged = with.replacen(
        "\"hooks\": [",
        "\"hooks\": [{\"type\": \"command\", \"command\": \"theirs\"}, ",
        1,
    );
    for text in [first, last, merged] {
        assert_ne!(text, with);
        let without = JSON.remove(&text, "claude").unwrap();
        assert!(JSON.ours(&without).is_empty(), "{without}");
        let left = hooks(&JSON.values(&without));
        assert!(
            matches!(&left[..], [hook] if hook.command == "theirs"),
            "{without}"
        );
        let again = JSON.add(Some(&text), &moved()).unwrap();
        let found = JSON.ours(&again);
        assert_eq!(found.len(), 2, "{again}");
        assert!(found.iter().all(|(_, own)| *own == moved()), "{again}");
        assert_eq!(hooks(&JSON.values(&again)).len(), 3, "{again}");
    }
}

#[test]
fn what_cannot_be_read_is_refused_with_its_place() {
    for (settings, text, why) in [
        (&JSON, "[]", "it is not a JSON object (line 1, column 1)"),
        (
            &JSON,
            "{\n  \"a\": 1,\n}",
            "trailing commas are not allowed at line 2, column 9",
        ),
        (&JSON, "{\n  \"a\": 1\n  \"b\": 2}", "at line 2, column 9"),
        (&JSON, "{'a': 1}", "at line 1, column 2"),
        (
            &JSON,
            "{ // \"\n/* x\n*/ \"a\": \"b\nc\"}",
            "it is not valid JSON: control character (\\u0000-\\u001F) found while parsing a string at line 4",
        ),
        (&JSON, "{\"a\": 1", "unterminated object at line 1"),
        (
            &PLAIN,
            "{\n  \"a\": 1, // x\n  \"b\": 2\n}",
            "it has a comment (line 2, column 11), and Claude Code skips a file with comments",
        ),
        (&PLAIN, "\u{feff}/* x */", "comment (line 1, column 1)"),
        (
            &PLAIN,
            "{\"a\": [1 /* x */]}",
            "comment (line 1, column 10)",
        ),
        (&PLAIN, "{\"a\": 1,}", "trailing commas are not allowed"),
        (&PLAIN, "{\"a\": \"b\nc\"}", "control character"),
        (
            &JSON,
            "{\"hooks\": []}",
            "`hooks` is not an object (line 1, column 11)",
        ),
        (
            &JSON,
            "{\"hooks\": null}",
            "`hooks` is not an object (line 1, column 11)",
        ),
        (
            &JSON,
            "{\n\"hooks\": {\"PreToolUse\": {}}}",
            "`hooks.PreToolUse` is not a list (line 2, column 25)",
        ),
        (
            &JSON,
            "{\"hooks\": {},\n\"hooks\": {}}",
            "`hooks` is there twice (line 2, column 1)",
        ),
        (
            &JSON,
            "{\"hooks\": {\"PreToolUse\": [], \"PreToolUse\": []}}",
            "`PreToolUse` is there twice (line 1, column 30)",
        ),
        (
            &TOML,
            "a = 1\na = 2\n",
            "duplicate key `a` in document root at line 2, column 1",
        ),
        (&TOML, "a = [1\n", "it is not valid TOML"),
        (
            &TOML,
            "a = 1\nhooks = 1\n",
            "`hooks` is not written as a table (line 2, column 9)",
        ),
        (
            &TOML,
            "hooks = {}\n",
            "`hooks` is not written as a table (line 1, column 9)",
        ),
        (
            &TOML,
            "[hooks]\nPreToolUse = []\n",
            "`hooks.PreToolUse` is not written as a table",
        ),
        (
            &TOML,
            "[hooks.PreToolUse]\n",
            "`hooks.PreToolUse` is not written as a table",
        ),
    ] {
        let refused = settings.add(Some(text), &ours()).expect_err(text);
        assert!(
            refused.why.contains(why),
            "{} does not say {why}",
            refused.why
        );
    }
    let deep = "[".repeat(100_000);
    assert!(JSON.add(Some(&deep), &ours()).is_err());
}

#[test]
fn trust_is_read_from_where_codex_writes_it() {
    let path = Path::new("/h/.codex/config.toml");
    let with = TOML.add(Some(""), &ours()).unwrap();
    let state = |more: &str| {
        let values = TOML.values(&format!("{with}{more}"));
        let hook = hooks(&values)
            .into_iter()
            .find(|hook| hook.event == "PreToolUse");
        state_of(Dialect::CodexCli, &values, path, &hook.unwrap())
    };
    let table = "\n[hooks.state.\"/h/.codex/config.toml:pre_tool_use:0:0\"]\n";
    for (more, expected) in [
        ("", State::Untrusted),
        ("trusted_hash = \"sha256:0\"\n", State::Active),
        (
            "trusted_hash = \"sha256:0\"\nenabled = true\n",
            State::Active,
        ),
        (
            "trusted_hash = \"sha256:0\"\nenabled = false\n",
            State::Disabled,
        ),
        ("enabled = true\n", State::Untrusted),
    ] {
        assert_eq!(state(&format!("{table}{more}")), expected, "{more}");
    }
    let elsewhere = table.replace(":0:0", ":1:0") + "trusted_hash = \"sha256:0\"\n";
    assert_eq!(state(&elsewhere), State::Untrusted);
    let values = JSON.values(&JSON.add(None, &ours()).unwrap());
    let hook = &hooks(&values)[0];
    assert_eq!(
        state_of(
            Dialect::ClaudeCode,
            &values,
            Path::new("/h/settings.json"),
            hook
        ),
        State::Active
    );
}

#[test]
fn a_command_line_is_ours_by_its_program_and_its_first_two_words() {
    for (text, is_ours) in [
        ("pillion hook claude", true),
        ("'/a b/pillion' hook claude --strict --limit 5m", true),
        ("/a/pillion.exe hook claude", true),
        ("/a/pillion hook codex", false),
        ("/a/pillions hook claude", false),
        ("other hook claude", false),
        ("pillion run claude", false),
        ("sh -c 'pillion hook claude'", false),
        ("'", false),
        ("", false),
    ] {
        let parsed = CommandLine::parse(text, "claude");
        assert_eq!(parsed.is_some(), is_ours, "{text}");
    }
    let odd = CommandLine {
        program: "/a'b \"c\"/$(x)/pillion".to_owned(),
        ..moved()
    };
    assert_eq!(CommandLine::parse(&odd.to_string(), "claude"), Some(odd));
}

/// White space and comments, as they may stand between any two tokens.
fn gap() -> impl Strategy<Value = String> {
    let piece = prop::sample::select(vec![
        " ",
        "\n",
        "\t",
        "\r\n",
        "  ",
        "/* , x */",
        "// , }\n",
        "// y\r\n",
        "/*\n*/",
    ]);
    prop::collection::vec(piece, 0..3).prop_map(|pieces| pieces.concat())
}

fn list(open: char, items: Vec<(String, String, String)>, end: String, close: char) -> String {
    let items = items
        .into_iter()
        .map(|(before, item, after)| format!("{before}{item}{after}"));
    let items = items.collect::<Vec<_>>();
    let end = if items.is_empty() { end } else { String::new() };
    format!("{open}{}{end}{close}", items.join(","))
}

/// A list of an event, a map of events, or any value.
fn group() -> impl Strategy<Value = String> {
    prop::sample::select(vec![
        "{}",
        "1",
        "null",
        r#"{"matcher": "x", "hooks": [{"command": "y"}]}"#,
        r#"{"hooks": []}"#,
        "[{}]",
        r#""pillion hook claude""#,
    ])
    .prop_map(str::to_owned)
}

fn document() -> impl Strategy<Value = String> {
    let item = (gap(), group(), gap());
    let event = (prop::collection::vec(item, 0..3), gap())
        .prop_map(|(items, end)| list('[', items, end, ']'));
    let names = prop::sample::subsequence(
        vec!["PreToolUse", "preToolUse", "PermissionRequest", "Stop"],
        0..4,
    )
    .prop_shuffle();
    let property = (gap(), gap(), event, gap());
    let events =
        (names, prop::collection::vec(property, 4), gap()).prop_map(|(names, values, end)| {
            let items = names.into_iter().zip(values);
            let items = items.map(|(name, (before, colon, value, after))| {
                (before, format!("\"{name}\"{colon}:{value}"), after)
            });
            list('{', items.collect(), end, '}')
        });
    let value = prop_oneof![2 => events.prop_map(|events| ("hooks".to_owned(), events)), 3 => (prop::sample::select(vec!["a", "b", "c"]), group()).prop_map(|(name, value)| (name.to_owned(), value))];
    let property = (gap(), value, gap())
        .prop_map(|(before, (name, value), after)| (before, name, value, after));
    (gap(), prop::collection::vec(property, 0..4), gap(), gap()).prop_map(
        |(start, properties, end, last)| {
            let mut seen = Vec::new();
            let mut items = Vec::new();
            for (before, name, value, after) in properties {
                if !seen.contains(&name) {
                    items.push((before, format!("\"{name}\": {value}"), after));
                    seen.push(name);
                }
            }
            format!("{start}{}{last}", list('{', items, end, '}'))
        },
    )
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]
    #[test]
    fn any_json_keeps_what_is_not_ours(text in document()) {
        check(&JSON, &text);
        check(&FLAT, &text);
    }

    #[test]
    fn any_toml_keeps_what_is_not_ours(lines in prop::collection::vec(prop::sample::select(vec![
        "", "# x", "[[hooks.PreToolUse]]", "[[hooks.PermissionRequest]]\nmatcher = 'x'", "[[hooks.PreToolUse]]\n[[hooks.PreToolUse.hooks]]\ncommand = 'x' # y", "[[z]]\nb = 2", "[[z]] # q", "  ",
    ]), 0..8), ending in prop::sample::select(vec!["\n", "\r\n"]), is_ended in any::<bool>(), is_marked in any::<bool>()) {
        let mut text = lines.join("\n").replace('\n', ending);
        if is_ended { text.push_str(ending); }
        if is_marked { text.insert(0, '\u{feff}'); }
        check(&TOML, &text);
    }

    #[test]
    fn no_text_is_a_panic(text in "\\PC{0,40}|[\\[\\]{}\",:/*hooks\\s]{0,40}") {
        for settings in [&JSON, &PLAIN, &FLAT, &TOML] {
            if let Ok(with) = settings.add(Some(&text), &ours()) {
                let without = settings.remove(&with, "claude").unwrap();
                prop_assert_eq!(settings.content(&without), settings.content(&text));
            }
            let _ = settings.remove(&text, "claude");
        }
    }
}
