//! The Vim plugin in real Vims, with the real `pillion lsp`: what agents hear of what a person does there, and
//! what a person sees of what agents propose.
//!
//! `cargo xtask test` installs both Vims and runs these tests, with `--all` each on each of them. The rules that other editors
//! keep as well are in `../editors`.
//!
//! | what people fear | test |
//! | --- | --- |
//! | an autosave accepts | `decisions::no_write_but_a_typed_one_accepts` |
//! | what was never seen is accepted | `seen::a_newer_proposal_is_not_accepted_by_what_was_begun_before` |
//! | layout, registers or marks of the person change | `traces::everything_is_as_before` |
//! | edits are lost | `accidents::edits_outlive_a_companion_that_is_killed` |
//! | the whole home is a workspace | `context::neither_home_nor_the_machine_is_a_workspace` |

#![allow(clippy::unwrap_used, reason = "a test that cannot go on says where")]

mod accidents;
mod agents;
mod changes;
mod conformance;
mod context;
mod decisions;
mod gate;
mod install;
mod merge;
mod messages;
mod names;
mod newer;
mod no_diffs;
mod notes;
mod others;
mod quit;
mod review;
mod seen;
mod session;
mod starters;
mod terminal;
mod texts;
mod traces;
mod waiting;
mod world;
