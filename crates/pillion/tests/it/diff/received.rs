//! What was accepted for a program that does not say that it has got it.

use std::fs;

use pillion_discovery::state;
use pillion_protocol::ProposedFile;
use pillion_view::Client;
use pillion_view::ask::{Decisions, PassedOn, Propose};

use super::{number, pending};
use crate::sandbox::Sandbox;

/// The texts that are kept for the person.
fn kept(sandbox: &Sandbox) -> Vec<String> {
    let folders = fs::read_dir(sandbox.home.tmp()).unwrap().flatten();
    let folders = folders.filter(|it| {
        it.file_name()
            .to_string_lossy()
            .starts_with("pillion-kept-")
    });
    let files = folders.flat_map(|folder| fs::read_dir(folder.path()).unwrap().flatten());
    files
        .map(|file| fs::read_to_string(file.path()).unwrap())
        .collect()
}

#[test]
fn an_accepted_text_is_kept_if_the_program_ends_before_it_has_got_it() {
    for (asks, says, is_kept) in [
        (false, false, true),
        (true, false, true),
        (true, true, false),
    ] {
        let sandbox = Sandbox::new();
        let mut serve = sandbox.serve::<&str>([]);
        let path = sandbox.home.file("a.txt", "one\n");
        let companion = state::list(&sandbox.environment()).remove(0);
        let mut program = Client::new(&companion).unwrap().connect().unwrap();
        let file = ProposedFile::new(path.to_str().unwrap(), "two\n");
        let propose = Propose {
            files: vec![file],
            ..Propose::default()
        };
        program.ask(propose).unwrap();
        let id = number(&pending(&sandbox, 1)[0]);
        let edited = sandbox.home.file("edited", "edited\n");
        let edited = edited.to_str().unwrap();
        let accept = ["accept", &id, "--content-file", edited];
        sandbox.run(accept).expect(0);
        if asks {
            assert_eq!(program.ask(Decisions).unwrap().ends.len(), 1);
        }
        if says {
            program.ask(PassedOn).unwrap();
        }
        drop(program);
        // What is lost is kept before the companion has ended.
        serve.signal("TERM");
        serve.ended();
        let expected: &[&str] = if is_kept { &["edited\n"] } else { &[] };
        assert_eq!(kept(&sandbox), expected, "{asks} {says}");
    }
}
