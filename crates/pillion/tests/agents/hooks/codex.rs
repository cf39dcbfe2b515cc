//! Codex CLI with its hooks, in both releases, which call the tool for patches directly and in JavaScript: `codex exec`,
//! and in a terminal in a sandbox in which it would ask about each patch.

use std::path::Path;
use std::process::Child;
use std::time::Instant;

use pillion_protocol::Dialect;
use pillion_testkit::{
    Codex, CodexHook, CodexModel, CodexRelease, CodexStart, Tmux, Turn, all_of, each_codex, pause,
};

use super::{BEFORE, Decision, Home, PILLION, SOON, Scene, ended};
use crate::companion::{self, Serve, wait_until};
use crate::review::Review;
use crate::shared_encodings::assert_bytes;

/// The entries of our hook, with these options.
fn hooks(options: &str) -> Vec<CodexHook> {
    let command = format!("'{PILLION}' hook codex {options}");
    let hooks = pillion_hooks::of(Dialect::CodexCli);
    let entries = hooks.entries(command.trim()).into_iter();
    let text = |value: &serde_json::Value| value.as_str().expect("it is a text").to_owned();
    { entries }
        .map(|entry| {
            let hook = &entry.item["hooks"][0];
            CodexHook {
                event: entry.event,
                matcher: entry.item["matcher"].as_str().map(str::to_owned),
                command: text(&hook["command"]),
                timeout: hook["timeout"].as_u64().expect("it is a number"),
            }
        })
        .collect()
}

/// A release with each way to call tools.
pub(super) fn starts(release: CodexRelease) -> [(CodexRelease, CodexModel); 2] {
    [CodexModel::Direct, CodexModel::Code].map(|model| (release, model))
}

/// Where one way to call tools is enough: another one in each release.
pub(super) fn one_start(release: CodexRelease) -> (CodexRelease, CodexModel) {
    match release {
        CodexRelease::V0_169 => (release, CodexModel::Direct),
        CodexRelease::V0_171 => (release, CodexModel::Code),
    }
}

pub(super) fn start((release, model): (CodexRelease, CodexModel), options: &str) -> CodexStart {
    CodexStart {
        release,
        model,
        sandbox: "workspace-write",
        hooks: hooks(options),
    }
}

/// Starts one that prints its answer and ends.
pub(super) fn exec(scene: &Scene, start: &CodexStart) -> Child {
    start.set_up(&scene.home, &scene.model, &scene.home.workspace());
    let codex = start.release.bin().join("codex").display().to_string();
    let flags = ["--dangerously-bypass-hook-trust", "--skip-git-repo-check"];
    let command = [&codex, "exec", flags[0], flags[1], "change it"];
    scene.start(&start.env(scene.home.env()), &command)
}

fn assert_done(agent: Child) {
    let printed = ended(agent);
    assert!(printed.has_succeeded, "{}", printed.output);
    let is_done = printed.output.contains("the turn is done");
    assert!(is_done, "{}", printed.output);
}

const EDIT: &str = "*** Update File: NAME\n@@\n-two\n+zwei\n";

/// Codex ends the last line of each text that it updates, and the person is shown that. It adds, moves and deletes files, too.
#[each_codex]
fn codex_makes_the_changes_that_its_hook_allows_byte_for_byte(release: CodexRelease) {
    let set = "*** Add File: sub/new.txt\n+new\n*** Delete File: gone.txt\n\
               *** Update File: from.txt\n*** Move to: to.txt\n@@\n-two\n+zwei\n";
    let starts = starts(release);
    for (number, ways) in starts.into_iter().enumerate() {
        let scene = Scene::new(|_| ());
        let encodings = super::encodings_of(number, starts.len());
        let files = encodings.map(|(kind, encode)| {
            let file = scene.home.file(&format!("{kind}.txt"), encode(BEFORE));
            (kind, encode, file)
        });
        let files: Vec<_> = files.collect();
        let [gone, from] = ["gone.txt", "from.txt"].map(|name| scene.home.file(name, BEFORE));
        let [new, to] = ["sub/new.txt", "to.txt"].map(|name| scene.home.workspace().join(name));
        let edits = files.iter().flat_map(|(kind, ..)| {
            let first = EDIT.replace("NAME", &format!("{kind}.txt"));
            let second = first.replace("zwei", "deux").replace("two", "zwei");
            [Turn::patch(&first), Turn::patch(&second)]
        });
        scene.script(edits.chain([Turn::patch(set)]));
        let codex = exec(&scene, &start(ways, ""));
        for (kind, encode, file) in &files {
            let written = |text: &str| {
                let mut bytes = encode(text);
                if !bytes.ends_with(b"\n") {
                    bytes.push(b'\n');
                }
                bytes
            };
            scene.decide(file, &Decision::Accept);
            // It proposes the next change once it has made this one.
            let next = companion::wait_pending(&scene.home, file);
            assert_bytes(file, &written(&BEFORE.replace("two", "zwei")));
            let dos = format!("dos {kind}");
            let accepted = BEFORE.replace("two", &dos).replace("three", "tres");
            let accepted = written(&accepted);
            scene.decide_about(&next.name, &Decision::Edit(&accepted));
            scene.wait_told(&format!("+{dos}"));
            assert_bytes(file, &accepted);
        }
        let decisions = [
            (&*new, Decision::Edit(b"newer\n")),
            (&*gone, Decision::Accept),
            (&*from, Decision::Accept),
            (&*to, Decision::Accept),
        ];
        scene.decide_all(&decisions);
        assert_done(codex);
        assert_bytes(&new, b"newer\n");
        assert_bytes(&to, BEFORE.replace("two", "zwei").as_bytes());
        assert!(!gone.exists() && !from.exists());
    }
}

#[each_codex]
fn codex_hears_why_a_file_of_a_patch_was_rejected_and_writes_the_others(release: CodexRelease) {
    let scene = Scene::new(|_| ());
    let names = ["first.txt", "second.txt", "third.txt"];
    let patch = names.map(|name| EDIT.replace("NAME", name)).concat();
    let deletion = names.map(|name| format!("*** Delete File: {name}\n"));
    let second = EDIT.replace("NAME", names[1]);
    for (number, ways) in starts(release).into_iter().enumerate() {
        let files = names.map(|name| scene.home.file(name, BEFORE));
        scene.script([&patch, &deletion.concat(), &second].map(|it| Turn::patch(it)));
        let codex = exec(&scene, &start(ways, ""));
        let why = format!("not this one, {number}");
        let decisions = [
            (&*files[0], Decision::Accept),
            (&*files[1], Decision::Reject(&why)),
            (&*files[2], Decision::Accept),
        ];
        scene.decide_all(&decisions);
        scene.wait_told(&format!("and says: {why}"));
        let after = BEFORE.replace("two", "zwei");
        for (file, text) in files.iter().zip([&after, BEFORE, &after]) {
            assert_bytes(file, text.as_bytes());
        }
        // All of it is rejected.
        let why = format!("none of them, {number}");
        let decisions = files
            .each_ref()
            .map(|file| (&**file, Decision::Reject(&why)));
        scene.decide_all(&decisions);
        scene.wait_told(&format!("and says: {why}"));
        assert!(files.iter().all(|file| file.exists()));
        // A note on what is accepted as it is.
        let note = format!("and the tests, {number}");
        let pending = companion::wait_pending(&scene.home, &files[1]);
        companion::run(&scene.home, ["accept", &pending.name, "--because", &note]);
        scene.wait_told(&format!("and says: {note}"));
        assert_done(codex);
        assert!(files.iter().all(|file| file.exists()));
        assert_bytes(&files[1], after.as_bytes());
    }
}

#[each_codex(all)]
fn codex_writes_over_a_newer_text_what_was_accepted(release: CodexRelease) {
    let ways = one_start(release);
    let scene = Scene::new(|_| ());
    let turns = |file: &Path, _| {
        let name = file.file_name().expect("it has a name").to_string_lossy();
        vec![Turn::patch(&EDIT.replace("NAME", &name))]
    };
    let exec = |scene: &Scene| exec(scene, &start(ways, ""));
    let files = super::accept_over(&scene, turns, exec);
    scene.wait_told_times("has changed since you proposed this", files.len());
    for (file, accepted) in files {
        assert_bytes(&file, accepted.as_bytes());
    }
}

#[each_codex]
fn codex_is_shown_in_commands_too_and_refused_what_cannot_be_shown(release: CodexRelease) {
    for ways in starts(release) {
        let scene = Scene::new(|_| ());
        let run = |command: String| Turn::CallTool {
            name: "exec_command",
            input: serde_json::json!({ "cmd": command }),
        };
        let apply = |name: &str| {
            let patch = EDIT.replace("NAME", name);
            format!("apply_patch <<'EOF'\n*** Begin Patch\n{patch}*** End Patch\nEOF\n")
        };
        let [a, b, c] = ["a.txt", "b.txt", "c.txt"].map(|name| scene.home.file(name, BEFORE));
        scene.script([
            run(apply("a.txt")),
            run(format!("true && {}", apply("b.txt"))),
            Turn::patch(&EDIT.replace("NAME", "c.txt")),
        ]);
        let codex = exec(&scene, &start(ways, ""));
        scene.decide(&a, &Decision::Edit(b"one\n2\nthree\n"));
        scene.wait_told("Use the apply_patch tool");
        assert_bytes(&a, b"one\n2\nthree\n");
        assert_bytes(&b, BEFORE.as_bytes());
        // The person wants what no patch can express.
        scene.decide(&c, &Decision::Edit(b"one\n2"));
        scene.wait_told("Nothing was written to ");
        assert_done(codex);
        assert_bytes(&b, BEFORE.as_bytes());
        assert_bytes(&c, BEFORE.as_bytes());
    }
}

#[each_codex]
fn codex_writes_nothing_that_nobody_has_decided_about(release: CodexRelease) {
    let ways = one_start(release);
    let mut scene = Scene::new(|_| ());
    let file = scene.home.file("a.txt", BEFORE);
    let patch = || Turn::patch(&EDIT.replace("NAME", "a.txt"));
    scene.script([patch()]);
    let codex = exec(&scene, &start(ways, "--limit 2"));
    scene.wait_told("nobody decided in time");
    assert_done(codex);
    assert_bytes(&file, BEFORE.as_bytes());

    // The companion is killed while it shows the change: until it is back, nothing is written.
    let other = scene.home.file("b.txt", BEFORE);
    let patch_other = || Turn::patch(&EDIT.replace("NAME", "b.txt"));
    scene.script([patch_other(), patch_other()]);
    let codex = exec(&scene, &start(ways, ""));
    companion::wait_pending(&scene.home, &other);
    drop(scene.serve.take());
    assert_done(codex);
    scene.wait_told_both("b.txt", "The change was not made");
    scene.wait_told("the user has to start it again");
    assert_bytes(&other, BEFORE.as_bytes());

    // Without one that was killed, Codex goes its own way.
    Serve::start(&scene.home).end();
    scene.script([patch_other()]);
    assert_done(exec(&scene, &start(ways, "")));
    assert_bytes(&other, BEFORE.replace("two", "zwei").as_bytes());

    // Unless it is to be strict.
    scene.script([patch()]);
    assert_done(exec(&scene, &start(ways, "--strict")));
    scene.wait_told("no one is available");
    assert_bytes(&file, BEFORE.as_bytes());
}

/// Its hooks run for subagents, too.
#[each_codex(all)]
fn codexs_subagents_write_what_its_hook_allows_and_hear_why_not(release: CodexRelease) {
    let scene = Scene::new(|_| ());
    let names = ["first.txt", "second.txt"];
    let patch = names.map(|name| EDIT.replace("NAME", name)).concat();
    let files = names.map(|name| scene.home.file(name, BEFORE));
    let why = "not by a helper";
    scene.script(Turn::codex_subagent());
    scene
        .model
        .script_subagent([Turn::patch(&patch), Turn::say("the helper is done")]);
    let codex = exec(&scene, &start((release, CodexModel::Code), ""));
    let edited = BEFORE.replace("two", "deux");
    let decisions = [
        (&*files[0], Decision::Edit(edited.as_bytes())),
        (&*files[1], Decision::Reject(why)),
    ];
    scene.decide_all(&decisions);
    let told = scene.wait_told(&format!("and says: {why}"));
    assert!(told.mentions("NEW_TASK"), "the subagent is told");
    assert_done(codex);
    assert_bytes(&files[0], edited.as_bytes());
    assert_bytes(&files[1], BEFORE.as_bytes());
}

/// The review says that a file is deleted before it is. Nothing runs on afterwards.
#[each_codex]
fn codex_asks_no_question_about_what_was_reviewed(release: CodexRelease) {
    for ways in starts(release) {
        let scene = Scene::new(|_| ());
        let tmux = Tmux::start();
        let review = Review::start(&tmux, &scene.home);
        let start = CodexStart {
            sandbox: "read-only",
            ..start(ways, "")
        };
        let codex = Codex::start(&tmux, &scene.home, &scene.model, &start);
        let file = scene.home.file("a.txt", BEFORE);
        scene.script([Turn::patch(&EDIT.replace("NAME", "a.txt"))]);
        codex.prompt("change it");
        review.pane().wait_for("proposes a.txt", SOON);
        review.accept("a.txt");
        codex.wait_for("the turn is done");
        assert_bytes(&file, BEFORE.replace("two", "zwei").as_bytes());

        // Another text than the proposed one is approved, too.
        scene.script([Turn::patch(
            &EDIT.replace("two", "one").replace("NAME", "a.txt"),
        )]);
        codex.prompt("change it again");
        let pending = companion::wait_pending(&scene.home, &file);
        scene.decide_about(&pending.name, &Decision::Edit(b"mine\n"));
        let told = scene.wait_told("+mine");
        assert!(told.mentions("The user edited your change"));
        codex.wait_ready();
        assert_bytes(&file, b"mine\n");

        scene.script([Turn::patch("*** Delete File: a.txt\n")]);
        codex.prompt("delete it");
        review.pane().wait_for("proposes to delete a.txt", SOON);
        review.press("a", "accepting this deletes a.txt");
        review.confirm("accepted a.txt");
        wait_until("a deleted file", || (!file.exists()).then_some(()));
        codex.wait_ready();

        // Who interrupts it takes the change away.
        let file = scene.home.file("b.txt", BEFORE);
        scene.script([Turn::patch(&EDIT.replace("NAME", "b.txt"))]);
        codex.prompt("change another one");
        super::stop_while_its_hook_waits(&scene.home, &file, || codex.interrupt());
        review.pane().wait_gone("proposes b.txt", SOON);

        let Scene { serve, home, .. } = scene;
        drop((codex, review, tmux, serve));
        assert_nothing_runs(&home);
    }
}

fn assert_nothing_runs(home: &Home) {
    let started = Instant::now();
    while !all_of(home).is_empty() {
        assert!(started.elapsed() < SOON, "{:?} still run", all_of(home));
        pause(started);
    }
}
