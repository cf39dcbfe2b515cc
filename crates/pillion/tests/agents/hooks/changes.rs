//! The changes of agents whose hooks are commands are recorded: around each shell command and each edit, with the texts before.

use std::cell::Cell;
use std::path::PathBuf;
use std::process::{Child, Stdio};

use pillion_protocol::Dialect;
use pillion_testkit::{
    self as agents, AgentKind, ClaudeRelease, Codex, CodexRelease, CodexStart, Copilot, Env, Home,
    MAY_DECIDE, Model, Npm, NvimSetup, NvimVersion, Opencode, Size, Tmux, Turn, each_codex,
};
use serde_json::{Value, json};

use super::{BEFORE, Decision, Scene, claude, codex, copilot, ended, gemini, opencode, qwen};
use crate::companion::{self, PILLION, SOON, files};
use crate::review::Review;
use crate::shared_encodings::assert_bytes;

/// An agent, and what its model calls.
struct Agent {
    name: Dialect,
    /// The tool for shell commands, as hooks know it.
    shell: &'static str,
    /// Has a command run.
    run: fn(&str) -> Turn,
    /// Has `two` in `edited.txt` replaced by `zwei`.
    edit: fn(&Scene) -> Vec<Turn>,
}

fn replace(scene: &Scene) -> Vec<Turn> {
    let file = scene.home.workspace().join("edited.txt");
    vec![Turn::read_file(&file), Turn::replace(&file, "two", "zwei")]
}

const CODEX: Agent = Agent {
    name: Dialect::CodexCli,
    shell: "Bash",
    run: |command| Turn::CallTool {
        name: "exec_command",
        input: json!({"cmd": command}),
    },
    edit: |_| {
        vec![Turn::patch(
            "*** Update File: edited.txt\n@@\n-two\n+zwei\n",
        )]
    },
};

const GEMINI: Agent = Agent {
    name: Dialect::GeminiCli,
    shell: "run_shell_command",
    run: |command| Turn::CallTool {
        name: "run_shell_command",
        input: json!({"command": command, "description": "x"}),
    },
    edit: replace,
};

const QWEN: Agent = Agent {
    name: Dialect::QwenCode,
    run: |command| Turn::CallTool {
        name: "run_shell_command",
        input: json!({"command": command, "description": "x", "is_background": false}),
    },
    ..GEMINI
};

const CLAUDE: Agent = Agent {
    name: Dialect::ClaudeCode,
    shell: "Bash",
    run: |command| Turn::CallTool {
        name: "Bash",
        input: json!({"command": command, "description": "x"}),
    },
    edit: replace,
};

const COPILOT: Agent = Agent {
    name: Dialect::CopilotCli,
    shell: "bash",
    run: |command| Turn::CallTool {
        name: "bash",
        input: json!({"command": command, "description": "x"}),
    },
    edit: replace,
};

const OPENCODE: Agent = Agent {
    name: Dialect::OpenCode,
    ..COPILOT
};

fn json_of(scene: &Scene, args: &[&str]) -> Vec<Value> {
    let printed = companion::run(&scene.home, args);
    serde_json::from_slice(&printed).expect("it prints JSON")
}

/// An agent edits a file, which a person accepts, and runs commands that change others. All of it is known, and is taken back
/// to the byte. With its next prompt, the agent is told.
fn is_recorded(scene: &Scene, agent: &Agent, start: impl Fn(&Scene, usize) -> Child) {
    let folder = scene.home.workspace();
    let edited = scene.home.file("edited.txt", BEFORE);
    scene.home.file("streamed.txt", "\u{feff}old\r\nlines\r\n");
    scene.home.file("gone.txt", "here\n");
    scene.home.file("moved.txt", "the same\n");
    scene.home.file("binary", b"\0\xff\xfe");
    let before = files(&folder);
    let commands = [
        "sed -i s/old/new/ streamed.txt; printf x >> binary",
        "rm gone.txt; mkdir in; mv moved.txt in/moved.txt",
        "echo failed > failed.txt; exit 3",
    ];
    let mut turns = (agent.edit)(scene);
    turns.extend(commands.map(agent.run));
    scene.script(turns);
    let child = start(scene, 0);
    scene.decide(&edited, &Decision::Accept);
    ended(child).expect_done("recorded");
    let all = companion::wait_until("a turn that has ended", || {
        let turns = json_of(scene, &["turns", "--json"]);
        let turn = turns.first()?;
        assert_eq!(turns.len(), 1, "{turns:?}");
        assert_eq!(turn["agent"], agent.name.name());
        turn["ended"]
            .is_u64()
            .then(|| json_of(scene, &["changes", "--all", "--json"]))
    });
    let after = files(&folder);
    let known = |name: &str| {
        let path = folder.join(name);
        let found = all
            .iter()
            .find(|it| it["path"] == path.to_str().expect("UTF-8"));
        let found = found.unwrap_or_else(|| panic!("{name} is not known: {all:#?}"));
        let text = |field: &str| found[field].as_str().expect("a text").to_owned();
        (text("by"), text("state"))
    };
    let (_, state) = known("edited.txt");
    assert_eq!(state, "accepted");
    for name in [
        "streamed.txt",
        "binary",
        "gone.txt",
        "moved.txt",
        "in/moved.txt",
        "failed.txt",
    ] {
        let expected = (agent.shell.to_owned(), "unseen".to_owned());
        assert_eq!(known(name), expected, "{name}");
    }
    assert_eq!(all.len(), 7, "{all:#?}");
    companion::run(&scene.home, ["revert", "1"]);
    assert_eq!(files(&folder), before, "all of it is taken back");
    companion::run(&scene.home, ["undo", "1"]);
    assert_eq!(files(&folder), after, "and is there again");
    companion::run(&scene.home, ["keep", "1"]);
}

/// Each command in each way: with the companion, and where it has hidden that from the command, or who has started it; by the person's
/// editor; and in a review of its own, in a terminal of its own. `$0` is a file for the script, the other arguments are those of the format.
const TRIES: &str = r#"
said() { echo "=> $1"; }
orphan() {
    (setsid sh -c '"$@"; echo "=> $?"; : >"$0"' "$0.ended" "$@" &)
    until [ -e "$0.ended" ]; do sleep 0.05; done
    rm "$0.ended"
}
each() {
    "$@"; said $?
    env -i HOME="$HOME" PATH="$PATH" TMPDIR='{tmp}' XDG_RUNTIME_DIR='{runtime}' "$@"; said $?
    setsid --wait "$@"; said $?
    orphan "$@"
}
for it in 'keep 1.1' 'revert 1.1' 'undo 1.1' 'forget 1' 'hook uninstall codex' 'uninstall vim'; do
    each '{pillion}' $it
    env -i HOME="$HOME" PATH="$PATH" '{pillion}' $it; said $?
done
for it in 'accept {diff}' 'reject {diff}' 'review-mode after' 'send-notes' 'look 1' 'mention {folder}/b.txt' 'focus {folder}/b.txt'; do
    each '{pillion}' $it --port {port}
done
for hide in '' 'env -i HOME=/ setsid --wait'; do
    for it in PillionAccept PillionReject; do
        $hide '{nvim}' --headless --server '{socket}' --remote-send ":$it<CR>"
        $hide '{nvim}' --headless --server '{socket}' --remote-expr "execute('$it')"
    done
done
keys() {
    until grep -q 'speak for you\|ccepted' "$0.own"; do sleep 0.3; echo a; done
    until [ -e "$0.ended" ]; do for it in q y; do sleep 0.3; echo $it; done; done
}
: >"$0.own"
keys | script -qfec "'{pillion}' --plain --workspace '{folder}'; : >'$0.ended'" "$0.own" >/dev/null
cat "$0.own"
"#;

/// What of that is refused, command by command.
const REFUSED: usize = 6 * 5 + 7 * 4;

/// An agent that is known by its hooks only tries in its own shell to decide in the person's name: about what it has written, and about a
/// diff in the person's editor, of another folder and at another port.
fn its_shell_decides_nothing(scene: &Scene, agent: &Agent, start: impl FnOnce(&Scene) -> Child) {
    let home = &scene.home;
    let file = home.file("a.txt", BEFORE);
    let folder = home.other_workspace("other");
    let (other, content) = (folder.join("b.txt"), home.home().join("content"));
    std::fs::write(&other, BEFORE).expect("the folder is ours");
    std::fs::write(&content, "proposed\n").expect("the home is ours");
    let nvim = NvimSetup::new(NvimVersion::V0_12, home).pillion(PILLION);
    let nvim = nvim.cwd(&folder).arg(&other).headless();
    nvim.wait_until("a port", "require('pillion.client').state.port ~= nil");
    let of_nvim = |code: &str| nvim.lua::<String>(&format!("return {code}"), json!([]));
    let port = of_nvim("tostring(require('pillion.client').state.port)");
    let mut diff = companion::command(home, ["diff", "b.txt", "--content-file"]);
    let diff = diff
        .arg(&content)
        .current_dir(&folder)
        .stdout(Stdio::piped());
    let mut diff = diff.spawn().expect("the command under test runs");
    let target = ["--port", &port];
    let pending = companion::wait_until("a diff in Neovim", || {
        companion::pending_at(home, &target).pop()
    });
    nvim.wait_until("a diff that was looked at", MAY_DECIDE);

    let script = home.home().join("tries.sh");
    let shown = |path: PathBuf| path.to_str().expect("UTF-8").to_owned();
    let [tmp, runtime, folder] = [home.tmp(), home.runtime(), folder].map(shown);
    let (program, socket) = (of_nvim("vim.v.progpath"), of_nvim("vim.v.servername"));
    let tries = [
        ("{tmp}", &*tmp),
        ("{runtime}", &runtime),
        ("{pillion}", PILLION),
        ("{diff}", &pending.name),
        ("{port}", &port),
        ("{nvim}", &program),
        ("{socket}", &socket),
        ("{folder}", &folder),
    ]
    .iter()
    .fold(TRIES.to_owned(), |tries, (name, value)| {
        tries.replace(name, value)
    });
    std::fs::write(&script, tries).expect("the home is ours");
    let tries = format!("sh '{}' >said.txt 2>&1", script.display());
    scene.script([(agent.run)("echo zwei > a.txt"), (agent.run)(&tries)]);
    ended(start(scene)).expect_done("tried");

    let said = std::fs::read_to_string(home.workspace().join("said.txt")).expect("it has tried");
    let started = format!("this command was started by {}", agent.name.display_name());
    let unknown = "nothing shows that you have started this command";
    let refused = [&*started, unknown].map(|it| said.matches(it).count());
    assert_eq!(refused.iter().sum::<usize>(), REFUSED, "{said}");
    assert!(refused[1] <= 13, "orphans alone may be unknown: {said}");
    assert_eq!(said.matches("=> 1\n").count(), REFUSED, "{said}");
    assert_eq!(said.matches("=> ").count(), REFUSED, "{said}");
    let in_review = started.replace("command", "window");
    assert!(said.contains(&in_review), "{said}");
    let messages = nvim.messages();
    assert!(
        messages.contains("another program types or calls this"),
        "{messages}{said}"
    );
    assert!(diff.try_wait().expect("it is ours").is_none(), "{said}");
    let all = json_of(scene, &["changes", "--json"]);
    let now = std::fs::read_to_string(&file).expect("it is there");
    assert_eq!(now, "zwei\n", "{said}{all:#?}");
    let path = file.to_str().expect("UTF-8");
    let change = all.iter().find(|it| it["path"] == path);
    let change = change.unwrap_or_else(|| panic!("it is not listed: {all:#?}"));
    assert_eq!(change["state"], "unseen");
    // The same words are a person's.
    companion::run(home, ["revert", "1.1"]);
    assert_bytes(&file, BEFORE.as_bytes());
    companion::run(home, ["accept", &pending.name, "--port", &port]);
    let decided = diff.wait_with_output().expect("it is ours");
    assert_eq!(String::from_utf8_lossy(&decided.stdout), "proposed\n");
}

#[each_codex]
fn codexs_shell_decides_nothing(release: CodexRelease) {
    its_shell_decides_nothing(&Scene::new(|_| ()), &CODEX, |scene| {
        let start = CodexStart {
            sandbox: "danger-full-access",
            ..codex::start(codex::one_start(release), "")
        };
        codex::exec(scene, &start)
    });
}

#[test]
#[ignore = "in --all: needs the real agents and Neovim: cargo xtask test --all"]
fn geminis_and_qwens_shells_decide_nothing() {
    its_shell_decides_nothing(&gemini::scene(), &GEMINI, |scene| gemini::print(scene, 0));
    its_shell_decides_nothing(&qwen::scene(), &QWEN, |scene| qwen::print(scene, 0));
}

#[test]
#[ignore = "needs the real agents, Claude Code and Neovim: cargo xtask test"]
fn claudes_shell_decides_nothing() {
    its_shell_decides_nothing(&Scene::new(claude::set_up), &CLAUDE, |scene| {
        claude::print(ClaudeRelease::Native)(scene, 1)
    });
}

#[each_codex]
fn what_codex_writes_is_recorded(release: CodexRelease) {
    for ways in codex::starts(release) {
        let exec = |scene: &Scene, _: usize| codex::exec(scene, &codex::start(ways, ""));
        is_recorded(&Scene::new(|_| ()), &CODEX, exec);
    }
}

#[test]
#[ignore = "needs the real agents: cargo xtask test"]
fn what_gemini_writes_is_recorded() {
    is_recorded(&gemini::scene(), &GEMINI, gemini::print);
}

#[test]
#[ignore = "in --all: needs the real agents: cargo xtask test --all"]
fn what_qwen_writes_is_recorded() {
    is_recorded(&qwen::scene(), &QWEN, qwen::print);
}

#[test]
#[ignore = "needs the real agents and Claude Code: cargo xtask test"]
fn what_claude_with_command_hooks_writes_is_recorded() {
    for release in [ClaudeRelease::Native, ClaudeRelease::Node] {
        let print = claude::print(release);
        is_recorded(&Scene::new(claude::set_up), &CLAUDE, |scene, _| {
            print(scene, 1)
        });
    }
}

#[test]
#[ignore = "needs the real agents and Copilot CLI: cargo xtask test"]
fn what_copilot_writes_is_recorded() {
    let print = |scene: &Scene, _: usize| copilot::print(scene, &["--allow-all-tools"]);
    is_recorded(&Scene::new(copilot::set_up), &COPILOT, print);
}

#[test]
#[ignore = "in --all: needs the real agents and opencode: cargo xtask test --all"]
fn what_opencode_writes_is_recorded() {
    is_recorded(&opencode::scene(), &OPENCODE, opencode::print);
}

#[test]
#[ignore = "in --all: needs the real agents, opencode and Neovim: cargo xtask test --all"]
fn opencodes_shell_decides_nothing() {
    its_shell_decides_nothing(&opencode::scene(), &OPENCODE, |scene| {
        opencode::print(scene, 0)
    });
}

/// In a terminal: an agent's shell command changes a file, the person takes that back, and the agent is told with the next
/// prompt, at which a turn of its own begins. `prompt` sends one, and waits until it is answered.
fn is_told_what_was_taken_back(scene: &Scene, agent: &Agent, prompt: impl Fn(&str)) {
    let file = scene.home.file("streamed.txt", "old\nlines\n");
    scene.model.script([
        (agent.run)("sed -i s/old/new/ streamed.txt"),
        Turn::say("the turn is done"),
    ]);
    prompt("the turn is done");
    let known = companion::wait_until("a turn that has ended", || {
        let turns = json_of(scene, &["turns", "--json"]);
        (turns.first()?["ended"].is_u64()).then(|| json_of(scene, &["changes", "--json"]))
    });
    assert_eq!(known[0]["by"], agent.shell, "{known:#?}");
    // A turn before it, in which nothing was changed, has a number, too.
    let id = known[0]["id"].as_str().expect("each change has a name");
    let (turn, _) = id.split_once('.').expect("it is of a turn");
    let said = companion::run(&scene.home, ["revert", turn]);
    let said = String::from_utf8(said).expect("it is text");
    let can_be_sent = said.contains("or when you send");
    assert!(
        said.contains("is told with your next prompt") && !can_be_sent,
        "{said}"
    );
    let sent = companion::command(&scene.home, ["send-notes", agent.name.name()]).output();
    let sent = sent.expect("the command under test runs");
    let said = String::from_utf8_lossy(&sent.stderr);
    let told = "cannot be woken now: it gets your notes with your next prompt";
    assert!(!sent.status.success() && said.contains(told), "{said}");
    assert_eq!(std::fs::read(&file).expect("it is there"), b"old\nlines\n");
    scene.model.script([
        (agent.run)("echo second > second.txt"),
        Turn::say("the second is done"),
    ]);
    prompt("the second is done");
    let told = scene.wait_told("The user has taken back your change in");
    assert!(told.mentions("-new"), "it reads what was taken back");
    let turns = companion::wait_until("a second turn", || {
        let turns = json_of(scene, &["turns", "--json"]);
        (turns.len() == 2).then_some(turns)
    });
    assert!(
        turns.iter().all(|it| it["prompt"] == "change it"),
        "{turns:#?}"
    );
}

/// What was said of the turn before, the agent that takes the place of that one hears with its first prompt.
fn tells_the_next(scene: &Scene, agent: &Agent, prompt: impl Fn(&str)) {
    let turns = json_of(scene, &["turns", "--json"]);
    let (last, why) = (turns.last().expect("a turn"), format!("as {}", turns.len()));
    let last = last["turn"].to_string();
    companion::run(&scene.home, ["revert", &last, "--because", &why]);
    let waits = String::from_utf8(companion::run(&scene.home, ["notes"])).expect("it is text");
    assert!(waits.contains(&why), "{waits}");
    scene.model.script([
        (agent.run)(&format!("echo more > {}.txt", turns.len())),
        Turn::say(format!("{} is done", turns.len())),
    ]);
    prompt(&format!("{} is done", turns.len()));
    scene.wait_told(&format!("The user says of this: {why}"));
    companion::wait_until("another turn, and no notes", || {
        let known = json_of(scene, &["turns", "--json"]);
        let notes = json_of(scene, &["notes", "--json"]);
        (known.len() > turns.len() && notes.is_empty()).then_some(())
    });
}

fn wait_connected(scene: &Scene, agent: &str) {
    companion::wait_until("its connection", || {
        let listed = json_of(scene, &["list", "--json"]);
        (listed[0]["agents"] == json!([agent])).then_some(())
    });
}

#[each_codex]
fn codex_is_told_what_was_taken_back(release: CodexRelease) {
    let ways = codex::one_start(release);
    let scene = Scene::new(|_| ());
    let tmux = Tmux::start();
    let start = codex::start(ways, "");
    let codex = Codex::start(&tmux, &scene.home, &scene.model, &start);
    is_told_what_was_taken_back(&scene, &CODEX, |answer| {
        codex.prompt("change it");
        codex.wait_for(answer);
        codex.wait_ready();
    });
}

#[test]
#[ignore = "in --all: needs the real agents: cargo xtask test --all"]
fn gemini_is_told_what_was_taken_back() {
    let scene = gemini::scene();
    let tmux = Tmux::start();
    let (kind, folder) = (AgentKind::Gemini, scene.home.workspace());
    let command = Npm::from_env().bin().join(kind.name());
    let command = [&*command.display().to_string(), "--approval-mode", "yolo"].map(str::to_owned);
    let env = kind.env(scene.home.env(), &scene.model);
    let pane = tmux.spawn("gemini", Size::new(100, 40), &env, &folder, &command);
    let gemini = agents::Agent::attach(kind, pane);
    is_told_what_was_taken_back(&scene, &GEMINI, |answer| {
        gemini.prompt("change it");
        gemini.wait_for(answer);
    });
}

#[test]
#[ignore = "in --all: needs the real agents and opencode: cargo xtask test --all"]
fn opencode_is_told_what_was_taken_back() {
    let scene = opencode::scene();
    let tmux = Tmux::start();
    let folder = scene.home.workspace();
    let start = |tmux| Opencode::start(tmux, &scene.home, &scene.model, &folder, &Env::default());
    let prompt = |opencode: &Opencode, answer: &str| {
        opencode.prompt("change it");
        opencode.wait_for(answer);
    };
    let opencode = start(&tmux);
    is_told_what_was_taken_back(&scene, &OPENCODE, |answer| prompt(&opencode, answer));
    // Another session of the same process.
    tells_the_next(&scene, &OPENCODE, |answer| {
        opencode.prompt("/new");
        opencode.wait_for("Ask anything");
        prompt(&opencode, answer);
    });
    // And another process, which is connected, too.
    opencode.pane().kill();
    let tmux = Tmux::start();
    tells_the_next(&scene, &OPENCODE, |answer| {
        let opencode = start(&tmux);
        wait_connected(&scene, "opencode");
        prompt(&opencode, answer);
    });
}

#[test]
#[ignore = "in --all: needs the real agents and Copilot CLI: cargo xtask test --all"]
fn copilot_is_told_what_was_taken_back() {
    let scene = Scene::new(copilot::set_up);
    let folder = scene.home.workspace();
    let start = |tmux: &Tmux| {
        let command = ["copilot", "--allow-all-tools"];
        Copilot::start_by(tmux, &scene.home, &scene.model, &folder, &command)
    };
    let prompt = |copilot: &Copilot, answer: &str| {
        copilot.prompt("change it");
        copilot.wait_for(answer);
        copilot.wait_ready();
    };
    let tmux = Tmux::start();
    let copilot = start(&tmux);
    is_told_what_was_taken_back(&scene, &COPILOT, |answer| prompt(&copilot, answer));
    tells_the_next(&scene, &COPILOT, |answer| {
        copilot.prompt("/clear");
        copilot.wait_for("1 server connected");
        prompt(&copilot, answer);
    });
    copilot.pane().kill();
    let tmux = Tmux::start();
    tells_the_next(&scene, &COPILOT, |answer| {
        let copilot = start(&tmux);
        wait_connected(&scene, "copilot");
        prompt(&copilot, answer);
    });
}

/// A file that an agent writes in a turn that its hooks tell of is not the file that the person works on: the review tells agents
/// of what is saved, whoever saves it.
#[each_codex(all)]
fn what_codex_writes_is_not_shared_as_what_the_person_saved(release: CodexRelease) {
    let ways = codex::one_start(release);
    let home = Home::new();
    let (tmux, model) = (Tmux::start(), Model::start());
    let review = Review::start(&tmux, &home);
    let start = codex::start(ways, "");
    let codex = Codex::start(&tmux, &home, &model, &start);
    model.script([
        (CODEX.run)("echo one > written.txt; mkdir in; echo two > in/new.txt"),
        Turn::say("the turn is done"),
    ]);
    codex.prompt("change it");
    codex.wait_for("the turn is done");
    codex.wait_ready();
    assert!(home.workspace().join("in/new.txt").exists());
    // Each time another file, as the end of the turn is told a moment later: one that is written all the time is a log.
    let saved = Cell::new(0);
    review
        .pane()
        .wait_until("what the person saves", SOON, |screen| {
            saved.update(|number| number + 1);
            home.file(&format!("mine{}.txt", saved.get()), "mine\n");
            screen.contains("shares mine")
        });
    let context = companion::run(&home, ["context", "--json"]);
    let context = String::from_utf8(context).expect("it is text");
    assert!(context.contains("mine"), "{context}");
    for name in ["written.txt", "new.txt"] {
        assert!(!context.contains(name), "{context}");
    }
}
