//! The command line, as a script meets it.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on says where")]

#[cfg(target_os = "linux")]
mod agents_shell;
#[path = "../../../changes/tests/shared/any_steps.rs"]
mod any_steps;
#[cfg(target_os = "linux")]
mod changes;
mod choice;
mod claude;
#[cfg(unix)]
#[allow(dead_code, reason = "shared with the tests of the language server")]
#[path = "../lsp/client.rs"]
mod client;
mod commands;
mod completions;
mod context;
mod decisions;
mod detect;
mod diff;
mod doctor;
mod env;
mod files;
mod foreign;
#[cfg(target_os = "linux")]
mod held_files;
#[cfg(unix)]
mod hook;
#[cfg(unix)]
mod hook_settings;
#[cfg(unix)]
mod hub;
#[cfg(target_os = "linux")]
mod hung_disk;
mod install;
#[cfg(target_os = "linux")]
mod limits;
mod list;
mod log;
mod mention;
mod notes;
#[cfg(unix)]
#[path = "../shared/other_hub.rs"]
mod other_hub;
#[cfg(unix)]
mod outcomes;
mod pipes;
mod program;
mod readme;
mod reference;
mod review;
mod review_mode;
mod run;
mod sandbox;
mod serve;
#[cfg(unix)]
#[allow(dead_code, reason = "shared with tests that use more of it")]
#[path = "../shared/agent_work.rs"]
mod shared_agent_work;
#[allow(dead_code, reason = "shared with tests that use more of it")]
#[path = "../../../companion/tests/shared/doubts.rs"]
mod shared_doubts;
mod shells;
mod terminal;
#[path = "../shared/texts.rs"]
mod texts;
mod vscode;
#[cfg(unix)]
mod web;
