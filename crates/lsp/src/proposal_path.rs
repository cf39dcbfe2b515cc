//! The paths that are proposals, and their processes: `…/pillion/proposals/PID/LABEL/NAME`. By the path alone; whether that
//! folder can be trusted is checked when the proposal is opened.

use std::path::{Component, Path, PathBuf};

use pillion_view::{DiffId, ProposalKey};

/// The folder of proposals, below a state folder.
pub const PROPOSALS: &str = "proposals";

/// The folder of a process's proposals.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Owner {
    /// The system's directory, which may be a link.
    pub base: PathBuf,
    /// The state folder in it.
    pub part: String,
    pub pid: u32,
}

/// The owner of the proposal that a file is, and its key.
pub fn owner(path: &Path) -> Option<(Owner, ProposalKey)> {
    let (owner, below) = folder(path)?;
    let [label, _name] = below.as_slice() else {
        return None;
    };
    Some((owner, key(label)?))
}

/// The name of a proposal's own folder.
pub fn label(key: ProposalKey) -> String {
    format!("{}-{}", key.id, key.revision)
}

/// The proposal whose folder has this name.
pub fn key(label: &str) -> Option<ProposalKey> {
    let (id, revision) = label.split_once('-')?;
    let numbers = [id, revision];
    let [id, revision] = numbers.map(|text| is_number(text).then_some(text));
    Some(ProposalKey {
        id: DiffId(id?.parse().ok()?),
        revision: revision?.parse().ok()?,
    })
}

/// Returns true if a path is a process's folder of proposals, or in one: nobody's workspace.
pub fn is_ours(path: &Path) -> bool {
    folder(path).is_some()
}

/// The folder of proposals that a path is in, and the names from there on.
fn folder(path: &Path) -> Option<(Owner, Vec<&str>)> {
    let parts: Vec<Component<'_>> = path.components().collect();
    let name = |at: usize| parts.get(at)?.as_os_str().to_str();
    let start = (0..parts.len()).rev().find(|at| {
        let is_state = name(*at).is_some_and(is_state_folder);
        is_state && name(at + 1) == Some(PROPOSALS) && name(at + 2).is_some_and(is_number)
    })?;
    let owner = Owner {
        base: parts[..start].iter().collect(),
        part: name(start)?.to_owned(),
        pid: name(start + 2)?.parse().ok()?,
    };
    let below = parts[start + 3..]
        .iter()
        .map(|part| part.as_os_str().to_str());
    Some((owner, below.collect::<Option<_>>()?))
}

/// `pillion`, or `pillion-UID` where a folder is shared.
fn is_state_folder(name: &str) -> bool {
    match name.strip_prefix("pillion") {
        Some("") => true,
        Some(rest) => rest.strip_prefix('-').is_some_and(is_number),
        None => false,
    }
}

fn is_number(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit())
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;

    #[test]
    fn the_path_of_a_proposal_names_its_owner() {
        let expected = |base: &str, part: &str, pid, (id, revision)| {
            let (base, part, id) = (base.into(), part.to_owned(), DiffId(id));
            Some((Owner { base, part, pid }, ProposalKey { id, revision }))
        };
        for (path, owned) in [
            (
                "/run/user/7/pillion/proposals/12/1-3/a.proposed.rs",
                expected("/run/user/7", "pillion", 12, (1, 3)),
            ),
            (
                "/tmp/pillion-7/proposals/12/10-1/a",
                expected("/tmp", "pillion-7", 12, (10, 1)),
            ),
            (
                "/a/pillion/proposals/1/1-1/pillion/proposals/2/1-1/b",
                expected("/a/pillion/proposals/1/1-1", "pillion", 2, (1, 1)),
            ),
            ("/tmp/pillion-7/proposals/12/1-1", None),
            ("/tmp/pillion-7/proposals/12/1-1/folder/a", None),
            ("/tmp/pillion-7/proposals/12/notes/a", None),
            ("/tmp/pillion-7/proposals/99999999999/1-1/a", None),
            ("/tmp/pillion-7/proposals/12/1-99999999999/a", None),
            ("/tmp/pillion-7/proposals/12/1-1-1/a", None),
            ("/tmp/pillion-x/proposals/12/1-1/a", None),
            ("/src/pillion/proposals/new/1-1/a", None),
            ("/src/a.rs", None),
        ] {
            assert_eq!(owner(Path::new(path)), owned, "{path}");
        }
    }

    #[test]
    fn folders_of_proposals_are_no_workspaces_and_others_may_be() {
        for (path, expected) in [
            ("/tmp/pillion-7/proposals/12", true),
            ("/tmp/pillion-7/proposals/12/1-1", true),
            ("/tmp/pillion-7/proposals/12/1-1/a/b", true),
            ("/tmp/pillion-7/proposals", false),
            ("/src/pillion/proposals/new", false),
            ("/src/pillion", false),
        ] {
            assert_eq!(is_ours(Path::new(path)), expected, "{path}");
        }
    }
}
