//! What may play a part and is not judged.

use serde_json::json;

use super::*;
use crate::asides::asides;

#[test]
fn a_proxys_address_and_a_hooks_command_are_not_shown() {
    let mut facts = alone(Dialect::ClaudeCode, Version::new(2, 1, 332));
    let set = [
        ("HTTPS_PROXY", "http://me:secret@p:1"),
        ("NO_PROXY", "x"),
        ("http_proxy", ""),
    ];
    facts.setup.variables = Variables::of(&Environment::from_pairs(set));
    let settings = json!({
        "permissions": {"allow": ["Bash(ls)", "Edit(src/**)"], "deny": ["Write"]},
        "hooks": {"PreToolUse": [{"matcher": "Edit", "hooks": [{"type": "command", "command": "curl secret"}]}]},
    });
    facts.setup.settings.files[0].content = Content::Object(settings.as_object().unwrap().clone());
    let expected = [
        "proxy: HTTPS_PROXY=… NO_PROXY=…",
        "rules in /h/settings.json: deny `Write`, allow `Edit(src/**)`",
        "other hooks in /h/settings.json: PreToolUse",
    ];
    assert_eq!(asides(&facts), expected);
}

#[test]
fn a_companion_of_another_container_is_told_and_its_files_are_not_to_be_removed() {
    for (liveness, part) in [
        (
            Liveness::OutOfReach,
            "belongs to another container or machine",
        ),
        (
            Liveness::ProcessGone,
            "is gone, or runs in another container",
        ),
    ] {
        let mut facts = beside(GEMINI, NEW, &[], Outcome::Unreachable);
        facts.search.refusal = Some(Refusal::NoCompanion);
        facts.survey.companions[0].liveness = liveness;
        facts.doubtful = vec![PORT];
        let told = asides(&facts).join("\n");
        assert!(told.contains(part) && told.contains(FILE), "{told}");
        let findings = judge(&facts);
        let removes =
            |finding: &Finding| finding.fix.as_ref().is_some_and(|fix| fix.contains("rm "));
        assert!(!findings.iter().any(removes), "{findings:?}");
        assert!(findings.iter().any(is_problem));
    }
}

#[test]
fn files_with_variables_and_the_folders_own_settings_are_named() {
    let home = tempfile::tempdir().unwrap();
    let folder = home.path().join("w");
    std::fs::create_dir_all(folder.join(".qwen")).unwrap();
    for (path, text) in [
        (".env", "A=1"),
        ("w/.qwen/.env", "A=1"),
        ("w/.qwen/settings.json", "{}"),
    ] {
        std::fs::write(home.path().join(path), text).unwrap();
    }
    let environment = Environment::from_pairs([("HOME", home.path())]);
    let mut facts = alone(Dialect::QwenCode, Version::new(0, 24, 4));
    facts.setup = Setup::read(Dialect::QwenCode, &environment, &folder);
    facts.folder = folder.clone();
    let shown = folder.display();
    let expected = [
        format!(
            "variables in files: {}/.env, {shown}/.qwen/.env",
            home.path().display()
        ),
        format!(
            "settings of the folder, which count if it is trusted: {shown}/.qwen/settings.json"
        ),
    ];
    assert_eq!(asides(&facts), expected);
}
