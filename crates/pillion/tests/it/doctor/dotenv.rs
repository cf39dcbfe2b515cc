//! `.env` files and settings that give the agent variables which the terminal does not have.

use std::fs;
use std::path::Path;

use super::world::{GEMINI, QWEN, World};

const UNTRUSTED: &str =
    r#"{"ide": {"enabled": true}, "security": {"folderTrust": {"enabled": true}}}"#;

/// An editor that takes out the lines with this name.
fn without(name: &str, fix: &str) -> String {
    let editor = fix.replace("\"${EDITOR:-vi}\"", "editor");
    assert!(editor.starts_with("editor "), "{fix}");
    format!("editor() {{ grep -v {name} \"$1\" > \"$1.new\"; mv \"$1.new\" \"$1\"; }}\n{editor}")
}

fn line(number: usize, path: &Path) -> String {
    format!("line {number} of {}", path.display())
}

#[test]
fn a_proxy_in_a_file_breaks_the_connection_and_the_line_is_named() {
    for agent in [GEMINI, QWEN] {
        let world = World::new();
        let _serve = world.serve();
        let file = world.home().file(
            ".env",
            "# ours\nexport HTTPS_PROXY='proxy.example:3128'\nX=1\n",
        );
        let told = world.doctor(agent);
        let fix = told.expect_first("proxy-variable", &line(2, &file));
        assert!(!told.text.contains("proxy.example"), "{}", told.text);
        // The terminal's own goes before it.
        let set = world.after("export HTTPS_PROXY=http://proxy.example:3128", agent);
        set.expect_connects("proxy-variable");
        let told = world.after(&without("HTTPS_PROXY", &fix), agent);
        told.expect_connects("proxy-variable");
        assert_eq!(fs::read_to_string(&file).unwrap(), "# ours\nX=1\n");
    }
}

#[test]
fn the_agents_own_folder_goes_first_and_then_the_next_folder_above() {
    for agent in [GEMINI, QWEN] {
        let world = World::new();
        let _serve = world.serve();
        let hidden = format!(".{agent}/.env");
        let near = world.home().file(&hidden, "HTTP_PROXY=bad:1\n");
        let far = world.home().file(".env", "HTTPS_PROXY=bad:1\n");
        let told = world.doctor(agent);
        told.expect_first("proxy-variable", &line(1, &near));
        assert!(!told.text.contains(far.to_str().unwrap()), "{}", told.text);
        fs::remove_file(near).unwrap();
        let told = world.doctor(agent);
        told.expect_first("proxy-variable", &line(1, &far));
        fs::remove_file(far).unwrap();
        let above = world.home().root().canonicalize().unwrap().join(".env");
        fs::write(&above, "HTTPS_PROXY=bad:1\n").unwrap();
        let told = world.doctor(agent);
        told.expect_first("proxy-variable", &line(1, &above));
    }
}

/// Gemini CLI reads one file only.
#[test]
fn the_users_own_file_counts_too() {
    let world = World::new();
    let _serve = world.serve();
    let project = world.home().file(".env", "X=1\n");
    let own = world.home().home().join(".env");
    fs::write(&own, "HTTPS_PROXY=bad:1\n").unwrap();
    world.doctor(GEMINI).expect_connects("proxy-variable");
    let told = world.doctor(QWEN);
    told.expect_first("proxy-variable", &line(1, &own));
    world.install(QWEN, "0.5.0");
    world.doctor(QWEN).expect_gone("proxy-variable");
    fs::remove_file(project).unwrap();
    for agent in [GEMINI, QWEN] {
        let told = world.doctor(agent);
        told.expect_first("proxy-variable", &line(1, &own));
    }
}

#[test]
fn a_file_of_a_folder_that_is_not_trusted_is_not_read() {
    for agent in [GEMINI, QWEN] {
        let world = World::new();
        let _serve = world.serve();
        world.home().file(".env", "HTTPS_PROXY=bad:1\n");
        world.settings(agent, UNTRUSTED);
        world.doctor(agent).expect_connects("proxy-variable");
        let list = world
            .home()
            .home()
            .join(format!(".{agent}/trustedFolders.json"));
        let trust =
            serde_json::json!({(world.home().workspace().to_str().unwrap()): "TRUST_FOLDER"});
        fs::write(list, trust.to_string()).unwrap();
        let told = world.doctor(agent);
        told.expect("proxy-variable", "problem", "line 1");
    }
}

#[test]
fn what_the_settings_keep_out_is_not_taken() {
    for agent in [GEMINI, QWEN] {
        let world = World::new();
        let _serve = world.serve();
        world.home().file(".env", "HTTPS_PROXY=bad:1\n");
        let settings = r#"{"ide": {"enabled": true}, "security": {"folderTrust": {"enabled": false}},
            "advanced": {"excludedEnvVars": ["HTTPS_PROXY"]}}"#;
        world.settings(agent, settings);
        world.doctor(agent).expect_connects("proxy-variable");
        // That is for projects only.
        let own = world
            .home()
            .file(&format!(".{agent}/.env"), "HTTPS_PROXY=bad:1\n");
        let told = world.doctor(agent);
        told.expect_first("proxy-variable", &line(1, &own));
    }
    let world = World::new();
    let _serve = world.serve();
    world.home().file(".env", "HTTPS_PROXY=bad:1\n");
    let settings = r#"{"ide": {"enabled": true}, "security": {"folderTrust": {"enabled": false}},
        "advanced": {"ignoreLocalEnv": true}}"#;
    world.settings(GEMINI, settings);
    world.doctor(GEMINI).expect_connects("proxy-variable");
}

#[test]
fn qwen_codes_settings_give_it_variables() {
    let world = World::new();
    let _serve = world.serve();
    let settings = r#"{"ide": {"enabled": true}, "security": {"folderTrust": {"enabled": false}},
        "env": {"HTTPS_PROXY": "$CORPORATE"}}"#;
    let file = world.settings(QWEN, settings);
    let told = world.doctor(QWEN);
    let expected = format!("HTTPS_PROXY (`env` of {})", file.display());
    told.expect_first("proxy-variable", &expected);
    let told = world.after("export CORPORATE=http://proxy.example", QWEN);
    told.expect_connects("proxy-variable");
    world.settings(GEMINI, settings);
    world.doctor(GEMINI).expect_connects("proxy-variable");
}

#[test]
fn a_port_in_a_file_names_the_companion() {
    for agent in [GEMINI, QWEN] {
        let world = World::new();
        let older = world.serve();
        let newer = world.serve();
        let taken = world.doctor(agent).agent["companion"]["port"].clone();
        let other = if taken == older.port() {
            newer.port()
        } else {
            older.port()
        };
        let variable = match agent {
            GEMINI => "GEMINI_CLI_IDE_SERVER_PORT",
            _ => "QWEN_CODE_IDE_SERVER_PORT",
        };
        world.home().file(".env", format!("{variable}={other}\n"));
        let told = world.doctor(agent);
        told.expect_connects("stale-variable");
        assert_eq!(told.agent["companion"]["port"], other, "{}", told.text);
        told.expect_gone("several-companions");
        let file = world.home().file(".env", format!("\n{variable}=1\n"));
        let told = world.doctor(agent);
        let fix = told.expect("stale-variable", "warning", &line(2, &file));
        let told = world.after(&without(variable, &fix), agent);
        told.expect_connects("stale-variable");
    }
}

#[test]
fn a_file_for_temporary_files_leads_away_from_the_companion() {
    let world = World::new();
    let _serve = world.serve();
    let elsewhere = world.home().other_workspace("elsewhere");
    let tmp = world.home().tmp();
    // As the editor's terminal has it, and as one without the variable has it.
    let own = world
        .home()
        .file(".env", format!("TMPDIR={}\n", elsewhere.display()));
    world.doctor(GEMINI).expect_connects("tmpdir-differs");
    let told = world.after("unset TMPDIR", GEMINI);
    let fix = told.expect_first("tmpdir-differs", tmp.to_str().unwrap());
    assert!(fix.contains(own.to_str().unwrap()), "{fix}");
    let told = world.after("unset TMPDIR; TMP=/nowhere; export TMP", GEMINI);
    told.expect_first("tmpdir-differs", elsewhere.to_str().unwrap());
    // Where the file leads to the companion the terminal need not.
    fs::write(&own, format!("TMPDIR={}\n", tmp.display())).unwrap();
    world
        .after("unset TMPDIR", GEMINI)
        .expect_connects("tmpdir-differs");
}

#[test]
fn qwen_home_counts_in_the_users_own_file_only() {
    let world = World::new();
    let _serve = world.serve();
    let elsewhere = world.home().other_workspace("elsewhere");
    fs::copy(
        world.home().home().join(".qwen/settings.json"),
        elsewhere.join("settings.json"),
    )
    .unwrap();
    let text = format!("QWEN_HOME={}\n", elsewhere.display());
    world.home().file(".env", &text);
    world.doctor(QWEN).expect_connects("tmpdir-differs");
    let own = world.home().home().join(".qwen/.env");
    fs::write(&own, &text).unwrap();
    // The companion has files for older releases where temporary files are.
    let told = world.after("unset TMPDIR", QWEN);
    let fix = told.expect_first("tmpdir-differs", elsewhere.to_str().unwrap());
    let fix = format!("unset TMPDIR\n{}", without("QWEN_HOME", &fix));
    world.after(&fix, QWEN).expect_connects("tmpdir-differs");
}
