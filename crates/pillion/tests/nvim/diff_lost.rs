//! The message when the agent dies before it takes what was accepted.

use std::fs;
use std::path::PathBuf;
use std::thread::sleep;
use std::time::{Duration, Instant};

use pillion_testkit::{Home, NvimVersion, each_neovim};

use crate::diff::Review;
use crate::world::World;

const PROPOSED: &str = "one\n2\n";

/// Longer than Pillion waits for an agent that does not come back.
const GONE: Duration = Duration::from_secs(90);

/// The text of each file that was kept.
fn kept(home: &Home) -> Vec<(PathBuf, String)> {
    let folders = fs::read_dir(home.tmp())
        .unwrap()
        .map(|it| it.unwrap().path());
    folders
        .filter(|path| path.to_str().unwrap().contains("pillion-kept-"))
        .map(|folder| folder.join("a.txt"))
        .filter_map(|file| Some((file.clone(), fs::read_to_string(file).ok()?)))
        .collect()
}

/// The agent dies with a proposal open, and the person types `keys` all the same. The message
/// about it.
fn told_after(review: Review, keys: &str, wanted: &str) -> World {
    let Review { world, gemini, .. } = review;
    drop(gemini);
    world
        .nvim
        .wait_until("no agent", "#require('pillion.client').state.agents == 0");
    world.nvim.input(keys);
    world
        .nvim
        .wait_until("no view", "#require('pillion.diff.pending').sorted() == 0");
    let started = Instant::now();
    while !world.nvim.messages().contains(wanted) {
        assert!(started.elapsed() < GONE, "{}", world.nvim.describe());
        sleep(Duration::from_millis(100));
    }
    world
}

#[each_neovim]
fn what_was_edited_and_accepted_for_a_dead_agent_is_kept_and_its_place_said(version: NvimVersion) {
    let review = Review::new(version);
    review.propose(PROPOSED);
    review.type_until("Gomine<Esc>", "vim.fn.line('$') == 3");
    let world = told_after(review, ":w<CR>", "your text is kept in");
    let [(file, text)] = &kept(&world.home)[..] else {
        panic!("one text is kept: {:?}", kept(&world.home));
    };
    assert_eq!(text, "one\n2\nmine\n");
    let said = world.nvim.messages();
    assert!(said.contains(file.to_str().unwrap()), "{said}");
}

#[each_neovim(all)]
fn of_a_proposal_as_it_came_it_is_said_that_it_was_not_written(version: NvimVersion) {
    let review = Review::new(version);
    review.propose(PROPOSED);
    let world = told_after(review, ":w<CR>", "nothing was written");
    assert_eq!(kept(&world.home), []);
}
