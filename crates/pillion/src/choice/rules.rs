//! The order of companions that could be meant.

use std::cmp::Reverse;

use pillion_discovery::Environment;
use pillion_discovery::survey::{Companion, FoundFile};
use pillion_protocol::Dialect;

/// The claim of a companion whose workspace contains the folder. Greater is better.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Claim {
    /// The place of its editor among the ancestors of this process, the nearest first; `usize::MAX` if it is none of them.
    pub generations: Reverse<usize>,
    /// True if this terminal's variables name its port (C2.6).
    pub is_named: bool,
    /// The depth of its fitting root.
    pub depth: usize,
}

/// Those that nothing but their use can tell apart.
pub fn foremost<T>(candidates: Vec<(Claim, T)>) -> Vec<T> {
    let best = candidates.iter().map(|(claim, _)| *claim).max();
    let is_best = |(claim, _): &(Claim, T)| Some(*claim) == best;
    let equals = candidates.into_iter().filter(is_best);
    equals.map(|(_, candidate)| candidate).collect()
}

/// One that answers, as commands get no further with another; then the one in which a file was focused last, and the one
/// that started last.
pub fn latest(candidates: Vec<&Companion>) -> Option<&Companion> {
    candidates.into_iter().max_by_key(|companion| {
        let state = companion.state.as_ref();
        let focused = state.and_then(|it| it.last_focused_ms);
        let started = state.map(|it| it.started_at_ms);
        (!companion.is_silent, focused, started, companion.port)
    })
}

/// The place of the companion's editor among `ancestors`, the nearest first.
///
/// That its files hold the pid of an ancestor is not enough: Pillion publishes under every ancestor
/// of an editor, and those it may share with any terminal.
pub fn generations(companion: &Companion, ancestors: &[u32]) -> Option<usize> {
    let editors = editors(companion);
    ancestors.iter().position(|pid| editors.contains(pid))
}

/// The processes that are the companion's editor.
fn editors(companion: &Companion) -> Vec<u32> {
    if let Some(state) = &companion.state {
        return [vec![state.pid], state.editors()].concat();
    }
    let parents = companion.files.iter().filter_map(|file| file.content.ppid);
    let mut editors: Vec<u32> = parents.collect();
    if editors.is_empty() {
        // One without `ppid` publishes under its editor's alone.
        editors.clone_from(&companion.pids);
    }
    editors.extend(companion.files.iter().filter_map(FoundFile::publisher));
    editors
}

/// Returns true if a variable of this terminal names the companion's port.
pub fn is_named(companion: &Companion, environment: &Environment) -> bool {
    let port = companion.port.to_string();
    let mut variables = Dialect::ALL.into_iter().filter_map(Dialect::port_variable);
    variables.any(|name| {
        environment
            .filled(name)
            .is_some_and(|value| *value == *port)
    })
}

#[cfg(test)]
mod tests {
    use std::path::PathBuf;

    use pillion_discovery::CompanionState;
    use pillion_discovery::survey::Liveness;
    use pillion_protocol::discovery::Publisher;
    use pillion_protocol::{DiscoveryFile, IdeInfo};

    use super::*;

    fn companion(port: u16, pids: &[u32], ppid: Option<u32>, publisher: Option<u32>) -> Companion {
        let content = DiscoveryFile {
            port,
            workspace_path: "/w".to_owned(),
            auth_token: None,
            ide_info: None,
            ppid,
            ide_name: None,
            pillion: publisher.map(Publisher::from),
        };
        Companion {
            port,
            ide: None,
            roots: vec![PathBuf::from("/w")],
            pids: pids.to_vec(),
            files: vec![FoundFile {
                path: PathBuf::from("/t/file.json"),
                dialect: Dialect::GeminiCli,
                content,
            }],
            state: None,
            is_silent: false,
            liveness: Liveness::Alive,
        }
    }

    fn claim(generations: Option<usize>, is_named: bool, depth: usize) -> Claim {
        Claim {
            generations: Reverse(generations.unwrap_or(usize::MAX)),
            is_named,
            depth,
        }
    }

    fn best(candidates: &[Claim]) -> Vec<usize> {
        let numbered = candidates.iter().enumerate();
        foremost(numbered.map(|(at, claim)| (*claim, at)).collect())
    }

    #[test]
    fn the_nearest_editor_wins_then_the_variable_then_the_deepest_root() {
        let deep = claim(None, false, 9);
        let deeper = claim(None, false, 10);
        let named = claim(None, true, 2);
        let far = claim(Some(7), true, 10);
        let near = claim(Some(2), false, 1);
        let near_too = claim(Some(2), false, 3);
        assert_eq!(best(&[deep, deeper, named, far, near, near_too]), [5]);
        assert_eq!(best(&[deep, deeper, named, far, near]), [4]);
        assert_eq!(best(&[deep, deeper, named, far]), [3]);
        assert_eq!(best(&[deep, deeper, named]), [2]);
        assert_eq!(best(&[deep, deeper]), [1]);
        assert_eq!(best(&[deep, deep, claim(None, false, 1)]), [0, 1]);
        assert!(best(&[]).is_empty());
    }

    #[test]
    fn windows_of_one_editor_process_are_distinguished_by_the_variable() {
        let one = claim(Some(3), false, 5);
        let other = claim(Some(3), true, 2);
        assert_eq!(best(&[one, other]), [1]);
    }

    #[test]
    fn an_ancestor_that_is_not_the_editor_makes_no_editor_ours() {
        // Published under the editor 50, and under the shell 20 and the tmux server 10 that we share.
        let published = [10, 20, 50];
        let neighbour = companion(1, &published, Some(50), Some(51));
        assert_eq!(generations(&neighbour, &[30, 20, 10]), None);
        assert_eq!(generations(&neighbour, &[60, 50, 20, 10]), Some(1));
        // What runs below the companion itself, such as an editor that a review opened.
        assert_eq!(generations(&neighbour, &[51, 20, 10]), Some(0));
    }

    #[test]
    fn a_foreign_companion_is_known_by_the_pid_in_its_names() {
        let foreign = companion(1, &[40], None, None);
        assert_eq!(generations(&foreign, &[60, 40, 2]), Some(1));
        assert_eq!(generations(&foreign, &[60, 2]), None);
        let lock_file_only = companion(1, &[], Some(40), None);
        assert_eq!(generations(&lock_file_only, &[40]), Some(0));
    }

    #[test]
    fn a_variable_of_either_agent_names_a_port() {
        let companion = companion(4242, &[], None, None);
        for (name, value, expected) in [
            ("GEMINI_CLI_IDE_SERVER_PORT", "4242", true),
            ("QWEN_CODE_IDE_SERVER_PORT", "4242", true),
            ("GEMINI_CLI_IDE_SERVER_PORT", "4243", false),
            ("OTHER", "4242", false),
        ] {
            let environment = Environment::from_pairs([(name, value)]);
            assert_eq!(is_named(&companion, &environment), expected, "{name}");
        }
    }

    #[test]
    fn of_equals_who_answers_wins_then_the_last_focused_then_the_last_started_then_the_greater_port()
     {
        let started = |port, at: Option<u64>, last_focused_ms| Companion {
            state: at.map(|started_at_ms| CompanionState {
                pid: 1,
                version: "1.2.3".to_owned(),
                port,
                roots: Vec::new(),
                ide: IdeInfo::new("x", "X"),
                views: Vec::new(),
                started_at_ms,
                files: Vec::new(),
                agents: Vec::new(),
                pending_diffs: 0,
                hides_diffs: false,
                review: None,
                unrecorded: None,
                state_dir: None,
                changes_limit: None,
                last_focused_ms,
                address: None,
                open: Default::default(),
            }),
            ..companion(port, &[], None, None)
        };
        let latest =
            |candidates: &[&Companion]| latest(candidates.to_vec()).map(|companion| companion.port);
        let [old, new] = [started(1, Some(5), None), started(2, Some(6), None)];
        let (foreign, twin) = (started(3, None, None), started(9, Some(6), None));
        let [early, late] = [started(4, Some(1), Some(8)), started(5, Some(0), Some(9))];
        let silent = Companion {
            is_silent: true,
            ..started(6, Some(7), Some(10))
        };
        assert_eq!(latest(&[&late, &early]), Some(5));
        assert_eq!(latest(&[&early, &new]), Some(4));
        assert_eq!(latest(&[&new, &old]), Some(2));
        assert_eq!(latest(&[&foreign, &new]), Some(2));
        assert_eq!(latest(&[&twin, &new]), Some(9));
        assert_eq!(latest(&[&silent, &foreign]), Some(3));
        assert_eq!(latest(&[&silent]), Some(6));
        assert_eq!(latest(&[]), None);
    }
}
