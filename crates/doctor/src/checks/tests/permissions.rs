//! Claude Code's modes, rules and hooks, judged.

use serde_json::{Value, json};

use super::*;

const CLAUDE: Dialect = Dialect::ClaudeCode;
const ASKS: Version = Version::new(2, 1, 282);
const AUTO: Version = Version::new(2, 1, 283);

/// A Claude Code whose own settings are these, and what is said of its changes.
fn said(version: Version, settings: &Value) -> Vec<(&'static str, String)> {
    let mut facts = alone(CLAUDE, version);
    let content = Content::Object(settings.as_object().unwrap().clone());
    facts.setup.settings.files[0].content = content;
    let ids = [
        Id::NoDiffs,
        Id::ChangesDenied,
        Id::HookDecides,
        Id::RuleWithoutEffect,
    ];
    let findings = judge(&facts).into_iter();
    let own = findings.filter(|finding| ids.contains(&finding.id));
    own.map(|finding| {
        assert_eq!(finding.level, Level::Note, "{}", finding.what);
        (finding.id.as_str(), finding.what)
    })
    .collect()
}

#[track_caller]
fn expect(version: Version, settings: Value, expected: &[(&str, &str)]) {
    let said = said(version, &settings);
    let ids: Vec<_> = said.iter().map(|(id, _)| *id).collect();
    let wanted: Vec<_> = expected.iter().map(|(id, _)| *id).collect();
    assert_eq!(ids, wanted, "{settings} {said:?}");
    for ((_, what), (_, part)) in said.iter().zip(expected) {
        assert!(what.contains(part), "{settings}: {what:?} without {part:?}");
    }
}

#[test]
fn the_mode_is_auto_from_the_first_release_that_has_it_by_itself() {
    let own = [("changes-without-asking", "\"auto\", its own default")];
    for (version, expected) in [
        (Version::new(2, 1, 112), &[][..]),
        (ASKS, &[]),
        (AUTO, &own),
        (Version::new(2, 1, 288), &own),
        (Version::new(2, 1, 332), &own),
    ] {
        expect(version, json!({}), expected);
        expect(
            version,
            json!({"permissions": {"defaultMode": "default"}}),
            &[],
        );
        let mode = json!({"permissions": {"defaultMode": "acceptEdits"}});
        expect(
            version,
            mode,
            &[("changes-without-asking", "\"acceptEdits\"")],
        );
    }
    let mode = json!({"permissions": {"defaultMode": "dontAsk"}});
    expect(ASKS, mode, &[("changes-denied", "\"dontAsk\"")]);
}

#[test]
fn rules_that_allow_show_no_diff_of_what_they_allow() {
    let allow = |rules: &[&str]| json!({"permissions": {"allow": rules}});
    for (rules, part) in [
        (
            &["Edit"][..],
            "the rule `Edit` in /h/settings.json allows every change by its tool `Edit`",
        ),
        (
            &["Bash(ls)", "Write(*)"],
            "allows every change by its tool `Write`",
        ),
        (
            &["Edit(src/**)", "Edit(./**)"],
            "`Edit(./**)` in /h/settings.json allows every change",
        ),
        (&["Edit(**)"], "allows every change"),
        (
            &["Edit(src/**)"],
            "`Edit(src/**)` in /h/settings.json allows changes of the files",
        ),
        (&["Edit(~/notes/*.md)"], "allows changes of the files"),
    ] {
        expect(ASKS, allow(rules), &[("changes-without-asking", part)]);
    }
    for rules in [
        &["Read(./**)"][..],
        &["NotebookEdit"],
        &["Edit(", "Bash(echo Edit)"],
    ] {
        expect(ASKS, allow(rules), &[]);
    }
    // A pattern for `Write` is one for nothing.
    expect(
        ASKS,
        allow(&["Write(src/**)"]),
        &[("rule-without-effect", "`Write(src/**)`")],
    );
}

#[test]
fn rules_that_ask_bring_diffs_back() {
    let with = |ask: &[&str], more: Value| {
        let mut permissions = more;
        permissions["ask"] = json!(ask);
        json!({ "permissions": permissions })
    };
    for ask in [
        &["Edit", "Write"][..],
        &["Edit(**)"],
        &["Write(*)", "Edit(*)"],
    ] {
        expect(AUTO, with(ask, json!({})), &[]);
        expect(
            AUTO,
            with(ask, json!({"allow": ["Edit", "Edit(src/**)"]})),
            &[],
        );
    }
    let auto = [("changes-without-asking", "\"auto\"")];
    for ask in [&["Edit"][..], &["Write"], &["Edit(src/**)"]] {
        expect(AUTO, with(ask, json!({})), &auto);
    }
    expect(ASKS, with(&["Edit"], json!({"allow": ["Edit"]})), &[]);
    let write = with(&["Edit"], json!({"allow": ["Write"]}));
    expect(ASKS, write, &[("changes-without-asking", "`Write`")]);
}

#[test]
fn what_is_denied_comes_to_no_diff() {
    let deny = |rules: &[&str]| json!({"permissions": {"deny": rules}});
    for (rules, part) in [
        (&["Edit"][..], "refuses every change by its tool `Edit`"),
        (
            &["Edit(secret/**)", "Write"],
            "`Write` in /h/settings.json refuses every",
        ),
        (
            &["Edit(secret/**)"],
            "refuses changes of the files that it matches",
        ),
    ] {
        expect(ASKS, deny(rules), &[("changes-denied", part)]);
    }
    expect(ASKS, deny(&["Read(.env)"]), &[]);
    expect(
        ASKS,
        deny(&["Write(.env)"]),
        &[("rule-without-effect", "`Write(.env)`")],
    );
}

#[test]
fn a_hook_that_may_answer_is_named_and_not_run() {
    let hooks = |event: &str, group: Value| json!({"hooks": {event: [group]}});
    let run = json!([{"type": "command", "command": "true"}]);
    for (event, matcher) in [
        ("PreToolUse", json!("Edit|Write")),
        ("PreToolUse", json!("Bash|Edit")),
        ("PreToolUse", json!(".*")),
        ("PreToolUse", json!("")),
        ("PermissionRequest", json!("Write")),
        ("PermissionRequest", Value::Null),
    ] {
        let settings = hooks(event, json!({"matcher": matcher, "hooks": run}));
        expect(ASKS, settings.clone(), &[("hook-decides", event)]);
        let mut off = settings;
        off["disableAllHooks"] = true.into();
        expect(ASKS, off, &[]);
    }
    for (event, matcher) in [
        ("PreToolUse", "Bash"),
        ("PreToolUse", "NotebookEdit"),
        ("PreToolUse", "["),
        ("PostToolUse", "Edit"),
        ("Stop", ""),
    ] {
        expect(
            ASKS,
            hooks(event, json!({"matcher": matcher, "hooks": run})),
            &[],
        );
    }
    expect(
        ASKS,
        hooks("PreToolUse", json!({"matcher": "Edit", "hooks": []})),
        &[],
    );
}
