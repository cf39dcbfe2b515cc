//! The rules that every editor with a plugin of Pillion's keeps, each described once, and checked in each
//! real editor with the real `pillion lsp`. An editor's keys and screens are known to its driver.
//!
//! `cargo xtask test` installs the editors and runs these tests in their newest releases, and in the oldest ones those that
//! are marked as `smoke`: that Pillion starts there, that agents see what the person does, propose, and are answered by an
//! edited text or a rejection, that what was written is taken back, and that nothing stays behind. With `--all` it runs
//! each in each. Their results are the table in `docs/editors.md`. A new editor is one driver, one entry in
//! `crates/testkit/attributes/src/tables.rs`, and one in `driver.rs`.

//! Mistakes that other companions make, and what would notice them here:
//!
//! | mistake | rule |
//! | --- | --- |
//! | an autosave accepts | `decisions::an_autosave_accepts_nothing` |
//! | a held key accepts, or one that was meant for an older proposal | `seen` |
//! | a change that runs code, lies outside or undoes what is on disk is accepted like any other | `doubts` |
//! | closing gives the original, or nothing | `texts::texts_are_in_the_answer_when_the_agent_closes` |
//! | line endings, BOM, last newline or NUL change; JSON is read as an answer | `texts::texts_are_accepted_byte_for_byte` |
//! | a name is a pattern, or a command | `names::names_are_taken_as_they_are` |
//! | an agent gets the outcome of another one's diff | `accidents::two_agents_with_a_diff_on_one_file_get_an_outcome_each` |
//! | an unsaved buffer is overwritten, or its question holds up the agent | `accidents::unsaved_edits_are_left_alone_when_an_agent_writes` |
//! | the whole home is a workspace | `roots::neither_home_nor_the_machine_is_a_root` |

#![allow(clippy::unwrap_used, reason = "a test that cannot go on says where")]

mod driver;
mod drivers;
mod person;
mod rules;
#[path = "../shared/agent_work.rs"]
mod shared_agent_work;
#[allow(dead_code, reason = "shared with tests that use more of it")]
#[path = "../../../companion/tests/shared/doubts.rs"]
mod shared_doubts;
#[path = "../shared/texts.rs"]
mod shared_texts;
