//! Turns of random changes, by hooks and commands, in the repositories that there are: whatever an agent did is taken back to the
//! byte, and brought back to the byte; what the person writes and what version control has stays. The seeds are printed;
//! `PILLION_TURNS=1000 PILLION_SEED=7` makes a run longer, and another one. A turn that fails is cut down to what matters.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::Value;

use crate::any_steps::{Files, Numbers, Step, copy, cut_down, fill, same, variable};
use crate::sandbox::{Sandbox, Serve};
use crate::shared_agent_work::{command_begins, command_is_over, turn_begins, turn_ends};

/// So many turns each run makes.
const TURNS: u64 = 12;
const MANY_TURNS: u64 = 250;

/// So many turns one folder sees.
const IN_A_ROW: usize = 5;

/// The program that keeps the history of a folder.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Shape {
    None,
    Git,
    /// A bare repository in the folder, with a work tree beside it.
    Bare,
    /// As Jujutsu lays it out.
    Jj,
}

/// Whoever carries out what the person decides.
#[derive(Debug, Clone, Copy)]
enum Companion {
    OfTheHub,
    OfItsOwn,
    /// It has ended by then: the command does it.
    Gone,
}

#[derive(Debug, Clone, Copy)]
enum Doing {
    /// In this turn.
    Step(usize, Step),
    /// The agent commits in this turn.
    Commit(usize),
    /// The person keeps the turn, once it is brought back.
    Keep(usize),
}

impl Doing {
    fn turn(self) -> usize {
        match self {
            Self::Step(turn, _) | Self::Commit(turn) | Self::Keep(turn) => turn,
        }
    }
}

struct World {
    sandbox: Sandbox,
    shape: Shape,
    companion: Companion,
    serve: Option<Serve>,
}

impl World {
    fn new(shape: Shape, companion: Companion, has_hard_links: bool) -> Self {
        let sandbox = Sandbox::new();
        let world = Self {
            sandbox,
            shape,
            companion,
            serve: None,
        };
        if shape == Shape::Bare {
            world.sh(
                "git init -q --bare .bare && git -C .bare worktree add -q --orphan -b main ../main",
            );
        }
        fill(&world.tree(), has_hard_links);
        match shape {
            Shape::None => {}
            Shape::Bare => world.commit(),
            Shape::Git => world.sh("git init -q && git add -A"),
            Shape::Jj => world.sh("mkdir -p .jj/repo/op_store .jj/working_copy && echo x > .jj/working_copy/tree_state"),
        }
        world
    }

    /// The folder in which the agent works.
    fn tree(&self) -> PathBuf {
        let root = pillion_discovery::canonicalize(&self.sandbox.home.workspace()).unwrap();
        match self.shape {
            Shape::Bare => root.join("main"),
            _ => root,
        }
    }

    fn sh(&self, command: &str) {
        let mut shell = Command::new("sh");
        shell
            .args(["-ec", command])
            .current_dir(self.sandbox.home.workspace());
        shell.env_clear().envs(self.sandbox.home.env().iter());
        for (name, value) in [("GIT_AUTHOR_NAME", "a"), ("GIT_COMMITTER_NAME", "a")] {
            shell
                .env(name, value)
                .env(name.replace("NAME", "EMAIL"), "a@example.org");
        }
        let output = shell.output().unwrap();
        assert!(output.status.success(), "{command}: {output:?}");
    }

    fn commit(&self) {
        match self.shape {
            Shape::None => {}
            Shape::Git => self.sh("git add -A && git commit -qm x --allow-empty"),
            Shape::Bare => self.sh("cd main && git add -A && git commit -qm x --allow-empty"),
            Shape::Jj => self.sh("date >> .jj/repo/op_store/x; date > .jj/working_copy/tree_state"),
        }
    }

    /// What version control has.
    fn history(&self) -> Vec<Files> {
        let root = self.sandbox.home.workspace();
        let folders = [".git", ".bare", ".jj"].map(|it| root.join(it));
        { folders.iter() }
            .filter(|it| it.is_dir())
            .map(|it| copy(it))
            .collect()
    }

    fn is_served(&mut self) {
        if self.serve.is_none() {
            self.serve = Some(match self.companion {
                Companion::OfTheHub => self.sandbox.serve_in_hub::<&str>([]),
                Companion::OfItsOwn | Companion::Gone => self.sandbox.serve::<&str>([]),
            });
        }
    }

    fn has_ended(&mut self) {
        if let Companion::Gone = self.companion
            && let Some(mut serve) = self.serve.take()
        {
            serve.signal("TERM");
            serve.ended();
        }
    }

    fn newest_turn(&self) -> u64 {
        let listed = self.sandbox.run(["turns", "--json"]).expect(0);
        let turns: Vec<Value> = serde_json::from_str(&listed.stdout).unwrap();
        let changed = turns.iter().filter(|it| it["changes"] != 0);
        let numbers = changed.filter_map(|it| it["turn"].as_u64());
        numbers.max().unwrap_or(0)
    }

    fn person(&self, args: &[&str]) -> Result<(), String> {
        let ran = self.sandbox.run(args);
        match ran.code {
            Some(0) => Ok(()),
            _ => Err(ran.report()),
        }
    }

    /// An agent does this in one turn, the person takes it back, and brings it back.
    fn turn(&mut self, doings: &[Doing]) -> Result<(), String> {
        self.is_served();
        let (home, tree) = (&self.sandbox.home, self.tree());
        let (before, former) = (copy(&tree), self.newest_turn());
        turn_begins(home);
        for part in doings.chunks(doings.len().div_ceil(2).max(1)) {
            command_begins(home);
            for doing in part {
                match doing {
                    Doing::Step(_, step) => step.act(&tree),
                    Doing::Commit(_) => self.commit(),
                    Doing::Keep(_) => {}
                }
            }
            command_is_over(home);
        }
        turn_ends(home);
        let after = copy(&tree);
        let turn = self.newest_turn();
        if turn == former {
            return same(&before, &after, "nothing is listed");
        }
        let history = self.history();
        self.has_ended();
        // The person's own is no agent's.
        let own = Path::new("persons/own");
        fs::create_dir_all(tree.join("persons")).unwrap();
        fs::write(tree.join(own), turn.to_string()).unwrap();
        let with_own = |files: &Files| {
            let mut files = files.clone();
            files.extend(copy(&tree).remove_entry(own));
            files
        };
        let turn = turn.to_string();
        self.person(&["revert", "--all", &turn])?;
        same(&with_own(&before), &copy(&tree), "taken back")?;
        self.person(&["undo"])?;
        same(&with_own(&after), &copy(&tree), "brought back")?;
        if self.history() != history {
            return Err("the history is another one".to_owned());
        }
        match doings.iter().any(|it| matches!(it, Doing::Keep(_))) {
            true => self.person(&["keep", &turn]),
            false => Ok(()),
        }
    }
}

/// Some turns in one folder. Returns what went wrong.
fn check(
    shape: Shape,
    companion: Companion,
    has_hard_links: bool,
    doings: &[Doing],
) -> Result<(), String> {
    let mut world = World::new(shape, companion, has_hard_links);
    let mut turns: BTreeMap<usize, Vec<Doing>> = BTreeMap::new();
    for doing in doings {
        turns.entry(doing.turn()).or_default().push(*doing);
    }
    turns.values().try_for_each(|it| world.turn(it))?;
    match shape {
        Shape::Git => world.sh("git fsck --no-dangling"),
        Shape::Bare => world.sh("git -C .bare fsck --no-dangling"),
        Shape::None | Shape::Jj => {}
    }
    Ok(())
}

#[expect(clippy::print_stdout, reason = "a run that fails can be repeated")]
fn take_turns(shape: Shape, usual: u64) {
    let turns = variable("PILLION_TURNS").unwrap_or(usual);
    let first = variable("PILLION_SEED").unwrap_or(1);
    println!("{shape:?}: PILLION_TURNS={turns} PILLION_SEED={first}");
    for seed in first..first + turns.div_ceil(IN_A_ROW as u64) {
        let mut numbers = Numbers::new(seed.wrapping_mul(4) + shape as u64);
        let companion = numbers.of(&[Companion::OfTheHub, Companion::OfItsOwn, Companion::Gone]);
        let has_hard_links = numbers.next(2) == 0;
        let mut doings = Vec::new();
        for turn in 0..IN_A_ROW {
            for _ in 0..=numbers.next(8) {
                doings.push(Doing::Step(turn, Step::random(&mut numbers)));
            }
            doings.extend((numbers.next(3) == 0).then_some(Doing::Commit(turn)));
            doings.extend((numbers.next(3) == 0).then_some(Doing::Keep(turn)));
        }
        let check = |doings: &[Doing]| check(shape, companion, has_hard_links, doings);
        if let Err(why) = check(&doings) {
            println!("seed {seed}: {why}");
            let (doings, why) = cut_down(doings, why, check);
            panic!(
                "seed {seed}, {shape:?}, {companion:?}, hard links {has_hard_links}: {doings:?}\n{why}"
            );
        }
    }
}

#[test]
fn whatever_hooks_tell_of_is_taken_back_where_there_is_no_repository() {
    take_turns(Shape::None, TURNS);
}

#[test]
fn whatever_hooks_tell_of_is_taken_back_in_a_git_repository() {
    take_turns(Shape::Git, TURNS);
}

#[test]
fn whatever_hooks_tell_of_is_taken_back_beside_a_bare_repository() {
    take_turns(Shape::Bare, TURNS);
}

#[test]
fn whatever_hooks_tell_of_is_taken_back_in_a_jujutsu_repository() {
    take_turns(Shape::Jj, TURNS);
}

#[test]
#[ignore = "in --all: takes minutes: cargo xtask test --all"]
fn whatever_hooks_tell_of_in_a_thousand_turns_is_taken_back() {
    for shape in [Shape::None, Shape::Git, Shape::Bare, Shape::Jj] {
        take_turns(shape, MANY_TURNS);
    }
}
