//! The process that an agent takes for its editor, in real process trees.

use pillion_agent::find::{Release, ide_pid};
use pillion_discovery::Environment;
use pillion_protocol::Dialect;
use pillion_system::process;
use pillion_testkit::IdeProcess;

type Packaged = (&'static str, Dialect, &'static str);

const OLDEST: [Packaged; 2] = [
    ("gemini-cli-core-0.45.0", Dialect::GeminiCli, "0.45.0"),
    ("qwen-code-0.21.2", Dialect::QwenCode, "0.21.2"),
];

const NEWEST: [Packaged; 2] = [
    ("@google/gemini-cli-core", Dialect::GeminiCli, "0.61.0"),
    ("@qwen-code/qwen-code", Dialect::QwenCode, "0.24.4"),
];

/// Ways to start a Node (`"$@"`), as people and tools do.
const LAYOUTS: [(&str, &str); 11] = [
    ("by itself", r#"exec "$@""#),
    ("under sh", r#""$@"; :"#),
    ("under bash under sh", r#"bash -c '"$@"; :' bash "$@"; :"#),
    (
        "under a login shell",
        r#"bash -l -c '"$@"; :' bash "$@"; :"#,
    ),
    (
        "under a shell with a dash before its name",
        r#"(exec -a -bash bash -c '"$@"; :' bash "$@") 2>/dev/null || bash -c 'exec -a -bash bash -c "\"\$@\"; :" bash "$@"' bash "$@"; :"#,
    ),
    ("in a session of its own", r#"setsid --wait "$@"; :"#),
    ("orphaned", r#"{ setsid "$@" <&3 & } 3<&0; wait"#),
    (
        "orphaned twice",
        r#"bash -c 'exec 3<&0; (setsid "$@" <&3 & )' bash "$@"; sleep 600"#,
    ),
    (
        "as npx does",
        r#"bash -c 'perl -e "system(@ARGV)" sh -c "\"\$0\" \"\$@\"; :" "$@"; :' bash "$@"; :"#,
    ),
    (
        "under a shell with another name",
        r#"ln -sf "$(command -v bash)" "$T/fish"; "$T/fish" -c '"$@"; :' fish "$@"; :"#,
    ),
    (
        "under a program with a blank in its name",
        r#"ln -sf "$(command -v bash)" "$T/my bash"; "$T/my bash" -c '"$@"; :' x "$@"; :"#,
    ),
];

#[test]
#[ignore = "needs the real agents: the client library of Gemini CLI, and Qwen Code"]
fn the_editors_process_is_the_one_that_the_newest_releases_find() {
    is_the_one_that_is_found(NEWEST);
}

#[test]
#[ignore = "in --all: needs the real agents: the client library of Gemini CLI 0.45.0, and Qwen Code 0.21.2"]
fn the_editors_process_is_the_one_that_the_oldest_releases_find() {
    is_the_one_that_is_found(OLDEST);
}

fn is_the_one_that_is_found(releases: [Packaged; 2]) {
    let folder = tempfile::tempdir().unwrap();
    let prefix = format!("T='{}'; ", folder.path().display());
    let packages = releases.map(|(package, ..)| package);
    let mut seen = Vec::new();
    for (layout, command) in LAYOUTS {
        let started = IdeProcess::start(&format!("{prefix}{command}"), &packages);
        let chain = process::chain(started.pid());
        assert_eq!(chain[0].pid, started.pid(), "{layout}");
        for ((_, agent, version), found) in releases.iter().zip(started.found()) {
            let release = Release {
                agent: *agent,
                version: version.parse().unwrap(),
            };
            let ours = ide_pid(*agent, &Environment::default(), &chain);
            assert_eq!(ours, Some(*found), "{layout}, {release}: {chain:#?}");
        }
        let steps = chain
            .iter()
            .position(|process| process.pid == started.found()[0]);
        seen.push(steps);
    }
    // Not all layouts come to the same, or this proves little.
    seen.sort_unstable();
    seen.dedup();
    assert!(seen.len() >= 3, "{seen:?}");
}
