//! The workspace roots, as the editor's folders make them (C2.5).

use std::collections::VecDeque;
use std::path::{Path, PathBuf};

use lsp_server::{Message, RequestId};
use pillion_discovery::canonicalize;
use pillion_discovery::workspace::{self, Workspace};
use pillion_protocol::discovery::join_roots;
use serde::{Deserialize, Serialize};

use crate::message::{self, MessageType};
use crate::{proposal_path, uri};

/// A folder as the editor names it.
#[derive(Debug, Deserialize, Serialize)]
pub struct WorkspaceFolder {
    pub uri: String,
}

/// The parameters of `workspace/didChangeWorkspaceFolders`.
#[derive(Debug, Deserialize, Serialize)]
pub struct DidChangeWorkspaceFolders {
    pub event: FoldersChanged,
}

/// The folders that came and those that went.
#[derive(Debug, Deserialize, Serialize)]
pub struct FoldersChanged {
    pub added: Vec<WorkspaceFolder>,
    pub removed: Vec<WorkspaceFolder>,
}

/// A change of what the roots depend on.
#[derive(Debug)]
pub enum Change {
    /// The editor's folders, as a language-server client reports them.
    Folders(FoldersChanged),
    /// All that a plugin knows of it, and its requests that wait until the roots are known.
    Workspace {
        workspace: Workspace,
        requests: Vec<RequestId>,
    },
}

impl Change {
    /// Adds a newer change to the end of those that wait. Returns true if there is one more of them: of workspaces that
    /// follow each other only the newest counts.
    pub fn join(self, waiting: &mut VecDeque<Self>) -> bool {
        match (self, waiting.back_mut()) {
            (
                Self::Workspace {
                    workspace,
                    requests,
                },
                Some(Self::Workspace {
                    workspace: older,
                    requests: asked,
                }),
            ) => {
                *older = workspace;
                asked.extend(requests);
                false
            }
            (change, _) => {
                waiting.push_back(change);
                true
            }
        }
    }
}

/// The folders, each as the editor names it and as a real path, which is what agents compare with
/// (C2.7).
#[derive(Debug, Default)]
pub struct Roots {
    /// The home directory, if that and what else [`workspace::may_be_root`] leaves out are not to be roots.
    home: Option<PathBuf>,
    folders: Vec<Folder>,
    /// The folder in which an agent starts, if a plugin says enough for that.
    start: Option<PathBuf>,
    /// The folders of a workspace that agents cannot find, which the person knows.
    unfit: Vec<PathBuf>,
    notes: Vec<Message>,
}

#[derive(Debug)]
struct Folder {
    named: PathBuf,
    real: PathBuf,
}

impl Roots {
    /// The folders with these URIs, or the current folder when there are none. With a home directory, only those that may be
    /// roots without being chosen.
    pub fn new<'a>(home: Option<PathBuf>, uris: impl IntoIterator<Item = &'a str>) -> Self {
        let mut roots = Self {
            home: home.map(|home| canonicalize(&home).unwrap_or(home)),
            ..Self::default()
        };
        let mut uris = uris.into_iter().peekable();
        if uris.peek().is_none() {
            match std::env::current_dir() {
                Ok(folder) => roots.add_folder(folder),
                Err(error) => roots.note(format!("cannot serve the current folder: {error}")),
            }
        }
        for uri in uris {
            roots.add(uri);
        }
        roots
    }

    /// The roots of what a plugin says of its workspace. Waits for disks.
    pub fn of(home: Option<PathBuf>, workspace: &Workspace) -> Self {
        let mut roots = Self {
            home,
            ..Self::default()
        };
        roots.work_out(workspace);
        roots
    }

    /// Something that the roots depend on has changed. Waits for disks.
    pub fn change(&mut self, change: &Change) {
        match change {
            Change::Folders(event) => {
                for folder in &event.removed {
                    self.remove(&folder.uri);
                }
                for folder in &event.added {
                    self.add(&folder.uri);
                }
            }
            Change::Workspace { workspace, .. } => self.work_out(workspace),
        }
    }

    fn work_out(&mut self, workspace: &Workspace) {
        let workspace::Roots { paths, start } = workspace.roots(self.home.as_deref());
        self.folders.clear();
        for real in &paths {
            self.serve(real.clone(), real.clone());
        }
        // An agent that starts in a folder that is not served would not connect.
        let start = start.filter(|it| self.folders.iter().any(|folder| folder.real == *it));
        let first = self.folders.first();
        self.start = start.or_else(|| first.map(|folder| folder.real.clone()));
        self.unfit.retain(|folder| paths.contains(folder));
    }

    fn add(&mut self, uri: &str) {
        match uri::to_path(uri) {
            Some(path) => self.add_folder(path),
            None => self.note(format!(
                "{uri} is not a local folder, so agents there cannot connect"
            )),
        }
    }

    fn remove(&mut self, uri: &str) {
        let Some(path) = uri::to_path(uri) else {
            return;
        };
        let real = canonicalize(&path).unwrap_or_else(|_| path.clone());
        self.unfit.retain(|unfit| *unfit != real);
        self.folders
            .retain(|folder| folder.named != path && folder.real != real);
    }

    /// The roots, each once.
    pub fn paths(&self) -> Vec<PathBuf> {
        let mut paths: Vec<PathBuf> = Vec::with_capacity(self.folders.len());
        for Folder { real, .. } in &self.folders {
            if !paths.contains(real) {
                paths.push(real.clone());
            }
        }
        paths
    }

    pub fn start(&self) -> Option<PathBuf> {
        self.start.clone()
    }

    /// Takes the messages to the person about folders that cannot be published to agents.
    pub fn take_notes(&mut self) -> Vec<Message> {
        std::mem::take(&mut self.notes)
    }

    fn add_folder(&mut self, named: PathBuf) {
        match real_folder(&named) {
            Err(reason) => self.note(reason),
            // Proposals: some editors take the folder of a file for its project.
            Ok(real) if proposal_path::is_ours(&real) => {}
            Ok(real) if self.may_not_be(&real) => {
                let shown = real.display();
                self.note(format!(
                    "{shown} cannot be a workspace, so agents there cannot connect: open a folder in it"
                ));
            }
            Ok(real) => self.serve(named, real),
        }
    }

    /// Serves a folder, if agents can find it. The person is told of one that they cannot, once.
    fn serve(&mut self, named: PathBuf, real: PathBuf) {
        match join_roots(std::slice::from_ref(&real)) {
            Ok(_) => self.folders.push(Folder { named, real }),
            Err(_) if self.unfit.contains(&real) => {}
            Err(error) => {
                self.notes.push(message::show(
                    MessageType::Warning,
                    format!("Pillion: agents cannot find this folder: {error}"),
                ));
                self.unfit.push(real);
            }
        }
    }

    fn may_not_be(&self, folder: &Path) -> bool {
        let home = self.home.as_deref();
        home.is_some_and(|home| !workspace::may_be_root(folder, Some(home)))
    }

    fn note(&mut self, text: String) {
        self.notes.push(message::log(MessageType::Warning, text));
    }
}

fn real_folder(path: &Path) -> Result<PathBuf, String> {
    let shown = path.display();
    let real = canonicalize(path)
        .map_err(|error| format!("cannot serve the workspace folder {shown}: {error}"))?;
    if !real.is_dir() {
        return Err(format!("the workspace folder {shown} is not a folder"));
    }
    Ok(real)
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;

    #[test]
    fn folders_come_and_go_by_whatever_name() {
        let folder = tempfile::tempdir().unwrap();
        let real = folder.path().canonicalize().unwrap();
        let link = real.join("link");
        std::fs::create_dir(real.join("one")).unwrap();
        std::os::unix::fs::symlink(real.join("one"), &link).unwrap();
        let (link, one) = (uri::from_path(&link), uri::from_path(&real.join("one")));
        let mut roots = Roots::new(None, [link.as_str(), &one]);
        assert_eq!(roots.paths(), [real.join("one")]);
        roots.add(&uri::from_path(&real));
        roots.remove(&one);
        assert_eq!(roots.paths(), std::slice::from_ref(&real));
        std::fs::remove_dir_all(&real).unwrap();
        roots.remove(&uri::from_path(&real));
        assert!(roots.paths().is_empty());
        assert!(roots.take_notes().is_empty());
    }

    #[test]
    fn neither_the_home_directory_nor_everybodys_nor_a_folder_of_proposals_is_a_root() {
        let folder = tempfile::tempdir().unwrap();
        let real = folder.path().canonicalize().unwrap();
        let (home, link) = (real.join("home"), real.join("link"));
        let proposals = real.join("pillion/proposals/12/1-1");
        let project = home.join("project");
        for folder in [&project, &proposals] {
            std::fs::create_dir_all(folder).unwrap();
        }
        std::os::unix::fs::symlink(&home, &link).unwrap();
        let everybodys = real.join("everybodys");
        std::fs::create_dir(&everybodys).unwrap();
        let shared = std::os::unix::fs::PermissionsExt::from_mode(0o1777);
        std::fs::set_permissions(&everybodys, shared).unwrap();
        let folders = [
            &home,
            &link,
            Path::new("/"),
            &everybodys,
            &proposals,
            &project,
        ];
        let uris = folders.map(uri::from_path);
        let uris = || uris.iter().map(String::as_str);
        let mut roots = Roots::new(Some(link.clone()), uris());
        assert_eq!(roots.paths(), std::slice::from_ref(&project));
        assert_eq!(roots.take_notes().len(), 4, "no message about proposals");
        let all = Roots::new(None, uris()).paths();
        assert_eq!(all, [home, PathBuf::from("/"), everybodys, project]);
    }

    #[test]
    fn what_cannot_be_served_is_reported_and_the_rest_is_served() {
        let folder = tempfile::tempdir().unwrap();
        let real = folder.path().canonicalize().unwrap();
        std::fs::create_dir(real.join("a:b")).unwrap();
        std::fs::write(real.join("file"), "").unwrap();
        let below = |name: &str| uri::from_path(&real.join(name));
        let uris = [
            below("a:b"),
            below("file"),
            below("gone"),
            "untitled:x".into(),
            below(""),
        ];
        let mut roots = Roots::new(None, uris.iter().map(String::as_str));
        assert_eq!(roots.paths(), [real]);
        let notes: Vec<String> = roots
            .take_notes()
            .iter()
            .map(|note| format!("{note:?}"))
            .collect();
        for (note, (method, text)) in notes.iter().zip([
            ("window/showMessage", "separates roots"),
            ("window/logMessage", "is not a folder"),
            ("window/logMessage", "cannot serve"),
            ("window/logMessage", "is not a local folder"),
        ]) {
            assert!(note.contains(method) && note.contains(text), "{note}");
        }
        assert_eq!(notes.len(), 4);
        assert_eq!(roots.take_notes().len(), 0);
    }

    #[test]
    fn what_a_plugin_says_makes_the_roots_and_an_unfit_folder_is_named_once() {
        let folder = tempfile::tempdir().unwrap();
        let home = folder.path().canonicalize().unwrap();
        for folder in ["repo/.git", "a:b/.git", "c"] {
            std::fs::create_dir_all(home.join(folder)).unwrap();
        }
        for git in ["repo/.git", "a:b/.git"].map(|it| home.join(it)) {
            for inner in ["objects", "refs"] {
                std::fs::create_dir(git.join(inner)).unwrap();
            }
            std::fs::write(git.join("HEAD"), "ref: refs/heads/main\n").unwrap();
        }
        let workspace = |folder: &str, file: &str| Workspace {
            folders: vec![home.join(folder)],
            files: vec![home.join(file)],
            ..Workspace::default()
        };
        let mut roots = Roots::of(Some(home.clone()), &workspace("", "repo/x"));
        assert_eq!(roots.paths(), [home.join("repo")]);
        assert_eq!(roots.start(), Some(home.join("repo")));
        for (folder, file, paths, start, notes) in [
            ("c", "a:b/x", vec!["c"], Some("c"), 1),
            ("c", "a:b/y", vec!["c"], Some("c"), 0),
            ("c", "repo/x", vec!["c", "repo"], Some("repo"), 0),
            ("", "a:b/x", vec![], None, 1),
        ] {
            roots.change(&Change::Workspace {
                workspace: workspace(folder, file),
                requests: Vec::new(),
            });
            let paths: Vec<_> = paths.into_iter().map(|path| home.join(path)).collect();
            assert_eq!(roots.paths(), paths, "{folder} {file}");
            let start = start.map(|path| home.join(path));
            assert_eq!(roots.start(), start, "{folder} {file}");
            assert_eq!(roots.take_notes().len(), notes, "{folder} {file}");
        }
    }

    /// Each row: the changes that come, `w` and `r` being workspaces (`r` with a request) and `f` folders, and what
    /// waits then: of each workspace its number and that of its requests.
    #[test]
    fn of_workspaces_that_wait_only_the_newest_is_worked_out() {
        for (changes, expected) in [
            ("w", "0+0"),
            ("rwr", "2+2"),
            ("wfww", "0+0 f 3+0"),
            ("ffrr", "f f 3+2"),
        ] {
            let mut waiting = VecDeque::new();
            let mut count = 0;
            for (number, kind) in changes.chars().enumerate() {
                let change = match kind {
                    'f' => Change::Folders(FoldersChanged {
                        added: Vec::new(),
                        removed: Vec::new(),
                    }),
                    kind => Change::Workspace {
                        workspace: Workspace {
                            folders: vec![number.to_string().into()],
                            ..Workspace::default()
                        },
                        requests: (kind == 'r').then(|| 1.into()).into_iter().collect(),
                    },
                };
                count += usize::from(change.join(&mut waiting));
            }
            assert_eq!(count, waiting.len(), "{changes}");
            let shown = waiting.iter().map(|change| match change {
                Change::Folders(_) => "f".to_owned(),
                Change::Workspace {
                    workspace,
                    requests,
                } => format!("{}+{}", workspace.folders[0].display(), requests.len()),
            });
            assert_eq!(shown.collect::<Vec<_>>().join(" "), expected, "{changes}");
        }
    }
}
