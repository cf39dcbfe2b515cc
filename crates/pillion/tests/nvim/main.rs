//! The Neovim plugin in real Neovims, with the real `pillion lsp`: what agents hear of what a person
//! does there, and what a person sees of what agents propose.
//!
//! `cargo xtask test` installs both Neovims and runs these tests, with `--all` each on each of them. The rules that other
//! editors keep as well are in `../editors`.
//!
//! Mistakes that other companions make, and what would notice them here:
//!
//! | mistake | test |
//! | --- | --- |
//! | stopping hangs, or leaves discovery files | `lifecycle::it_ends_with_neovim_at_once`, `it_ends_with_a_neovim_that_is_killed` |
//! | the path comes back in another spelling | `diff_names::the_original_of_whatever_name_is_that_file` |
//! | a rejection follows the agent's own decision | `ide_client::the_real_client_hears_of_a_rejection_once_and_closes_in_silence` |
//! | edits are ignored | `diff_decisions::what_accepts_takes_the_text_as_edited` |
//! | edited texts lose what the person set | `diff_texts::what_the_person_sets_counts` |
//! | an unsaved buffer is overwritten | `reload::a_modified_buffer_is_left_alone_and_said_once` |
//! | closing the view decides nothing | `diff_decisions::what_closes_the_proposal_rejects_once` |
//! | the agent is told of a view that is not there | `diff_waiting::it_opens_when_the_command_line_window_is_left` |
//! | a name is a pattern, or a command | `diff_names::the_original_of_whatever_name_is_that_file`, `a_file_is_found_by_its_links_and_not_by_what_looks_like_it` |
//! | layout, options or files of the user are changed | `diff_focus::the_layout_is_as_before_whatever_the_options` |
//! | terminals and diffs count as files | `context::a_terminal_leaves_the_file_active_with_its_cursor` |
//! | a selection stays for ever, or is lost when an agent's terminal gets the focus | `selection_kept::a_kept_selection_goes_when_the_person_goes_on` |
//! | whole lines instead of the selection | `selection::what_is_shown_is_what_a_yank_takes` |
//! | equal times, or the newest file not active | `context::files_come_most_recently_focused_first_with_falling_times` |
//! | columns from 0, or in bytes; characters cut in two | `context::the_cursor_counts_utf16_units_from_one`, `selection::a_large_selection_is_cut_between_characters` |
//! | trust is invented | `context::trust_is_told_only_if_the_user_said_so` |
//! | a second window gets nothing | `roots::a_second_neovim_in_the_same_folder_has_a_companion_of_its_own` |
//! | roots are frozen at the start | `roots::the_roots_are_the_working_folders_of_all_windows` |
//! | an autosave accepts | `diff_autosave::plugins_that_save_by_themselves_leave_the_decision_to_the_person` |
//! | keys that a plugin feeds accept | `diff_refused::keys_that_code_plays_accept_nothing` |
//! | what was never seen is accepted | `diff_seen::a_newer_proposal_is_not_accepted_by_what_was_begun_before_it_was_drawn` |
//! | quitting discards without a word | `diff_quit::qa_with_a_pending_diff_says_so_and_stays` |
//! | the focus is stolen | `diff_focus::a_person_in_a_terminal_stays_in_it_and_sees_the_diff`, `no_key_is_lost_on_a_person_who_types` |

#![allow(clippy::unwrap_used, reason = "a test that cannot go on says where")]

mod agents;
mod changes;
mod claude;
mod configurations;
mod conformance;
mod context;
mod diagnostics;
mod diff;
mod diff_accidents;
mod diff_autosave;
mod diff_decisions;
mod diff_drafts;
mod diff_focus;
mod diff_gate;
mod diff_hunks;
mod diff_label;
mod diff_lost;
mod diff_names;
mod diff_notes;
mod diff_others;
mod diff_quit;
mod diff_refused;
mod diff_seen;
mod diff_sets;
mod diff_texts;
mod diff_unsaved;
mod diff_unseen;
mod diff_waiting;
mod diff_wide;
mod health;
mod help;
mod ide_client;
mod idle;
mod install;
mod lifecycle;
mod mention;
mod messages;
mod no_diffs;
mod plain;
mod prompt;
mod reload;
mod roots;
mod run;
mod selection;
mod selection_kept;
mod send;
mod send_paths;
mod send_tmux;
mod send_trees;
mod session;
#[path = "../shared/encodings.rs"]
mod shared_encodings;
mod standin;
mod start;
mod terminal;
mod world;
