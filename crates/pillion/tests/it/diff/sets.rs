//! Several files that belong together: shown as one set, decided one by one.

use std::fs;
use std::path::PathBuf;

use pillion_testkit::TestProgram;
use serde_json::{Value, json};

use super::{Answer, Asking, kept, number, pending};
use crate::sandbox::{Sandbox, ended, signal};

/// A workspace with files, and with the texts that are proposed for them beside it.
struct Scene {
    sandbox: Sandbox,
    files: Vec<&'static str>,
}

impl Scene {
    /// Each file has the text `old\n`; `new of NAME\n` is proposed.
    fn new(files: &[&'static str]) -> Self {
        let sandbox = Sandbox::new();
        let texts = sandbox.home.workspace().join(".texts");
        fs::create_dir(&texts).unwrap();
        for file in files {
            sandbox.home.file(file, "old\n");
            fs::write(texts.join(file), format!("new of {file}\n")).unwrap();
        }
        let files = files.to_vec();
        Self { sandbox, files }
    }

    fn path(&self, name: &str) -> PathBuf {
        self.sandbox.home.workspace().join(name)
    }

    fn text(&self, name: &str) -> String {
        fs::read_to_string(self.path(name)).unwrap()
    }

    fn args<'a>(&self, files: &[&'a str], more: &[&'a str]) -> Vec<String> {
        let contents = files
            .iter()
            .map(|file| format!("--content-file=.texts/{file}"));
        let args = more.iter().chain(files).map(|arg| (*arg).to_owned());
        args.chain(contents).collect()
    }

    /// `pillion diff` of all files, once all of them are shown. Their numbers, in order.
    fn ask(&self, more: &[&str]) -> (Asking, Vec<String>) {
        let args = self.args(&self.files, more);
        let args: Vec<&str> = args.iter().map(String::as_str).collect();
        let asking = Asking::start(&self.sandbox, &args, b"");
        let shown = pending(&self.sandbox, self.files.len());
        (asking, shown.iter().map(number).collect())
    }

    fn decide(&self, decision: &str, id: &str) {
        self.sandbox.run([decision, id]).expect(0);
    }
}

fn json(answer: &Answer) -> Value {
    serde_json::from_slice(&answer.stdout).unwrap_or_else(|_| panic!("{}", answer.stderr))
}

#[test]
fn each_file_is_decided_on_its_own() {
    let scene = Scene::new(&["a", "b", "c"]);
    let _serve = scene.sandbox.serve::<&str>([]);
    let (asking, ids) = scene.ask(&["--json"]);
    assert_eq!(ids, ["1.1", "2.1", "3.1"]);
    for (diff, place) in pending(&scene.sandbox, 3).iter().zip(1..) {
        assert_eq!(diff["set"], json!({"id": 1, "place": place, "of": 3}));
    }
    let listed = scene.sandbox.run(["diffs"]).expect(0).stdout;
    let second = scene.path("b").display().to_string() + " (2 of 3)\n";
    assert!(listed.contains(&second), "{listed}");

    let edit = ["accept", "3.1", "--content-file", "-"];
    scene.sandbox.run_with_input(edit, b"edited\n").expect(0);
    let why = ["reject", "2.1", "--because", "not this"];
    scene.sandbox.run(why).expect(0);
    pending(&scene.sandbox, 1);
    scene.decide("accept", "1.1");
    let answer = asking.answer();
    let [a, b, c] = ["a", "b", "c"].map(|name| scene.path(name));
    let expected = json!([
        {"path": a, "outcome": "accepted", "content": "new of a\n"},
        {"path": b, "outcome": "rejected", "notes": [{"text": "not this"}]},
        {"path": c, "outcome": "accepted", "content": "edited\n"},
    ]);
    assert_eq!((answer.code, json(&answer)), (Some(1), expected));
    let error = format!(
        "error: 1 of 3 changes were not accepted: {} (rejected)\n",
        b.display()
    );
    assert_eq!(answer.stderr, error);
    assert_eq!(
        scene.text("a"),
        "old\n",
        "it is not written without --write"
    );
}

#[test]
fn what_was_accepted_is_written_and_nothing_else() {
    for (decisions, code) in [
        (["accept", "accept", "accept"], 0),
        (["accept", "reject", "accept"], 1),
        (["reject", "reject", "reject"], 1),
    ] {
        let scene = Scene::new(&["a", "b", "c"]);
        let _serve = scene.sandbox.serve::<&str>([]);
        let (asking, ids) = scene.ask(&["--write"]);
        // The last one first: the order of the decisions is the person's.
        for (decision, id) in decisions.iter().zip(&ids).rev() {
            scene.decide(decision, id);
        }
        assert_eq!(asking.answer().expect(code), "");
        for (decision, name) in decisions.iter().zip(["a", "b", "c"]) {
            let expected = match *decision {
                "accept" => format!("new of {name}\n"),
                _ => "old\n".to_owned(),
            };
            assert_eq!(scene.text(name), expected, "{decisions:?}");
        }
    }
}

#[test]
fn one_file_that_cannot_be_written_keeps_no_other_from_it() {
    let scene = Scene::new(&["a", "b", "c"]);
    let _serve = scene.sandbox.serve::<&str>([]);
    let (asking, ids) = scene.ask(&["--write"]);
    fs::write(scene.path("b"), "somebody's\n").unwrap();
    for id in &ids {
        let args = ["accept", id, "--despite-change"];
        scene.sandbox.run(args).expect(0);
    }
    let answer = asking.answer();
    answer.expect(1);
    assert_eq!(scene.text("a"), "new of a\n");
    assert_eq!(scene.text("b"), "somebody's\n");
    assert_eq!(scene.text("c"), "new of c\n");
    assert!(answer.stderr.contains("b was changed in the meantime"));
    assert_eq!(fs::read_to_string(kept(&answer)).unwrap(), "new of b\n");
}

#[test]
fn a_file_that_has_its_text_already_is_not_asked_about() {
    let scene = Scene::new(&["a", "b", "c"]);
    fs::write(scene.path("b"), "new of b\n").unwrap();
    let serve = scene.sandbox.serve::<&str>([]);
    let args = scene.args(&["a", "b", "c"], &["--json"]);
    let args: Vec<&str> = args.iter().map(String::as_str).collect();
    let asking = Asking::start(&scene.sandbox, &args, b"");
    let shown = pending(&scene.sandbox, 2);
    let places = shown.iter().map(|diff| &diff["set"]["of"]);
    assert!(places.eq([&json!(2), &json!(2)]), "{shown:?}");
    for diff in &shown {
        scene.decide("accept", &number(diff));
    }
    let answer = asking.answer();
    let outcomes = json(&answer);
    let outcomes = outcomes.as_array().unwrap().iter();
    let outcomes: Vec<_> = outcomes.map(|it| it["outcome"].as_str().unwrap()).collect();
    assert_eq!(outcomes, ["accepted", "unchanged", "accepted"]);
    answer.expect(0);
    let said = "b already has this text: there is nothing to decide\n";
    assert!(answer.stderr.ends_with(said), "{}", answer.stderr);

    // Where all have it, nobody needs to be there.
    drop(serve);
    for name in ["a", "c"] {
        fs::write(scene.path(name), format!("new of {name}\n")).unwrap();
    }
    let answer = Asking::start(&scene.sandbox, &args, b"").answer();
    answer.expect(0);
    assert_eq!(json(&answer)[2]["outcome"], "unchanged");
}

#[test]
fn time_and_signals_close_all_views_and_what_was_accepted_counts() {
    for (name, code, outcome) in [
        ("INT", Some(130), "interrupted"),
        ("TERM", Some(143), "interrupted"),
        ("", Some(1), "timedOut"),
    ] {
        for kind in ["--json", "--write"] {
            let scene = Scene::new(&["a", "b", "c"]);
            let _serve = scene.sandbox.serve::<&str>([]);
            let limit = ["--timeout", if name.is_empty() { "3s" } else { "1h" }];
            let (mut asking, ids) = scene.ask(&[limit[0], limit[1], kind]);
            scene.decide("accept", &ids[1]);
            pending(&scene.sandbox, 2);
            if !name.is_empty() {
                signal(&asking.0, name);
            }
            assert_eq!(ended(&mut asking.0), code, "{name}");
            let answer = asking.answer();
            pending(&scene.sandbox, 0);
            if kind == "--write" {
                assert_eq!(scene.text("b"), "new of b\n", "{name}");
                assert_eq!(scene.text("a"), "old\n");
                continue;
            }
            let ends = json(&answer);
            assert_eq!(ends[0]["outcome"], outcome, "{}", answer.stderr);
            assert_eq!(ends[1]["outcome"], "accepted");
            assert_eq!(ends[2]["outcome"], outcome);
        }
    }
}

#[test]
#[ignore = "waits for half a minute: cargo xtask test"]
fn a_proposer_that_is_killed_takes_its_set_along_and_no_other() {
    let scene = Scene::new(&["a", "b", "c"]);
    let _serve = scene.sandbox.serve::<&str>([]);
    let (mut first, _) = scene.ask(&["--write"]);
    let files = [("d", "x\n"), ("e", "x\n")];
    let other = TestProgram::propose(&scene.sandbox.home, &files);
    pending(&scene.sandbox, 5);
    first.0.kill().unwrap();
    first.0.wait().unwrap();
    let left = pending(&scene.sandbox, 2);
    let sets: Vec<_> = left.iter().map(|diff| &diff["set"]["id"]).collect();
    assert_eq!(sets, [&json!(4), &json!(4)], "the number of its first");
    drop(other);
    pending(&scene.sandbox, 0);
}

#[test]
fn two_sets_at_once_stay_two() {
    let scene = Scene::new(&["a", "b", "c"]);
    let _serve = scene.sandbox.serve::<&str>([]);
    let (one, two) = (
        [("a", "x\n"), ("b", "x\n")],
        [("c", "y\n"), ("a", "y\n"), ("b", "y\n")],
    );
    let _programs = [&one[..], &two].map(|files| TestProgram::propose(&scene.sandbox.home, files));
    let places = pending(&scene.sandbox, 5);
    let places = places.iter().map(|diff| {
        let set = &diff["set"];
        let numbers = ["id", "place", "of"].map(|field| set[field].to_string());
        format!("{} {}", number(diff), numbers.join(" "))
    });
    let places: Vec<_> = places.collect();
    assert_eq!(
        places,
        [
            "1.1 1 1 2",
            "2.1 1 2 2",
            "3.1 3 1 3",
            "4.1 3 2 3",
            "5.1 3 3 3"
        ]
    );
}

#[test]
fn what_was_accepted_before_the_companion_went_away_is_written() {
    let scene = Scene::new(&["a", "b"]);
    let mut serve = scene.sandbox.serve::<&str>([]);
    let (asking, ids) = scene.ask(&["--write"]);
    scene.decide("accept", &ids[0]);
    pending(&scene.sandbox, 1);
    serve.signal("KILL");
    serve.ended();
    let answer = asking.answer();
    answer.expect(3);
    assert!(answer.stderr.contains("nobody had decided"));
    assert_eq!(scene.text("a"), "new of a\n");
    assert_eq!(scene.text("b"), "old\n");
}

#[test]
fn what_makes_no_set_is_a_usage_error() {
    let scene = Scene::new(&["a", "b"]);
    std::os::unix::fs::symlink(scene.path("a"), scene.path("link")).unwrap();
    let many: Vec<String> = (0..101).map(|number| format!("{number}")).collect();
    let many = many.iter().map(String::as_str);
    let many: Vec<&str> = many
        .clone()
        .chain(many.flat_map(|_| ["--content-file", "a"]))
        .collect();
    for (args, error, hint) in [
        (
            &["a", "b", "--json"][..],
            "the numbers of FILEs (2) and of --content-file options (0) differ",
            "one --content-file for each FILE",
        ),
        (
            &["a", "b", "--json", "--content-file", "a"],
            "the numbers of FILEs (2) and of --content-file options (1) differ",
            "one --content-file for each FILE",
        ),
        (
            &["a", "--content-file", "b", "--content-file", "b"],
            "the numbers of FILEs (1) and of --content-file options (2) differ",
            "one --content-file for each FILE",
        ),
        (
            &["a", "--content-file", "b", "b", "--content-file", "a"],
            "cannot be told apart on standard output",
            "--write",
        ),
        (
            &["a", "b", "--write", "--content-file=-", "--content-file=-"],
            "standard input is the text of one FILE only",
            "--content-file",
        ),
        (
            &[
                "a",
                "./a",
                "--write",
                "--content-file=b",
                "--content-file=b",
            ],
            "a is there twice",
            "Name each file once",
        ),
        (
            &[
                "a",
                "link",
                "--write",
                "--content-file=b",
                "--content-file=b",
            ],
            "are the same file",
            "Name each file once",
        ),
        (
            &many,
            "101 FILEs are more than a set can have",
            "several sets",
        ),
    ] {
        let args = [&["diff"], args].concat();
        scene.sandbox.run(args).expect_error(2, error, hint);
    }
}
