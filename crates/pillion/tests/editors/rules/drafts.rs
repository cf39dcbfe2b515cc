//! A draft of a proposal outlives the agent and the hub: undo, or a command, brings it back when the file is proposed again.

use std::process::Command;
use std::thread::sleep;
use std::time::{Duration, Instant};

use pillion_protocol::Dialect;
use pillion_testkit::{SOON, each_editor};
use serde_json::Value;

use crate::driver::Kind;
use crate::person::{PROPOSED, Person};

/// A key of which nothing has come by then was not taken.
const IGNORED: Duration = Duration::from_secs(5);

/// The pause between two looks.
const PAUSE: Duration = Duration::from_millis(100);

#[each_editor]
fn edits_outlive_the_agent(kind: Kind) {
    let mut person = Person::new(kind);
    let edited = edit(&person, "mine");
    let next = person.agent(Dialect::GeminiCli);
    std::mem::replace(&mut person.gemini, next).disconnect();
    person.leave_undecided();
    come_back(person, &[edited]);
}

#[each_editor]
fn edits_outlive_the_hub(kind: Kind) {
    let mut person = Person::new(kind);
    let edited = edit(&person, "mine");
    let hub = hub(&person).unwrap();
    let mut kill = Command::new("kill");
    let status = kill.args(["-s", "KILL", &hub.to_string()]).status();
    assert!(status.unwrap().success());
    person.leave_undecided();
    let started = Instant::now();
    while self::hub(&person).is_none_or(|it| it == hub) {
        assert!(started.elapsed() < SOON, "another hub");
        sleep(PAUSE);
    }
    person.gemini = person.agent(Dialect::GeminiCli);
    come_back(person, &[edited]);
}

#[each_editor]
fn several_texts_come_back_one_after_the_other_the_newest_first(kind: Kind) {
    let person = Person::new(kind);
    let texts = ["older", "newer"].map(|line| {
        let edited = edit(&person, line);
        person.withdraw();
        edited
    });
    let [older, newer] = texts;
    come_back(person, &[newer, older]);
}

fn hub(person: &Person) -> Option<u64> {
    let listed: Value = serde_json::from_str(&person.pillion(&["list", "--json"])).unwrap();
    listed[0]["pid"].as_u64()
}

/// The person edits a proposal, which is kept. The text.
fn edit(person: &Person, line: &str) -> String {
    person.propose(PROPOSED);
    person.editor.append(line);
    let edited = format!("{PROPOSED}{line}\n");
    let started = Instant::now();
    while !kept(person).contains(&edited) {
        assert!(started.elapsed() < SOON, "{:?}", kept(person));
        sleep(PAUSE);
    }
    edited
}

/// The undecided texts, as the log has them.
fn kept(person: &Person) -> Vec<String> {
    let log: Vec<Value> = serde_json::from_str(&person.pillion(&["log", "--json"])).unwrap();
    let undecided = log.iter().filter(|it| it["state"] == "not decided");
    undecided
        .map(|it| person.pillion(&["show", it["id"].as_str().unwrap(), "--text"]))
        .collect()
}

/// The same is proposed again: nothing comes of what was kept, until the person takes it back. The last of it is accepted.
fn come_back(mut person: Person, texts: &[String]) {
    person.propose(PROPOSED);
    assert_eq!(person.editor.text(), PROPOSED);
    for edited in texts {
        let started = Instant::now();
        while person.editor.text() != *edited {
            assert!(started.elapsed() < SOON, "{}", person.editor.describe());
            let before = person.editor.text();
            person.editor.bring_back();
            // A second time before the first has come would bring the one before, too.
            let pressed = Instant::now();
            while person.editor.text() == before && pressed.elapsed() < IGNORED {
                sleep(PAUSE);
            }
        }
    }
    person.look();
    person.accept_whatever_is_asked();
    person.is_accepted(texts.last().unwrap());
}
