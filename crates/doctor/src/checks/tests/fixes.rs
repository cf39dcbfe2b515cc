//! The command of a finding fixes it, in one round, and harms nobody.

use pillion_discovery::survey::Liveness;
use pillion_protocol::discovery::Publisher;

use super::*;
use crate::facts::disk::Closed;

const CLAUDE: Dialect = Dialect::ClaudeCode;
const QWEN: Dialect = Dialect::QwenCode;

/// The first problem besides IDE mode: its id, and its command.
#[track_caller]
fn first(facts: &Facts) -> (&'static str, Option<String>) {
    let problems = judge(facts).into_iter().filter(is_problem);
    let mut others = problems.filter(|it| it.id != Id::IdeModeOff);
    let first = others.next().expect("it does not connect");
    (first.id.as_str(), first.fix)
}

#[track_caller]
fn expect(facts: &Facts, id: &str, fix: &str) {
    assert_eq!(first(facts), (id, Some(fix.to_owned())));
}

#[test]
fn a_folder_that_cannot_be_a_root_gets_one_above_it() {
    for (folder, fix) in [
        ("/w/a", "pillion"),
        ("/w/a:b", "pillion --workspace /w"),
        ("/w/x y/a:b/c", "pillion --workspace '/w/x y'"),
        ("/a:b", "pillion --workspace /"),
    ] {
        for agent in [CLAUDE, GEMINI, QWEN] {
            let mut facts = alone(agent, Release::newest(agent).version);
            facts.search.refusal = Some(Refusal::NoCompanion);
            facts.folder = PathBuf::from(folder);
            expect(&facts, "no-companion", fix);
        }
    }
}

/// One that starts removes what Pillion's dead ones left, and what others left stays without a command.
#[test]
fn a_dead_companion_is_fixed_in_one_round() {
    let both = "rm -f -- /t/gemini/ide/gemini-ide-server-*-4242.json && pillion";
    for (is_pillions, fix) in [(true, "pillion"), (false, both)] {
        for liveness in [Liveness::ProcessGone, Liveness::NobodyListens] {
            let mut facts = beside(GEMINI, NEW, &[Host::Loopback], Outcome::Unreachable);
            let companion = &mut facts.survey.companions[0];
            companion.liveness = liveness;
            companion.files[0].content.pillion = is_pillions.then(|| Publisher::from(7));
            expect(&facts, "dead-companion", fix);
            let problems = judge(&facts).into_iter().filter(is_problem);
            assert_eq!(problems.count(), 1, "one thing to do");
            // Beside one that lives, its files are enough.
            let mut living = companion_at(4343);
            living.files.clear();
            living
                .files
                .push(facts.survey.companions[0].files[0].clone());
            facts.survey.companions.push(living);
            let (_, fix) = first(&facts);
            assert!(fix.unwrap().starts_with("rm -f -- "));
        }
    }
}

fn companion_at(port: u16) -> Companion {
    let facts = beside(GEMINI, NEW, &[Host::Loopback], Outcome::Unreachable);
    let mut companion = facts.survey.companions.into_iter().next().unwrap();
    companion.port = port;
    companion
}

#[test]
fn a_companion_without_a_file_for_the_agent_is_named_with_the_reason() {
    for (closed, part) in [
        (
            Some(("/h/.claude", Closed::ReadOnly)),
            "/h/.claude is on a read-only file system: make it writable, or set CLAUDE_CONFIG_DIR",
        ),
        (
            Some(("/h/.claude/ide", Closed::Forbidden)),
            "/h/.claude/ide is not writable for you",
        ),
        (
            Some(("/t", Closed::Full)),
            "/t is on a file system that is full: free some space",
        ),
        (None, "it was started with another HOME"),
    ] {
        let mut facts = beside(CLAUDE, Version::new(2, 1, 330), &[], Outcome::Unreachable);
        facts.search.refusal = Some(Refusal::NoCompanion);
        facts.search.candidates.clear();
        let companion = &mut facts.survey.companions[0];
        companion.files[0].dialect = GEMINI;
        companion.files[0].content.pillion = Some(Publisher::from(7));
        let closed = closed.map(|(path, why)| (PathBuf::from(path), why));
        facts.disk.closed = closed.into_iter().collect();
        let finding = judge(&facts).into_iter().find(|it| it.id == Id::NoFile);
        let finding = finding.unwrap();
        assert!(
            finding
                .what
                .contains("left no discovery file for Claude Code")
        );
        assert!(finding.why.contains(part), "{}", finding.why);
        assert_eq!(finding.fix.is_some(), facts.disk.closed.is_empty());
        // Another's companion need not serve this agent.
        facts.survey.companions[0].files[0].content.pillion = None;
        expect(&facts, "no-discovery-file", "pillion");
    }
}

/// npm would put a second one beside it.
#[test]
fn what_npm_did_not_install_is_updated_by_itself() {
    let old = Version::new(2, 0, 1);
    for (path, is_packaged, fix) in [
        (
            "/h/.claude/local/claude",
            false,
            "/h/.claude/local/claude update",
        ),
        ("/h/.local/bin/claude", false, "/h/.local/bin/claude update"),
        (
            "/bin/claude",
            true,
            "npm install -g @anthropic-ai/claude-code@latest",
        ),
    ] {
        let mut facts = alone(CLAUDE, old);
        facts.program.path = Some(PathBuf::from(path));
        facts.program.is_packaged = is_packaged;
        expect(&facts, "agent-too-old", fix);
    }
}
