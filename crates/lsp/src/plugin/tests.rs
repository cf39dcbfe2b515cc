//! Holds `docs/editor-protocol.md` and the code together: every method, field, type and word of
//! the page's tables is one of the code's, and the other way round.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;
use std::sync::Arc;

use lsp_server::Message;
use pillion_protocol::{Dialect, FileDiagnostics, Note, Verdict};
use pillion_text::hunks::Hunk;
use pillion_view::ask::Mention;
use pillion_view::changes::{ActDone, BufferEdit, BufferText, ChangesList, Meant, Part, Row};
use pillion_view::{
    Chosen, CloseReason, Diff, DiffId, EditorEvent, EndedTurn, Original, ProposalKey, Refusal,
    Reply, Ruling, Seen, SetPlace, Tell, Told,
};
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::{Map, Value, json};

use super::messages::*;
use crate::handshake::{self, InitializeParams};
use crate::message;
use crate::plugin::{Plugin, codec, find_hunks, messages, restore_text};
use crate::position::Encoding;
use crate::profile::{Action, ClientProfile, Published};
use crate::roots::DidChangeWorkspaceFolders;

const PAGE: &str = include_str!("../../../../docs/editor-protocol.md");

/// One row of a table of fields.
#[derive(Debug, Clone)]
struct Field {
    name: String,
    /// Without the mark of what may be missing.
    kind: String,
    is_optional: bool,
    meaning: String,
}

type Tables = BTreeMap<String, Vec<Field>>;

/// The tables of fields, by their heading and by what stands above them.
fn tables() -> Tables {
    let mut tables = Tables::new();
    let (mut heading, mut label, mut is_fields) = (String::new(), String::new(), false);
    for line in PAGE.lines() {
        let cells: Vec<&str> = line.trim_matches('|').split('|').map(str::trim).collect();
        if let Some(title) = line.strip_prefix("##") {
            heading = title.trim_matches(['#', ' ']).to_owned();
            label.clear();
        } else if line.ends_with(':') && !line.contains(' ') || line == "The answer:" {
            label = format!(": {}", line.trim_end_matches(':'));
        } else if line.starts_with("| field |") {
            is_fields = true;
        } else if !line.starts_with('|') {
            is_fields = false;
        } else if is_fields && !line.starts_with("| --- |") {
            let rows = tables.entry(format!("{heading}{label}")).or_default();
            rows.push(Field {
                name: cells[0].trim_matches('`').to_owned(),
                kind: cells[1].trim_end_matches('?').to_owned(),
                is_optional: cells[1].ends_with('?'),
                meaning: cells[2].to_owned(),
            });
        }
    }
    tables
}

/// A value of the type that a table names.
fn sample(field: &Field, tables: &Tables) -> Value {
    let list_of = |table: &str| json!([object(&tables[table], tables)]);
    match field.kind.as_str() {
        _ if field.name == "uri" => json!("file:///a"),
        "integer" => json!(7),
        "boolean" => json!(true),
        "string" | "string or `null`" | "string or integer" => json!("text"),
        "string[]" => json!(["text"]),
        "object of strings" => json!({"name": "text"}),
        "`accepted` or `rejected`" => json!("accepted"),
        "`accept` or `reject`" => json!("accept"),
        "integer[]" => json!([7]),
        "Note[]" => list_of("`pillion/decide` (request): Note"),
        "Seen" => object(&tables["`pillion/decide` (request): Seen"], tables),
        "Startable[]" => list_of("`pillion/environment` (notification): Startable"),
        "Hunk[]" => list_of("`pillion/openDiff` (request): Hunk"),
        "Set" => object(&tables["`pillion/openDiff` (request): Set"], tables),
        "Row" => object(&tables["`pillion/keep` (request): Row"], tables),
        "Review" => {
            let table = "`pillion/didChangeStatus` (notification): Review";
            object(&tables[table], tables)
        }
        "ChangedTurn[]" | "ChangedFile[]" | "ChangedLines[]" => {
            let name = field.kind.trim_end_matches("[]");
            list_of(&format!("`pillion/changes` (request): {name}"))
        }
        "Buffer[]" | "Edit[]" => {
            let name = field.kind.trim_end_matches("[]");
            list_of(&format!("`pillion/takeBack` (request): {name}"))
        }
        "`{start, end}`" => json!({"start": 1, "end": 2}),
        "`{line, start, end}[]`" => json!([{"line": 0, "start": 1, "end": 2}]),
        "`true` or `{version?, diffs?, workspace?}`" => json!({"version": "text"}),
        "Workspace" => {
            let table = "`pillion/didChangeWorkspace` (notification)";
            object(&tables[table], tables)
        }
        "OpenFile[]" | "Range" => {
            let name = field.kind.trim_end_matches("[]");
            let table = format!("`pillion/didChangeContext` (notification): {name}");
            one_or_list(field, object(&tables[&table], tables))
        }
        "FileDiagnostics[]" | "Diagnostic[]" => {
            let name = field.kind.trim_end_matches("[]");
            let table = format!("`pillion/diagnostics` (request): {name}");
            one_or_list(field, object(&tables[&table], tables))
        }
        "`{first, last}`" => json!({"first": 1, "last": 2}),
        "`{line, character}`" => json!({"line": 1, "character": 2}),
        "`{added, removed}`" => json!({"added": [{"uri": "a"}], "removed": [{"uri": "b"}]}),
        "`{supported, changeNotifications}`" => {
            json!({"supported": true, "changeNotifications": true})
        }
        other => {
            let other = other.trim_end_matches(" or `null`");
            let names = other.trim_end_matches("[]").trim_matches('`');
            let names = names.trim_end_matches("[]").strip_prefix('{');
            let names = names.and_then(|names| names.strip_suffix('}'));
            let names = names.unwrap_or_else(|| panic!("what is a {other}?"));
            let names = names.split(", ").map(|name| name.trim_end_matches('?'));
            let object: Map<_, _> = names.map(|name| (name.to_owned(), json!("text"))).collect();
            if other.contains("[]") {
                json!([object])
            } else {
                object.into()
            }
        }
    }
}

fn one_or_list(field: &Field, value: Value) -> Value {
    match field.kind.ends_with("[]") {
        true => json!([value]),
        false => value,
    }
}

/// A message with every field of a table.
fn object(fields: &[Field], tables: &Tables) -> Value {
    let mut object = json!({});
    for field in fields {
        *place(&mut object, &field.name) = sample(field, tables);
    }
    object
}

/// Returns the place of `a.b` in a message; made if it is not there.
fn place<'a>(object: &'a mut Value, name: &str) -> &'a mut Value {
    name.split('.')
        .fold(object, |object, part| &mut object[part])
}

fn without(mut object: Value, name: &str) -> Value {
    let (parent, last) = name.rsplit_once('.').unwrap_or(("", name));
    let parent = if parent.is_empty() {
        &mut object
    } else {
        place(&mut object, parent)
    };
    parent.as_object_mut().unwrap().remove(last);
    object
}

/// A message of the plugin: the code reads every field of the page and no other, and what may be
/// missing is what the page specifies.
#[track_caller]
fn check_read<T: DeserializeOwned + Serialize>(fields: &[Field], tables: &Tables) {
    let read = |value| message::params::<T>(value).map(|it| json!(it));
    check(fields, tables, read);
}

/// The same of a type that is not only a plugin's.
#[track_caller]
fn check_shared<T: DeserializeOwned + Serialize>(fields: &[Field], tables: &Tables) {
    check(fields, tables, |value| {
        let mut read = codec::written(codec::read::<T>(value)?);
        remove_unread(&mut read);
        Ok(read)
    });
}

/// Removes what no plugin says.
fn remove_unread(value: &mut Value) {
    match value {
        Value::Array(items) => items.iter_mut().for_each(remove_unread),
        Value::Object(fields) => {
            fields.remove("path").or_else(|| fields.remove("against"));
            fields.values_mut().for_each(remove_unread);
        }
        _ => {}
    }
}

#[track_caller]
fn check_told(name: &str, fields: &[Field], tables: &Tables) {
    check(fields, tables, |value| {
        let mut read = codec::written(codec::read::<Tell>(json!({ name: value }))?);
        remove_unread(&mut read);
        Ok(read[name].take())
    });
}

#[track_caller]
fn check(fields: &[Field], tables: &Tables, read: impl Fn(Value) -> Result<Value, String>) {
    let full = object(fields, tables);
    assert_eq!(read(full.clone()).unwrap(), full);
    for Field {
        name, is_optional, ..
    } in fields
    {
        let read_without = read(without(full.clone(), name));
        let is_read = read_without.is_ok();
        assert_eq!(is_read, *is_optional, "{name}: {read_without:?}");
        let mut null = full.clone();
        *place(&mut null, name) = Value::Null;
        assert_eq!(read(null).is_ok(), *is_optional, "{name} as null");
    }
}

/// A message of Pillion: the same fields of the same types.
#[track_caller]
fn check_written(written: impl Serialize, fields: &[Field], tables: &Tables) {
    let written = serde_json::to_value(written).unwrap();
    assert_eq!(shape(&written), shape(&object(fields, tables)));
}

/// The names and types in a value.
fn shape(value: &Value) -> Value {
    match value {
        Value::Object(fields) => {
            let fields = fields
                .iter()
                .map(|(name, value)| (name.clone(), shape(value)));
            Value::Object(fields.collect())
        }
        Value::Array(items) => items.iter().take(1).map(shape).collect(),
        Value::String(_) => "string".into(),
        Value::Number(_) => "number".into(),
        Value::Bool(_) => "boolean".into(),
        Value::Null => Value::Null,
    }
}

#[test]
fn every_table_is_a_message_and_every_message_a_table() {
    let tables = tables();
    for (heading, fields) in &tables {
        let fields = fields.as_slice();
        match heading.as_str() {
            "`initialize` (request of the plugin)" => {
                check_read::<InitializeParams>(fields, &tables);
            }
            "`initialize` (request of the plugin): The answer" => {
                let profile: Box<dyn ClientProfile> = Box::new(Plugin::new(Encoding::Utf8, None));
                check_written(handshake::result(profile.as_ref()), fields, &tables);
            }
            "`pillion/watch` (notification)" => check_read::<Watch>(fields, &tables),
            "`pillion/didChangeFile` (notification)" => {
                let message = serde_json::to_value(changed_file("file:///a", Some(7))).unwrap();
                check_written(&message["params"], fields, &tables);
            }
            "`pillion/didSync` (notification)" => check_told("synced", fields, &tables),
            "`pillion/didChangeContext` (notification)" => {
                check_read::<DidChangeContext>(fields, &tables);
            }
            "`pillion/didChangeContext` (notification): OpenFile" => {
                check_read::<OpenFile>(fields, &tables);
            }
            "`pillion/didChangeContext` (notification): Range" => {
                check_read::<Range>(fields, &tables);
            }
            "`pillion/decide` (request)" => check_shared::<DecideSeen>(fields, &tables),
            "`pillion/decide` (request): Note" => check_shared::<Note>(fields, &tables),
            "`pillion/decide` (request): Seen" => check_shared::<Seen<Vec<usize>>>(fields, &tables),
            "`pillion/decide` (request): The answer" => {
                let mut answer = settled();
                for (name, value) in refused().as_object().unwrap() {
                    if answer[name].is_null() {
                        answer[name] = value.clone();
                    }
                }
                check_written(answer, fields, &tables);
            }
            "`pillion/hunks` (request)" => check_shared::<FindHunks>(fields, &tables),
            "`pillion/restore` (request)" => check_shared::<RestoreText>(fields, &tables),
            "`pillion/restore` (request): The answer" => {
                check_written(restored("", "", "a\n"), fields, &tables);
            }
            "`pillion/hunks` (request): The answer" => {
                let answer = worked_out(find_hunks(1.into(), json!({"content": "a\n"})));
                check_written(with_parts(answer), fields, &tables);
            }
            "`pillion/merge` (request)" => check_shared::<MergeTexts>(fields, &tables),
            "`pillion/merge` (request): The answer" => {
                let texts = json!({"proposed": "a\n", "content": "", "id": 1, "revision": 1});
                let answer = worked_out(shown().merge(1.into(), texts));
                check_written(with_parts(answer), fields, &tables);
            }
            "`pillion/openDiff` (request): Hunk" => {
                check_written(&open_diff()["hunks"][0], fields, &tables);
            }
            "`pillion/openDiff` (request): Set" => {
                check_written(&open_diff()["set"], fields, &tables);
            }
            "`pillion/mention` (request)" => check_shared::<Mention>(fields, &tables),
            "`pillion/mention` (request): The answer" => {
                let agent = json!({"agent": Agent::from(Dialect::GeminiCli)});
                check_written(agent, fields, &tables);
            }
            "`pillion/review` (request)" => check_shared::<Choose>(fields, &tables),
            "`pillion/review` (request): The answer" => {
                check_written(Chosen::refused(""), fields, &tables);
            }
            "`pillion/changes` (request): The answer" => {
                check_written(turns(), fields, &tables);
            }
            "`pillion/changes` (request): ChangedTurn" => {
                let turn = &turns()["turns"][0];
                check_written(turn, fields, &tables);
            }
            "`pillion/changes` (request): ChangedFile" => {
                let change = &turns()["turns"][0]["changes"][0];
                check_written(change, fields, &tables);
            }
            "`pillion/changes` (request): ChangedLines" => {
                let change = &turns()["turns"][0]["changes"][0];
                check_written(&change["hunks"][0], fields, &tables);
            }
            "`pillion/keep` (request)" => check_shared::<Meant>(fields, &tables),
            "`pillion/keep` (request): Row" => check_shared::<Row>(fields, &tables),
            "`pillion/takeBack` (request)" => check_shared::<Part>(fields, &tables),
            "`pillion/takeBack` (request): Buffer" => check_shared::<BufferText>(fields, &tables),
            "`pillion/undo` (request)" | "`pillion/look` (request)" => {
                check_shared::<Named>(fields, &tables);
            }
            "`pillion/keep` (request): The answer" | "`pillion/takeBack` (request): The answer" => {
                check_written(acted(), fields, &tables);
            }
            "`pillion/takeBack` (request): Edit" => {
                check_written(&acted()["edits"][0], fields, &tables);
            }
            "`pillion/didChangeStatus` (notification): Review" => {
                check_written(&status()["review"], fields, &tables);
            }
            "`pillion/diagnostics` (request)" => {
                let (sender, _) = crossbeam_channel::unbounded();
                let found = Reply::new(move |found| drop(sender.send(found)));
                let asked = EditorEvent::Diagnostics(Some(String::new()), found);
                check_written(asked_of_plugin(asked), fields, &tables);
            }
            "`pillion/diagnostics` (request): The answer" => {
                check_read::<Diagnostics>(fields, &tables);
            }
            "`pillion/diagnostics` (request): FileDiagnostics" => {
                check_read::<FileDiagnostics<Diagnostic>>(fields, &tables);
            }
            "`pillion/diagnostics` (request): Diagnostic" => {
                check_read::<Diagnostic>(fields, &tables);
            }
            "`pillion/didChangeWorkspace` (notification)" => {
                check_read::<DidChangeWorkspace>(fields, &tables);
            }
            "`workspace/didChangeWorkspaceFolders` (notification)" => {
                check_read::<DidChangeWorkspaceFolders>(fields, &tables);
            }
            "`pillion/openDiff` (request)" => check_written(open_diff(), fields, &tables),
            "`pillion/closeDiff` (request)" => {
                let closed = Reply::new(|_| ());
                let close = EditorEvent::Close(DiffId(1), CloseReason::AgentGone, closed);
                check_written(asked_of_plugin(close), fields, &tables);
            }
            "`pillion/closeDiff` (request): The answer" => check_read::<Content>(fields, &tables),
            "`pillion/didChangeDiff` (notification)" => check_told("draft", fields, &tables),
            "`pillion/didChangeNotes` (notification)" => check_told("notes", fields, &tables),
            "`pillion/offerText` (notification)" => {
                let offer = EditorEvent::Draft(key(), String::new());
                check_written(asked_of_plugin(offer), fields, &tables);
            }
            "`pillion/diffText` (request)" => {
                check_written(key(), fields, &tables);
            }
            "`pillion/diffText` (request): The answer" => check_read::<Content>(fields, &tables),
            "`pillion/didChangeStatus` (notification)" => check_written(status(), fields, &tables),
            "`pillion/environment` (notification)" => check_written(environment(), fields, &tables),
            "`pillion/environment` (notification): Startable" => {
                check_written(&environment()["agents"][0], fields, &tables);
            }
            "`window/showMessage` (notification)" => {
                let message = message::show(message::MessageType::Info, "text");
                let message = serde_json::to_value(message).unwrap();
                check_written(&message["params"], fields, &tables);
            }
            other => panic!("the code knows no message {other}"),
        }
    }
    assert_eq!(tables.len(), 56, "every table was found");
}

/// The answer about a text as an editor shows it.
fn restored(proposed: &str, shown: &str, content: &str) -> Value {
    let texts = json!({"proposed": proposed, "shown": shown, "content": content});
    worked_out(restore_text(1.into(), texts))
}

#[test]
fn a_text_gets_back_what_an_editor_hides_of_the_proposal() {
    let (proposed, shown) = ("\u{feff}a\r\nb\nc", "a\nb\nc");
    let of = |content| restored(proposed, shown, content)["content"].clone();
    assert_eq!(of(shown), proposed);
    assert_eq!(of("a\nB\nc\nd"), "\u{feff}a\r\nB\nc\nd");
}

/// A proposal as views get it.
fn diff() -> Diff {
    Diff {
        id: DiffId(1),
        revision: 1,
        proposer: Dialect::GeminiCli.into(),
        number: 1,
        path: "/a".into(),
        original: Original {
            text: Some(Vec::new()),
            stamp: None,
        },
        proposed: Arc::default(),
        notes: vec![String::new()],
        hunks: vec![Hunk::new(0..1, 0..2)],
        set: Some(SetPlace {
            id: 7,
            place: 2,
            of: 3,
        }),
        deletes: true,
        original_is_other: false,
        written: Some("7.2".to_owned()),
        is_unclear: true,
        is_of_subagent: false,
        runner: None,
        mode: None,
    }
}

fn open_diff() -> Value {
    let words = "these words are the same in both lines";
    let mut diff = diff();
    diff.original.text = Some(format!("one, {words}, one\n").into());
    diff.proposed = Arc::new(format!("one, {words}, größer\nnew, {words}\n"));
    messages::open_diff(diff)
}

/// The hunks of an answer as those of a proposal: only these have parts.
fn with_parts(mut answer: Value) -> Value {
    assert_eq!(answer["hunks"][0]["parts"], Value::Null);
    answer["hunks"][0]["parts"] = open_diff()["hunks"][0]["parts"].clone();
    answer
}

/// Of other lines, all is to be seen.
#[test]
fn the_parts_of_a_line_that_differ_are_told_in_characters() {
    let parts = |original: &[u8], proposed: &str| {
        let mut diff = diff();
        diff.original.text = Some(original.into());
        diff.proposed = Arc::new(proposed.to_owned());
        messages::open_diff(diff)["hunks"][0]["parts"].clone()
    };
    let line = "größer and größer than the window is";
    let (one, other) = (
        format!("{line} one, two\n"),
        format!("{line} eins, zwei\r\n"),
    );
    let told = json!([{"line": 0, "start": 37, "end": 41}, {"line": 0, "start": 43, "end": 47}]);
    assert_eq!(parts(one.as_bytes(), &format!("{other}{line}\n")), told);
    // It is short, has a BOM, or is not there before; or what is there is no text.
    for (before, after) in [
        ("a one\n", "a two\n"),
        (&*one, &*format!("\u{feff}{other}")),
        ("", &*other),
    ] {
        assert_eq!(parts(before.as_bytes(), after), Value::Null, "{after}");
    }
    let no_text = [b"\xff", one.as_bytes()].concat();
    assert_eq!(parts(&no_text, &other), Value::Null);
}

/// The parameters of the message that the plugin gets, which shows a proposal.
fn asked_of_plugin(event: EditorEvent) -> Value {
    match shown().event(event).remove(0) {
        Action::Send(Message::Request(request)) => request.params,
        Action::Send(Message::Notification(it)) => it.params,
        other => panic!("{other:?}"),
    }
}

fn key() -> ProposalKey {
    let (id, revision) = (DiffId(1), 1);
    ProposalKey { id, revision }
}

/// With a proposal that it has shown.
fn shown() -> Plugin {
    let mut plugin = Plugin::new(Encoding::Utf8, None);
    plugin.event(EditorEvent::Open(diff(), Reply::new(|_| ())));
    plugin
}

fn worked_out(action: Action) -> Value {
    match action {
        Action::WorkOut { answer, .. } => (answer.0)().unwrap(),
        other => panic!("{other:?}"),
    }
}

fn refused() -> Value {
    let mut refusal = Refusal::new("tooSoon", "");
    refusal.repeat = true;
    decided(Ruling::Refused(refusal), None)
}

fn settled() -> Value {
    let told = Told {
        message: String::new(),
        clipboard: Some(String::new()),
    };
    decided(Ruling::Settled(Some(told)), Some(DiffId(2)))
}

fn status() -> Value {
    let agents = vec![Dialect::ClaudeCode];
    let warnings = vec![String::new()];
    let review = pillion_view::Review {
        mode: None,
        label: String::new(),
        unasked: Some(String::new()),
    };
    let status = pillion_view::Status {
        agents,
        asking: warnings.clone(),
        warnings,
        review: Some(review),
        decided: Some(pillion_view::Phrase {
            text: String::new(),
            is_written: false,
        }),
        waiting: vec![String::new()],
        left_alone: Vec::new(),
        ..pillion_view::Status::default()
    };
    messages::status(&status, 1)
}

fn turns() -> Value {
    let changed = json!({
        "id": "7.2", "revision": "r", "path": "/a", "shown": "a", "label": "l", "state": "unseen", "isUnseen": true,
        "mode": "m", "added": 1, "removed": 1, "hunks": [{"lines": {"start": 1, "end": 2}, "removed": 1, "before": ["b"], "label": "l"}],
    });
    let turn = json!({
        "id": "7", "agent": "claude", "prompt": "p", "began": 1, "ended": 2, "title": "t", "revision": "r",
        "changes": [changed],
    });
    let list = json!({"turns": [turn], "leftOut": 0, "problem": "none"});
    codec::written(serde_json::from_value::<ChangesList>(list).unwrap())
}

fn acted() -> Value {
    let edit = BufferEdit {
        path: "/a".into(),
        id: "7.2".to_owned(),
        content: String::new(),
    };
    codec::written(ActDone {
        edits: vec![edit],
        ..ActDone::default()
    })
}

fn environment() -> Value {
    let mut environment = messages::environment(&Published {
        port: 1,
        discovery_files: vec!["/d".into()],
        roots: vec!["/a".into()],
        start: Some("/a".into()),
    });
    let mut variables = environment["variables"].as_object().unwrap().values();
    let value = variables.find(|it| it.is_string()).unwrap().clone();
    environment["variables"] = json!({ "name": value });
    environment
}

#[test]
fn a_turn_that_ends_with_files_to_look_at_is_said_once() {
    let mut plugin = Plugin::new(Encoding::Utf16, None);
    let mut said = |turn: Option<u64>| {
        let ended = turn.map(|turn| EndedTurn {
            turn,
            text: format!("turn {turn}"),
        });
        let status = pillion_view::Status {
            ended,
            ..pillion_view::Status::default()
        };
        let actions = plugin.event(EditorEvent::Status(status));
        let shown = actions.into_iter().filter_map(|action| match action {
            Action::Send(Message::Notification(it)) if it.method == "window/showMessage" => {
                Some(it.params["message"].as_str().unwrap().to_owned())
            }
            _ => None,
        });
        shown.collect::<Vec<_>>()
    };
    assert_eq!(said(Some(1)), [] as [&str; 0], "it ended before");
    assert_eq!(said(Some(2)), ["turn 2"]);
    assert_eq!(said(Some(2)), [] as [&str; 0]);
}

/// The words between backticks.
fn words(text: &str) -> BTreeSet<String> {
    text.split('`')
        .skip(1)
        .step_by(2)
        .map(str::to_owned)
        .collect()
}

fn field(table: &str, name: &str) -> Field {
    let tables = tables();
    let fields = tables[table].iter();
    fields
        .clone()
        .find(|field| field.name == name)
        .unwrap()
        .clone()
}

fn wire(values: impl IntoIterator<Item = impl Serialize>) -> BTreeSet<String> {
    let text = |value| json!(value).as_str().unwrap().to_owned();
    values.into_iter().map(text).collect()
}

/// The messages of the sample, and whether each is the plugin's.
fn sample_messages() -> Vec<(bool, Value)> {
    let (_, section) = PAGE.split_once("### A sample").unwrap();
    let block = section.split("```").nth(1).unwrap();
    let mut messages: Vec<(bool, String)> = Vec::new();
    for line in block.trim().lines() {
        match line.strip_prefix('→').or(line.strip_prefix('←')) {
            Some(begins) => messages.push((line.starts_with('→'), begins.to_owned())),
            None => messages.last_mut().unwrap().1.push_str(line),
        }
    }
    let parsed = messages.into_iter();
    let parsed = parsed.map(|(plugins, text)| (plugins, serde_json::from_str(&text).unwrap()));
    parsed.collect()
}

#[test]
fn the_sample_is_made_of_what_the_tables_say() {
    let tables = tables();
    let mut seen = 0;
    for (is_plugins, message) in sample_messages() {
        let Some(method) = message["method"].as_str() else {
            continue;
        };
        let params = message["params"].as_object().unwrap();
        let found = |title: &&String| title.contains(&format!("`{method}`"));
        if let Some(table) = tables.keys().find(found) {
            for (name, _) in params {
                let is_field = |field: &Field| field.name.split('.').next() == Some(name);
                assert!(tables[table].iter().any(is_field), "{method}: {name}");
            }
            seen += 1;
        }
        if is_plugins && method == "pillion/didChangeContext" {
            serde_json::from_value::<DidChangeContext>(message["params"].clone()).unwrap();
        }
        if is_plugins && method == "pillion/decide" {
            codec::read::<DecideSeen>(message["params"].clone()).unwrap();
        }
        if method == "initialize" {
            let params: InitializeParams = message::params(message["params"].clone()).unwrap();
            let is_plugin = matches!(
                params.profile_kind(),
                Ok(handshake::ProfileKind::Plugin { .. })
            );
            assert!(is_plugin, "{message}");
        }
    }
    assert_eq!(seen, 6, "every kind of message but `initialized`");
}

#[test]
fn every_reason_and_every_outcome_is_on_the_page() {
    let on_page = words(&field("`pillion/closeDiff` (request)", "reason").meaning);
    let reasons = [
        CloseReason::ClosedByAgent,
        CloseReason::AgentGone,
        CloseReason::Settled,
        CloseReason::Overruled,
        CloseReason::AcceptedElsewhere,
        CloseReason::RejectedElsewhere,
        CloseReason::NotShown,
    ];
    let others = ["pillion/openDiff".to_owned()].into();
    assert_eq!(&on_page - &others, wire(reasons));
    let on_page = words(&field("`pillion/decide` (request)", "decision").kind);
    let decisions =
        [Verdict::accept(None), Verdict::reject()].map(|it| json!(it)["decision"].clone());
    assert_eq!(on_page, wire(decisions));
}

#[test]
fn every_method_and_every_error_is_on_the_page() {
    let headings: BTreeSet<String> = PAGE
        .lines()
        .filter(|line| line.starts_with("### "))
        .flat_map(words)
        .collect();
    let mut methods = BTreeSet::new();
    let mut errors = BTreeSet::new();
    for source in sources(&Path::new(env!("CARGO_MANIFEST_DIR")).join("src")) {
        let code = source.split("mod tests {").next().unwrap_or_default();
        let strings = code.split('"').skip(1).step_by(2);
        let is_method = |text: &&str| {
            ["pillion/", "window/", "workspace/"]
                .iter()
                .any(|start| text.starts_with(start))
        };
        methods.extend(strings.filter(is_method).map(str::to_owned));
        let names = code.split("ErrorCode::").skip(1);
        let name = |rest: &str| {
            rest.split(|letter: char| !letter.is_alphanumeric())
                .next()
                .unwrap()
                .to_owned()
        };
        errors.extend(names.map(name));
    }
    methods.insert("initialize".to_owned());
    assert_eq!(methods, headings);

    let table = PAGE.split("| code | when |").nth(1).unwrap();
    let codes = table.lines().filter_map(|line| line.strip_prefix("| -3"));
    let on_page: BTreeSet<String> = codes.map(|row| format!("-3{}", &row[..4])).collect();
    let code = |name: &String| match name.as_str() {
        "ServerNotInitialized" => "-32002".to_owned(),
        "InvalidRequest" => "-32600".to_owned(),
        "MethodNotFound" => "-32601".to_owned(),
        "InvalidParams" => "-32602".to_owned(),
        "InternalError" => "-32603".to_owned(),
        "RequestFailed" => "-32803".to_owned(),
        other => panic!("{other} is not on the page"),
    };
    assert_eq!(errors.iter().map(code).collect::<BTreeSet<_>>(), on_page);
}

/// The sources below a folder that do not belong to the plain profile or to this test.
fn sources(folder: &Path) -> Vec<String> {
    let mut found = Vec::new();
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        let name = path.file_stem().unwrap().to_str().unwrap();
        if name == "plain" || name == "page" {
            continue;
        }
        if path.is_dir() {
            found.extend(sources(&path));
        } else {
            found.push(fs::read_to_string(&path).unwrap());
        }
    }
    found
}

#[test]
fn two_changes_of_one_text_are_merged() {
    let mut plugin = shown();
    let mut ask = |mut params: Value| {
        params["id"] = 1.into();
        params["revision"] = 1.into();
        let (id, method) = (1.into(), MERGE.to_owned());
        match plugin
            .request(lsp_server::Request { id, method, params })
            .pop()
        {
            Some(Action::WorkOut { answer, .. }) => (answer.0)(),
            Some(Action::Send(Message::Response(response))) => {
                Err(response.response_result.unwrap_err().message)
            }
            other => panic!("{other:?}"),
        }
    };
    let merged =
        ask(json!({ "original": "a\nb\nc\n", "proposed": "a\nb\nC\n", "content": "A\nb\nc\n" }));
    let hunks = json!([{ "before": { "start": 2, "end": 3 }, "after": { "start": 2, "end": 3 } }]);
    let expected = json!({ "content": "A\nb\nC\n", "hunks": hunks, "conflicts": 0 });
    assert_eq!(merged, Ok(expected));

    let endings = ask(
        json!({ "original": "a\r\nb\r\n", "proposed": "a\nB\n", "content": "x\r\na\r\nb\r\n" }),
    );
    assert_eq!(endings.unwrap()["content"], "x\na\nB\n");

    let conflict = ask(json!({ "proposed": "theirs\n", "content": "ours\n" })).unwrap();
    assert_eq!(
        (&conflict["content"], &conflict["conflicts"]),
        (&json!("ours\n"), &json!(1))
    );

    let refused = ask(json!({ "proposed": "", "original": 1, "content": "" })).unwrap_err();
    assert!(refused.contains("original"), "{refused}");
}
