//! Proposals, and how they are decided.

use std::fs;

use pillion_protocol::Dialect;
use pillion_testkit::client::Update;
use pillion_testkit::{
    Claude, ClaudeRelease, EmacsVersion, Model, TestAgent, Turn, each_emacs_client,
};

use super::scene::{BEFORE, Client, Scene};

/// The lines that are removed, and such, from the first to the last.
const HUNKS: &str = "(vconcat (mapcar #'flymake-diagnostic-text (sort (flymake-diagnostics) \
    (lambda (a b) (< (flymake-diagnostic-beg a) (flymake-diagnostic-beg b))))))";

#[each_emacs_client]
fn a_proposal_is_decided_by_a_code_action_or_by_killing_its_buffer(
    client: Client,
    version: EmacsVersion,
) {
    let scene = Scene::start(client, version, BEFORE);
    let Scene {
        emacs, path, home, ..
    } = &scene;
    let mut gemini = TestAgent::find(home, Dialect::GeminiCli);
    let name = path.display().to_string();
    let rejected = Update::DiffRejected { path: name.clone() };
    let before = scene.published();
    assert_eq!(before.len(), 1);

    gemini.propose(path, "one\nTWO\nthree\nfour\n");
    scene.go("poem");
    // eglot has started another server, which serves nobody.
    let servers = if client == Client::Eglot { 2 } else { 1 };
    assert_eq!(scene.servers(), servers);
    assert_eq!(scene.published(), before);
    let hunks: Vec<String> = emacs.get(HUNKS);
    let [first, second] = hunks.as_slice() else {
        panic!("{hunks:?}");
    };
    assert!(
        first.ends_with("two") && second.ends_with("1 new line."),
        "{hunks:?}"
    );
    scene.type_at_end("mine\n");
    emacs.input_until("<C-x><C-s>", "(not (buffer-modified-p))");
    // If saving had decided, it would be without this.
    scene.type_at_end("too\n");
    scene.accept();
    let edited = "one\nTWO\nthree\nfour\nmine\ntoo\n";
    assert_eq!(gemini.outcome(), Update::accepted(name, edited));
    emacs.wait_until("no hunks", "(null (flymake-diagnostics))");
    scene.close();
    // Of a proposal that is closed nothing is left.
    scene.wait_servers(1);

    gemini.propose(path, "one\nDREI\n");
    scene.go("poem");
    scene.type_at_end("mine");
    scene.reject();
    assert_eq!(gemini.outcome(), rejected);
    scene.close();

    gemini.propose(path, "one\n");
    scene.go("poem");
    scene.close();
    assert_eq!(gemini.outcome(), rejected);
    assert_eq!(fs::read_to_string(path).unwrap(), BEFORE);
    scene.wait_servers(1);
    assert_eq!(scene.published(), before);
    emacs.assert_no_errors();
}

/// Bytes that Emacs does not show in a buffer: how lines end, a mark, a missing last line end.
#[each_emacs_client]
fn texts_are_accepted_byte_for_byte(client: Client, version: EmacsVersion) {
    let scene = Scene::start(client, version, BEFORE);
    let mut gemini = TestAgent::find(&scene.home, Dialect::GeminiCli);
    for (proposed, edited) in [
        ("a\r\nb\r\nc", "a\r\nb\r\ncmine"),
        ("\u{feff}a\nb\n", "\u{feff}a\nb\nmine"),
        ("a\r\nb\nc\r\n", "a\r\nb\nc\r\nmine"),
        ("\u{feff}é\u{2028}😀\r\n", "\u{feff}é\u{2028}😀\r\nmine"),
    ] {
        for expected in [proposed, edited] {
            gemini.propose(&scene.path, proposed);
            scene.go("poem");
            if expected == edited {
                scene.type_at_end("mine");
            }
            scene.accept();
            let path = scene.path.display().to_string();
            assert_eq!(gemini.outcome(), Update::accepted(path, expected));
            scene.close();
        }
    }
}

#[each_emacs_client(claude_code)]
fn the_real_claude_code_writes_what_is_accepted(client: Client, version: EmacsVersion) {
    let scene = Scene::start(client, version, &BEFORE.replace('\n', "\r\n"));
    let Scene {
        path, home, tmux, ..
    } = &scene;
    let model = Model::start();
    let claude = Claude::start(ClaudeRelease::Native, tmux, home, &model, &home.workspace());
    claude.wait_for(&format!("⧉ In {}", client.file("poem")));
    model.script([
        Turn::read_file(path),
        Turn::replace(path, "two", "TWO"),
        Turn::say("that is done"),
    ]);
    claude.prompt("change it");
    claude.wait_question();
    scene.go("poem");
    scene.type_at_end("mine");
    scene.accept();
    claude.wait_for("that is done");
    let edited = "one\r\nTWO\r\nthree\r\nmine";
    assert_eq!(fs::read_to_string(path).unwrap(), edited);
}
