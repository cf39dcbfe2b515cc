//! The boundaries that `docs/architecture.md` promises, checked against the sources.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on says where")]

mod source;

use source::{Source, read};

impl Source {
    /// The text without unit tests: those at its end, or all of a file that holds nothing else.
    fn code(&self) -> &str {
        let path = &self.path;
        if path.contains("/src/") && (path.ends_with("/tests.rs") || path.contains("/tests/")) {
            return "";
        }
        self.text.split("\nmod tests {").next().unwrap_or_default()
    }
}

/// The Rust files.
fn sources() -> Vec<Source> {
    read(&["crates", "tools", "xtask"], "rs")
}

/// Fails for every file below `below` that says one of `words`, unless its path starts with one of
/// `except`.
fn forbid(below: &str, words: &[&str], except: &[&str]) {
    let mut offenders = Vec::new();
    for source in sources() {
        let is_excepted = except.iter().any(|start| source.path.starts_with(start));
        if !source.path.starts_with(below) || is_excepted {
            continue;
        }
        for (number, line) in source.code().lines().enumerate() {
            let code = line.trim_start();
            if !code.starts_with("//") && words.iter().any(|word| code.contains(word)) {
                offenders.push(format!("{}:{}: {code}", source.path, number + 1));
            }
        }
    }
    assert!(offenders.is_empty(), "{}", offenders.join("\n"));
}

/// Each crate and those that it may use, in the order of `docs/architecture.md`.
#[test]
fn arrows_between_crates_point_one_way() {
    let levels: [&[&str]; 6] = [
        &["protocol", "text", "http", "system"],
        &["discovery", "hooks"],
        &["view", "changes"],
        &["companion", "agent", "judge", "conformance"],
        &["review", "web", "lsp", "kakoune", "doctor"],
        &["pillion"],
    ];
    let level = |name: &str| levels.iter().position(|level| level.contains(&name));
    let mut seen = 0;
    for Source { path, text } in read(&["crates", "tools"], "toml") {
        let name = path.split('/').nth(1).unwrap();
        if name == "testkit" {
            continue;
        }
        // Nothing is built from a program of its own.
        assert!(
            name == "conformance" || !text.contains("companion-conformance"),
            "{name}"
        );
        let own = level(name).unwrap_or_else(|| panic!("{name} has no level"));
        let code = text.split("[dev-dependencies]").next().unwrap();
        let uses = code
            .lines()
            .filter_map(|line| line.strip_prefix("pillion-"));
        for used in uses {
            let used = used.split(' ').next().unwrap();
            // A macro names its own module, too.
            let is_above = level(used).is_none_or(|level| level > own);
            assert!(!is_above, "{name} uses {used}");
            let views = ["judge", "review", "web", "lsp", "kakoune"];
            assert!(used != "companion" || !views.contains(&name), "{name}");
        }
        seen += 1;
    }
    assert_eq!(seen, levels.concat().len(), "every crate is there");
}

#[test]
fn protocol_and_hooks_do_no_io_and_have_no_clock() {
    let words = [
        "std::fs",
        "std::net",
        "std::io",
        "std::env",
        "Instant",
        "SystemTime",
        "tokio",
    ];
    forbid("crates/protocol/src", &words, &[]);
    forbid("crates/hooks/src", &words, &[]);
}

#[test]
fn state_machines_know_no_sockets_and_no_clock() {
    let words = [
        "tokio",
        "std::fs",
        "Instant::now(",
        "SystemTime",
        "hyper",
        "http::",
    ];
    let all = "context diffs/steps diffs gate hub/workspaces sessions views/audience";
    for machine in all.split(' ') {
        let path = format!("crates/companion/src/{machine}.rs");
        let source = sources().into_iter().find(|it| it.path == path);
        let source = source.unwrap();
        for word in words {
            assert!(!source.code().contains(word), "{path} says {word}");
        }
    }
}

#[test]
fn the_judge_knows_no_screen() {
    let toml = read(&["crates/judge"], "toml").remove(0).text;
    for library in ["ratatui", "crossterm", "tui-"] {
        assert!(!toml.contains(library), "{library}");
    }
}

#[test]
fn one_module_of_the_language_server_knows_its_pipes() {
    let transport = "crates/lsp/src/transport.rs";
    forbid("crates/lsp/src", &["io::stdin", "io::stdout"], &[transport]);
}

#[test]
fn the_mcp_core_knows_no_transport() {
    let transports = ["endpoint", "hyper", "http::", "tokio::net"];
    forbid("crates/companion/src/mcp", &transports, &[]);
}

/// The data and the behaviour of an agent are in its homes; every other file that names one is listed.
#[test]
fn only_these_files_name_an_agent() {
    let words = [
        "claude", "gemini", "qwen", "opencode", "copilot", "codex", "kimi", "vibe",
    ];
    let homes = [
        "crates/protocol/src/dialect/agents",
        "crates/protocol/src/claude",
        "crates/protocol/src/copilot",
        "crates/protocol/src/codex.rs",
        "crates/companion/src/agents",
    ];
    let names_one = |code: &str| {
        let mut lines = code.lines().map(str::trim_start);
        lines.any(|line| !line.starts_with("//") && words.iter().any(|word| line.contains(word)))
    };
    let crates = [
        "crates/protocol/src",
        "crates/view/src",
        "crates/companion/src",
    ];
    let mut found = read(&crates, "rs");
    found.retain(|source| !homes.iter().any(|home| source.path.starts_with(home)));
    found.retain(|source| names_one(&source.code().to_lowercase()));
    let mut found: Vec<_> = found.iter().map(|it| it.path.as_str()).collect();
    found.sort_unstable();
    let listed = "companion/src/agent/choices.rs companion/src/agent/mode.rs companion/src/discovery.rs \
        companion/src/endpoint/guard.rs \
        companion/src/endpoint/websocket.rs \
        companion/src/succession.rs \
        protocol/src/dialect.rs \
        protocol/src/dialect/place.rs \
        protocol/src/lib.rs";
    let listed: Vec<_> = listed
        .split(' ')
        .map(|path| format!("crates/{path}"))
        .collect();
    assert_eq!(found, listed);
}

#[test]
fn http_stays_at_the_edges() {
    let edges = [
        "crates/companion/src/endpoint",
        "crates/agent",
        "crates/http/src",
        "crates/testkit",
        "crates/web/src/door.rs",
        "crates/web/src/routes.rs",
        "crates/web/src/server.rs",
    ];
    forbid("crates", &["axum::", "hyper::", "http::"], &edges);
    forbid("crates", &["hyper::client"], &["crates/http/src"]);
}

/// On Windows the standard library's spelling of a real path is one that agents cannot resolve.
#[test]
fn one_function_asks_for_real_paths() {
    let others = [
        "crates/discovery/src/real_path.rs",
        "crates/agent/tests",
        "crates/companion/tests",
        "crates/pillion/build.rs",
        "crates/pillion/tests",
        "crates/testkit",
    ];
    let words = [".canonicalize(", "fs::canonicalize("];
    forbid("crates", &words, &others);
    forbid("tools", &words, &["tools/conformance/tests"]);
}

#[test]
fn the_companion_knows_no_terminal_and_no_editor() {
    let words = ["ratatui", "crossterm", "neovim", "nvim"];
    forbid("crates/companion/src", &words, &[]);
}

#[test]
fn the_companion_writes_no_files() {
    // Its own go through `pillion_discovery`.
    let words = [
        "fs::write",
        "File::create",
        ".write(true)",
        ".append(true)",
        ".create(true)",
        ".create_new(true)",
        "fs::remove",
        "fs::rename",
    ];
    forbid("crates/companion/src", &words, &[]);
}

/// Looking for a companion deletes and writes nothing that an agent would.
#[test]
fn finding_a_companion_changes_nothing() {
    let words = [
        "fs::write",
        "File::create",
        ".write(",
        ".create(",
        "fs::remove",
        "fs::rename",
    ];
    forbid("crates/agent/src/find", &words, &[]);
}

#[test]
fn the_agents_side_knows_no_companions_code() {
    forbid("crates/agent/src", &["pillion_companion"], &[]);
}

/// The groups of rules are `CHECKS`, and may use all of these.
#[test]
fn no_part_of_the_conformance_suite_knows_one_above_it() {
    let parts = [
        "rule",
        "report",
        "message",
        "facts",
        "files",
        "names",
        "protocol",
        "target",
        "watch",
        "timeouts",
        "helper",
        "shape",
        "probe",
        "reply",
        "observation",
        "claude_observation",
        "copilot_observation",
        "test_context",
        "agent",
        "session",
        "views",
        "mcp",
        "check",
        "fields",
        "moves",
        "decide",
        "mentions",
        "selections",
        "scenario",
        "claude/upgrade",
        "claude/client",
        "claude/scenario",
        "claude/selection",
        "claude",
        "copilot/client",
        "copilot/scenario",
        "copilot/selection",
        "copilot",
    ];
    let below = "tools/conformance/src/";
    let level = |name: &str| parts.iter().position(|part| *part == name);
    let sources = sources();
    let is_part = |path: &str| {
        let name = path.strip_prefix(below);
        name.is_some_and(|it| it != "lib.rs" && !it.starts_with("bin/"))
    };
    let sources = sources.iter().filter(|it| is_part(&it.path));
    let mut seen = 0;
    for source in sources {
        let name = source.path[below.len()..].trim_end_matches(".rs");
        let Some(own) = level(name) else {
            let is_group = source.code().contains("\nchecks! {");
            assert!(is_group, "{name} is neither a part nor a group of rules");
            continue;
        };
        seen += 1;
        let mut starts = vec![("crate::", String::new())];
        if let Some((folder, _)) = name.rsplit_once('/') {
            starts.push(("super::", format!("{folder}/")));
        }
        for (start, folder) in starts {
            for used in source.code().split(start).skip(1) {
                let used = used.split(|it: char| !it.is_alphanumeric() && it != '_');
                let used = format!("{folder}{}", used.into_iter().next().unwrap_or_default());
                // A macro names its own module, too.
                let is_above = level(&used).is_none_or(|level| level > own);
                assert!(!is_above, "{name} uses {used}");
            }
        }
    }
    assert_eq!(seen, parts.len(), "every part is there");
}

#[test]
fn the_doctor_judges_without_io() {
    let words = [
        "fs::",
        "std::net",
        "Command::new",
        "tokio",
        "pillion_agent::knock",
    ];
    forbid("crates/doctor/src/checks", &words, &[]);
}

#[test]
fn every_file_says_what_it_owns() {
    for Source { path, text } in sources() {
        // A file that documentation tests include cannot have `//!`.
        let included = ["shared/insisting.rs"];
        let is_included = included.iter().any(|name| path.ends_with(name));
        let start = if is_included { "// " } else { "//!" };
        assert!(
            text.starts_with(start),
            "{path} does not start with {start}"
        );
    }
}
