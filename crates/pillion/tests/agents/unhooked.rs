//! Agents that are connected and run no hooks: what they write without asking is known all the same, and that nobody can say
//! who wrote it.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

use pillion_testkit::{
    Agent, AgentKind, Claude, ClaudeRelease, ClaudeStart, Env, Home, Model, Npm, Opencode, Pane,
    Size, Tmux, Turn, set_up_claude,
};
use serde_json::{Value, json};

use crate::companion::{self, SOON, files, wait_until};
use crate::review::Review;

/// A person with a review, and a model.
struct Lab {
    review: Review,
    model: Model,
    tmux: Tmux,
    // Last: the others have files in it.
    home: Home,
}

/// An agent that is connected.
struct Connected<'a> {
    /// Pillion's names for it, in short and for people.
    name: &'a str,
    display_name: &'a str,
    pane: &'a Pane,
    prompt: &'a dyn Fn(&str),
    /// Has `two` in this file replaced by `zwei`.
    edit: fn(PathBuf) -> Vec<Turn>,
    shell: fn(&str) -> Turn,
    /// It tells when a turn begins.
    tells_turns: bool,
    /// Returns true if its screen shows that something goes with the next prompt.
    shows_told: fn(&str) -> bool,
}

impl Lab {
    fn new() -> Lab {
        let (tmux, home, model) = (Tmux::start(), Home::new(), Model::start());
        set_up_claude(&home, &home.workspace());
        home.file("a-edited.txt", "one\r\ntwo\r\n");
        home.file("gone.txt", "here\n");
        home.file("streamed.txt", "\u{feff}old\nlines\n");
        home.file("binary", b"\0\xff\xfe");
        let review = Review::start(&tmux, &home);
        Lab {
            review,
            model,
            tmux,
            home,
        }
    }

    fn pillion(&self, args: &[&str]) -> String {
        let printed = companion::run(&self.home, args);
        String::from_utf8(printed).expect("it prints UTF-8")
    }

    fn json(&self, args: &[&str]) -> Vec<Value> {
        serde_json::from_str(&self.pillion(args)).expect("it prints JSON")
    }

    /// Waits until all differs that these commands and edits have changed, and nothing else is known. Returns it by name.
    fn wait_changes(&self, before: &BTreeMap<PathBuf, Vec<u8>>) -> BTreeMap<String, Value> {
        let folder = self.home.workspace();
        let after = files(&folder);
        let all = before.keys().chain(after.keys());
        let differing = all.filter(|it| before.get(*it) != after.get(*it));
        let inner = |path: &Path| {
            let inner = path.strip_prefix(&folder).expect("in the workspace");
            inner.display().to_string()
        };
        let expected: BTreeSet<String> = differing.map(|it| inner(it)).collect();
        let name = |it: &Value| inner(Path::new(it["path"].as_str().expect("a path")));
        let found = wait_until(&format!("changes of {expected:?}"), || {
            let changes = self.json(&["changes", "--json"]);
            (changes.len() >= expected.len()).then_some(changes)
        });
        let found: BTreeMap<_, _> = found.into_iter().map(|it| (name(&it), it)).collect();
        assert!(found.keys().eq(&expected), "{expected:?}: {found:#?}");
        found
    }

    fn is_recorded(&self, agent: &Connected<'_>) {
        let screen = self.review.pane();
        screen.wait_for(&format!("● {}", agent.display_name), SOON);
        let folder = self.home.workspace();
        let before = files(&folder);
        let mut turns = (agent.edit)(folder.join("a-edited.txt"));
        turns.push((agent.shell)(
            "sed -i s/old/new/ streamed.txt; printf x >> binary",
        ));
        turns.push((agent.shell)(
            "cat > made.txt <<'EOF'\nmade\nEOF\nrm gone.txt",
        ));
        turns.push(Turn::say("all is done"));
        self.model.script(turns);
        (agent.prompt)("change it");
        agent.pane.wait_for("all is done", SOON);
        let changes = self.wait_changes(&before);
        assert_eq!(changes.len(), 5, "{changes:#?}");
        for (name, change) in &changes {
            assert_eq!(change["state"], "unseen", "{name}");
            assert!(change["by"].is_null(), "nobody knows who: {change}");
        }
        let said = self.pillion(&["changes"]);
        let title = format!("turn 1: changes while {} was connected", agent.display_name);
        assert!(said.contains(&title), "{said}");
        assert!(said.contains("unclear who changed it"), "{said}");
        screen.wait_for("5 changed files that you have not seen", SOON);
        let turns = self.json(&["turns", "--json"]);
        assert_eq!(turns.len(), 1, "{turns:#?}");
        assert_eq!(turns[0]["agent"], agent.name);
        let id = changes["a-edited.txt"]["id"].as_str().expect("an id");
        let mut look = companion::command(&self.home, ["look", id]);
        let mut look = look.current_dir(&folder).spawn().expect("it runs");
        let shown = format!("{} may have written a-edited.txt", agent.display_name);
        screen.wait_for(&shown, SOON);
        look.kill().expect("it runs");
        look.wait().expect("it ends");
        screen.wait_gone(&shown, SOON);
        let said = self.pillion(&["revert", "1"]);
        assert_eq!(files(&folder), before, "all of it is taken back");
        let told = format!("{} is told with your next prompt", agent.display_name);
        assert!(said.contains(&told), "{said}");
        agent
            .pane
            .wait_until("what goes with the prompt", SOON, agent.shows_told);
        if !agent.tells_turns {
            wait_until("a turn that has ended", || {
                let turns = self.json(&["turns", "--json"]);
                turns[0]["ended"].is_u64().then_some(())
            });
        }
        self.model.clear();
        self.model.script([
            (agent.shell)("echo second > second.txt"),
            Turn::say("that is done, too"),
        ]);
        (agent.prompt)("once more");
        agent.pane.wait_for("that is done, too", SOON);
        self.model.wait_for("with what was taken back", SOON, |it| {
            it.is_main && it.mentions("once more") && it.mentions("may be yours")
        });
        let changes = self.wait_changes(&before);
        assert_eq!(changes["second.txt"]["id"], "2.1", "{changes:#?}");
    }
}

fn claude_bash(command: &str) -> Turn {
    Turn::CallTool {
        name: "Bash",
        input: json!({"command": command, "description": "x"}),
    }
}

fn replace(path: PathBuf) -> Vec<Turn> {
    vec![Turn::read_file(&path), Turn::replace(&path, "two", "zwei")]
}

fn claude(lab: &Lab, mode: &str) -> Claude {
    let settings = lab.home.home().join(".claude/settings.json");
    let skip = r#"{"skipDangerousModePermissionPrompt":true}"#;
    fs::write(settings, skip).expect("the home is ours");
    let how = ClaudeStart {
        arguments: &["--ide"],
        mode,
        // Root may not use one of the modes otherwise.
        env: Env::default().with("IS_SANDBOX", "1"),
        ..ClaudeStart::default()
    };
    let (tmux, home, model) = (&lab.tmux, &lab.home, &lab.model);
    let release = ClaudeRelease::Native;
    Claude::start_with(release, tmux, home, model, &home.workspace(), &how)
}

#[test]
#[ignore = "needs the real agents and Claude Code: cargo xtask test"]
fn what_claude_writes_without_hooks_is_known_and_taken_back() {
    let lab = Lab::new();
    let claude = claude(&lab, "bypassPermissions");
    lab.is_recorded(&Connected {
        name: "claude",
        display_name: "Claude Code",
        pane: claude.pane(),
        prompt: &|text| {
            claude.wait_ready();
            claude.prompt(text);
        },
        edit: replace,
        shell: claude_bash,
        tells_turns: true,
        shows_told: |screen| screen.contains("lines selected] @"),
    });
}

/// An accepted change is known as accepted, and one that is written without asking is not; the mode in which nothing is asked
/// first is not to be had.
#[test]
#[ignore = "in --all: needs the real agents and Claude Code: cargo xtask test --all"]
fn what_was_accepted_of_claude_without_hooks_is_not_unseen() {
    let lab = Lab::new();
    let claude = claude(&lab, "default");
    let screen = lab.review.pane();
    screen.wait_for("● Claude Code", SOON);
    let [accepted, unasked] = ["accepted.txt", "unasked.txt"];
    let folder = lab.home.workspace();
    lab.model.script([
        Turn::write_file(folder.join(accepted), "seen\n"),
        Turn::say("all is done"),
    ]);
    claude.prompt("write it");
    screen.wait_for("Claude Code proposes accepted.txt", SOON);
    claude.wait_question();
    lab.review.accept(accepted);
    claude.wait_for("all is done");
    let all = wait_until("the accepted change", || {
        let all = lab.json(&["changes", "--all", "--json"]);
        (!all.is_empty()).then_some(all)
    });
    assert_eq!(all.len(), 1, "{all:#?}");
    assert_eq!(all[0]["state"], "accepted");
    assert!(lab.json(&["changes", "--json"]).is_empty());
    let mut command = companion::command(&lab.home, ["review-mode", "after"]);
    let output = command.current_dir(&folder).output().expect("it runs");
    assert!(!output.status.success(), "there are no hooks: {output:?}");
    // In a mode of its own in which it asks nobody.
    claude.wait_ready();
    claude.pane().send_keys(["BTab"]);
    claude.wait_for("accept edits on");
    lab.model.clear();
    lab.model.script([
        Turn::write_file(folder.join(unasked), "not seen\n"),
        Turn::say("that is done, too"),
    ]);
    claude.prompt("and this");
    claude.wait_for("that is done, too");
    let unseen = wait_until("the unseen change", || {
        let all = lab.json(&["changes", "--json"]);
        (!all.is_empty()).then_some(all)
    });
    assert_eq!(unseen.len(), 1, "{unseen:#?}");
    assert_eq!(unseen[0]["id"], "2.1");
    assert!(
        unseen[0]["path"]
            .as_str()
            .expect("a path")
            .ends_with(unasked)
    );
}

#[test]
#[ignore = "in --all: needs the real agents and opencode: cargo xtask test --all"]
fn what_opencode_writes_is_known_and_taken_back() {
    let lab = Lab::new();
    let folder = lab.home.workspace();
    let opencode = Opencode::start(&lab.tmux, &lab.home, &lab.model, &folder, &Env::default());
    lab.is_recorded(&Connected {
        name: "opencode",
        display_name: "opencode",
        pane: opencode.pane(),
        prompt: &|text| opencode.prompt(text),
        edit: |path| {
            let call = |name, input| Turn::CallTool { name, input };
            vec![
                call("read", json!({"filePath": path})),
                call(
                    "edit",
                    json!({"filePath": path, "oldString": "two", "newString": "zwei"}),
                ),
            ]
        },
        shell: |command| Turn::CallTool {
            name: "bash",
            input: json!({"command": command, "description": "x"}),
        },
        tells_turns: false,
        shows_told: |screen| screen.contains(".txt#1-"),
    });
}

#[test]
#[ignore = "in --all: needs the real agents: cargo xtask test --all"]
fn what_gemini_writes_without_hooks_is_known_and_taken_back() {
    let lab = Lab::new();
    let kind = AgentKind::Gemini;
    let env = kind.env(lab.home.env(), &lab.model);
    let command = Npm::from_env().bin().join(kind.name());
    let command = [command.to_str().expect("UTF-8"), "--approval-mode", "yolo"];
    let folder = lab.home.workspace();
    let size = Size::new(120, 40);
    let pane = lab.tmux.spawn("gemini", size, &env, &folder, &command);
    let gemini = Agent::attach(kind, pane);
    lab.is_recorded(&Connected {
        name: "gemini",
        display_name: "Gemini CLI",
        pane: gemini.pane(),
        prompt: &|text| gemini.prompt(text),
        edit: replace,
        shell: |command| Turn::CallTool {
            name: "run_shell_command",
            input: json!({"command": command, "description": "x"}),
        },
        tells_turns: false,
        shows_told: |_| true,
    });
}
