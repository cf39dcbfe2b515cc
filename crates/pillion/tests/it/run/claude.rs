//! `pillion run claude` and `pillion run opencode`: what they are given, and what is taken from them.

use std::fs;
use std::os::unix::fs::PermissionsExt;

use super::{Stage, TALKATIVE};

const PORT: &str = "CLAUDE_CODE_SSE_PORT";

#[test]
fn claude_code_gets_the_port_and_installs_nothing() {
    let stage = Stage::new(TALKATIVE);
    let serve = stage.sandbox.serve::<&str>([]);
    let mut command = stage.command(["claude", "--permission-mode", "plan"]);
    command.env(PORT, "1");
    let said = stage.said(command);
    assert_eq!(said.stderr(), "");
    let own = ["--permission-mode", "plan"];
    assert_eq!(said.args, own, "its mode is its own");
    assert_eq!(said.variable(PORT), Some(serve.port().to_string().as_str()));
    let skips = "CLAUDE_CODE_IDE_SKIP_AUTO_INSTALL";
    assert_eq!(said.leading(), [skips]);
    assert_eq!(said.variable(skips), Some("1"));
}

#[test]
fn one_that_prints_its_answer_runs_the_command_before_each_change() {
    let stage = Stage::new(TALKATIVE);
    let _serve = stage.sandbox.serve::<&str>([]);
    for own in [
        &["-p", "x"][..],
        &["x", "--print"],
        &["--review", "x", "-p"],
    ] {
        let said = stage.said(stage.command([&["claude"], own].concat()));
        assert_eq!(said.stderr(), "");
        assert_eq!(said.args[0], "--settings");
        assert_eq!(said.args[2..], *own);
        assert!(
            said.args[1].contains("pillion hook claude"),
            "{:?}",
            said.args
        );
    }
    // As its permission mode has it.
    let asked = stage.said(stage.command(["--review", "asked", "claude", "-p"]));
    assert_eq!(asked.args, ["-p"]);
    // It is in the person's settings already.
    let installed = stage.sandbox.command(["hook", "install", "claude"]);
    assert!({ installed }.output().unwrap().status.success());
    assert_eq!(stage.said(stage.command(["claude", "-p"])).args, ["-p"]);
    // Claude Code skips a file with comments, and with it the hooks in it.
    let settings = stage.sandbox.home.home().join(".claude/settings.json");
    let text = fs::read_to_string(&settings).unwrap();
    fs::write(&settings, text.replacen('{', "{ // mine", 1)).unwrap();
    let said = stage.said(stage.command(["claude", "-p"]));
    assert!(
        said.args[1].contains("pillion hook claude"),
        "{:?}",
        said.args
    );
}

/// `env` in its settings wins over the terminal: what is set here would have no effect.
#[test]
fn settings_with_another_port_are_reported() {
    let stage = Stage::new(TALKATIVE);
    let serve = stage.sandbox.serve::<&str>([]);
    let settings = stage.sandbox.home.home().join(".claude/settings.json");
    let with_port = |port: u16| format!(r#"{{"env":{{"{PORT}":"{port}"}}}}"#);
    fs::write(&settings, with_port(1)).unwrap();
    let said = stage.said(stage.command(["claude"]));
    let instead = format!(
        "note: Claude Code takes {PORT} from `env` of {} instead: remove it there.\n",
        settings.display()
    );
    assert_eq!(said.stderr(), instead);
    // The same one does no harm.
    fs::write(&settings, with_port(serve.port())).unwrap();
    assert_eq!(stage.said(stage.command(["claude"])).stderr(), "");
}

#[test]
fn opencode_gets_no_port_for_it_would_dial_without_the_token() {
    let stage = Stage::new(TALKATIVE);
    let serve = stage.sandbox.serve::<&str>([]);
    let said = || {
        let mut command = stage.command(["opencode"]);
        command.env(PORT, serve.port().to_string());
        stage.said(command)
    };
    // It shows nothing without its plugin.
    let missing =
        "so you are not shown what opencode changes: `pillion hook install opencode` adds them.\n";
    let without = said().stderr();
    assert!(
        without.ends_with(missing) && without.lines().count() == 1,
        "{without}"
    );
    stage.sandbox.run(["hook", "install", "opencode"]).expect(0);
    let said = said();
    assert_eq!(said.stderr(), "");
    assert_eq!(said.variable(PORT), None);
    assert!(said.leading().is_empty());
}

#[test]
fn without_a_companion_a_port_that_leads_nowhere_is_taken_out() {
    let stage = Stage::new(TALKATIVE);
    for agent in ["claude", "opencode"] {
        let mut command = stage.command([agent]);
        command.env(PORT, "1");
        let said = stage.said(command);
        assert!(said.stderr().contains("without one"), "{}", said.stderr());
        assert_eq!(said.variable(PORT), None, "{agent}");
    }
}

/// It finds the companion that comes later, and is asked about its changes from the start.
#[test]
fn without_a_companion_claude_code_looks_for_one_and_has_its_hooks() {
    let stage = Stage::new(&format!("{NATIVE}\n{TALKATIVE}"));
    let skips = "CLAUDE_CODE_IDE_SKIP_AUTO_INSTALL";
    for own in [&["hello"][..], &["--ide"]] {
        let said = stage.said(stage.command([&["claude"], own].concat()));
        let all = said.args.join(" ");
        assert_eq!(all.matches("--ide").count(), 1, "{all}");
        assert!(
            all.contains(HOOK) && all.contains("hook guard claude"),
            "{all}"
        );
        assert_eq!(said.variable(skips), Some("1"));
    }
    let asked = stage.said(stage.command(["--review", "asked", "claude"]));
    let all = asked.args.join(" ");
    assert!(all.contains("hook guard claude --asked"), "{all}");
    let prints = stage.said(stage.command(["claude", "-p", "x"]));
    assert!(
        !prints.args.contains(&"--ide".to_owned()),
        "it connects to nobody"
    );
}

/// The program that a native installer leaves behind: no package names its release, and it says it itself.
const NATIVE: &str = r#"[ "$1" = --version ] && { echo '2.1.332 (Claude Code)'; exit; }"#;

const HOOK: &str = "pillionBeforeWrite";

#[test]
fn a_native_program_is_asked_which_release_it_is() {
    let stage = Stage::new(&format!("{NATIVE}\n{TALKATIVE}"));
    let _serve = stage.sandbox.serve::<&str>([]);
    let said = stage.said(stage.command(["claude", "hello"]));
    let [option, settings, prompt] = &said.args[..] else {
        panic!("{:?}", said.args);
    };
    assert_eq!((&**option, &**prompt), ("--settings", "hello"));
    assert!(settings.contains(HOOK) && settings.contains(r#""review":"always""#));
    let said = stage.said(stage.command(["--review", "asked", "claude"]));
    assert!(said.args[1].contains(r#""review":"asked""#), "{said:?}");
    let printed = stage.command(["--print", "claude"]).output().unwrap();
    let printed = String::from_utf8(printed.stdout).unwrap();
    assert!(
        printed.contains("run:       claude --settings"),
        "{printed}"
    );
    assert!(printed.contains(HOOK), "{printed}");
    for agent in ["gemini", "qwen", "opencode"] {
        let said = stage.said(stage.command([agent, "x"]));
        assert_eq!(said.args, ["x"], "{agent}");
    }
}

#[test]
fn an_old_release_is_started_as_it_is_with_a_word() {
    for (version, note) in [
        (
            "2.1.152 (Claude Code)",
            "the oldest release that Pillion supports",
        ),
        ("2.1.0", "the oldest release that Pillion supports"),
        ("no number", ""),
    ] {
        let script =
            format!("[ \"$1\" = --version ] && {{ echo '{version}'; exit; }}\n{TALKATIVE}");
        let stage = Stage::new(&script);
        let _serve = stage.sandbox.serve::<&str>([]);
        let said = stage.said(stage.command(["claude", "hello"]));
        assert_eq!(said.args, ["hello"], "{version}");
        assert!(said.stderr().contains(note), "{}", said.stderr());
        assert_eq!(said.stderr().is_empty(), note.is_empty(), "{version}");
    }
}

/// `alias claude=~/.claude/local/claude` is the shell's: nothing of that name is on PATH.
#[test]
fn a_program_behind_an_alias_is_found() {
    let stage = Stage::new(&format!("{NATIVE}\n{TALKATIVE}"));
    let _serve = stage.sandbox.serve::<&str>([]);
    let local = stage.sandbox.home.home().join(".claude/local");
    fs::create_dir_all(&local).unwrap();
    fs::rename(stage.bin().join("claude"), local.join("claude")).unwrap();
    let said = stage.said(stage.command(["claude", "hello"]));
    assert_eq!(said.args.len(), 3, "{said:?}");
}

/// A wrapper that does not say that it runs this command would be asked for ever.
#[test]
fn a_wrapper_that_hides_it_is_asked_once() {
    let stage = Stage::new(&format!("{NATIVE}\n{TALKATIVE}"));
    let _serve = stage.sandbox.serve::<&str>([]);
    let wrappers = stage.sandbox.home.root().join("wrappers");
    fs::create_dir(&wrappers).unwrap();
    let wrapper = wrappers.join("claude");
    let log = stage.sandbox.home.root().join("log");
    let script = format!(
        "#!/bin/sh\necho x >> {}\nverb=ru\nexec {} \"${{verb}}n\" claude \"$@\"\n",
        log.display(),
        env!("CARGO_BIN_EXE_pillion")
    );
    fs::write(&wrapper, script).unwrap();
    fs::set_permissions(&wrapper, fs::Permissions::from_mode(0o755)).unwrap();
    let mut command = stage.command(["claude", "hello"]);
    let path = stage.path();
    let path = std::env::join_paths([wrappers].into_iter().chain(std::env::split_paths(&path)));
    command.env("PATH", path.unwrap());
    let said = stage.said(command);
    assert_eq!(said.args.last().unwrap(), "hello", "{said:?}");
    assert!(said.args[1].contains(HOOK), "{said:?}");
    let runs = fs::read_to_string(&log).unwrap().lines().count();
    assert!(runs <= 3, "{runs}");
}

#[test]
fn settings_that_disable_hooks_are_reported() {
    let stage = Stage::new(&format!("{NATIVE}\n{TALKATIVE}"));
    let _serve = stage.sandbox.serve::<&str>([]);
    let settings = stage.sandbox.home.home().join(".claude/settings.json");
    fs::create_dir_all(settings.parent().unwrap()).unwrap();
    for (text, is_said) in [
        (r#"{"disableAllHooks":true}"#, true),
        (r#"{"disableAllHooks":false}"#, false),
        (r#"{"hooks":{}}"#, false),
    ] {
        fs::write(&settings, text).unwrap();
        let said = stage.said(stage.command(["claude"]));
        assert_eq!(
            said.stderr().contains("`disableAllHooks`"),
            is_said,
            "{text}"
        );
        let said = stage.said(stage.command(["--review", "asked", "claude"]));
        assert_eq!(said.stderr(), "", "{text}");
    }
}

/// By its port it takes one of any folder, and that is how it is named. opencode goes by the folder alone.
#[test]
fn only_who_refuses_a_companion_of_another_folder_is_said_to() {
    let stage = Stage::new(TALKATIVE);
    let elsewhere = stage.sandbox.home.other_workspace("elsewhere");
    let there = stage.serve_in(&elsewhere);
    stage.sandbox.run(["hook", "install", "opencode"]).expect(0);
    let port = there.port().to_string();
    let folder = elsewhere.to_str().unwrap();
    let warning = |agent: &str| {
        format!(
            "warning: Pillion (port {port}) does not have this folder in its workspace: {agent} will refuse it\n"
        )
    };
    for target in [["--port", port.as_str()], ["--workspace", folder]] {
        let run = |agent| stage.said(stage.command(target.into_iter().chain([agent])));
        let said = run("claude");
        assert_eq!(said.stderr(), "");
        assert_eq!(said.variable(PORT), Some(port.as_str()));
        assert_eq!(run("opencode").stderr(), warning("opencode"));
        assert_eq!(run("qwen").stderr(), warning("Qwen Code"));
    }
    // Another port in its settings wins, and that one's folder is not this one.
    let settings = stage.sandbox.home.home().join(".claude/settings.json");
    fs::write(&settings, format!(r#"{{"env":{{"{PORT}":"1"}}}}"#)).unwrap();
    let said = stage.said(stage.command(["--port", port.as_str(), "claude"]));
    assert!(
        said.stderr().starts_with(&warning("Claude Code")),
        "{}",
        said.stderr()
    );
}
