//! Claude Code's permission mode, judged.

use serde_json::{Value, json};

use super::*;

/// The findings about changes that nobody is asked about.
fn unasked(version: Version, settings: Value) -> Vec<String> {
    let mut facts = alone(Dialect::ClaudeCode, version);
    let settings = settings.as_object().unwrap().clone();
    facts.setup.settings.files[0].content = Content::Object(settings);
    let findings = judge(&facts).into_iter();
    let own = findings.filter(|finding| finding.id == Id::NoDiffs);
    own.map(|finding| finding.what).collect()
}

#[test]
fn a_mode_that_does_not_ask_is_named_unless_rules_have_it_ask() {
    let newest = Version::new(2, 1, 332);
    let mode = |mode: &str| json!({"permissions": {"defaultMode": mode}});
    let asks =
        |tools: &[&str]| json!({"permissions": {"ask": tools, "defaultMode": "acceptEdits"}});
    for (version, settings, expected) in [
        (newest, json!({}), Some("\"auto\", its own default")),
        (Version::new(2, 1, 282), json!({}), None),
        (newest, mode("default"), None),
        (newest, mode("plan"), None),
        (newest, mode("acceptEdits"), Some("\"acceptEdits\"")),
        (
            newest,
            mode("bypassPermissions"),
            Some("\"bypassPermissions\""),
        ),
        (newest, asks(&["Edit", "Write"]), None),
        (newest, asks(&["Edit"]), Some("\"acceptEdits\"")),
    ] {
        let expected = expected.map(|mode| {
            format!("Claude Code makes changes without asking: its permission mode is {mode}")
        });
        assert_eq!(
            unasked(version, settings.clone()),
            Vec::from_iter(expected),
            "{settings}"
        );
    }
}
