// A companion that accepts every diff as it comes, for the examples in the documentation, which
// include this file.

use std::path::PathBuf;

pub use insisting::insist;
use pillion_agent::Address;
use pillion_companion::Companion;
use pillion_discovery::{Environment, survey};
use pillion_protocol::{Dialect, File, IdeInfo, Outcome};
use pillion_view::{Decide, EditorEvent, Handle, Options, Proposed, Tell};

mod insisting {
    include!("../../../companion/tests/shared/insisting.rs");
}

pub struct Accepting {
    companion: Companion,
    environment: Environment,
    _folder: tempfile::TempDir,
}

impl Accepting {
    pub fn start() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let here: PathBuf = folder.path().canonicalize().unwrap();
        let environment = Environment::from_pairs([("TMPDIR", &here), ("HOME", &here)]);
        let options = Options {
            environment: environment.clone(),
            editor_pid: std::process::id(),
            ide: IdeInfo::new("test", "Test"),
            roots: vec![here.clone()],
            shows: Default::default(),
        };
        let (sender, receiver) = crossbeam_channel::unbounded();
        let mut handle = None;
        let editor = move |event: EditorEvent| {
            if let EditorEvent::Open(diff, shown) = event {
                shown.done(());
                let content = diff.proposed.to_string();
                let handle: &Handle = handle.get_or_insert_with(|| receiver.recv().unwrap());
                insist(
                    handle,
                    Decide::blind(diff.key(), Outcome::accepted(content)),
                    drop,
                );
            }
        };
        let companion = Companion::start(options, editor).unwrap();
        sender.send(companion.handle()).unwrap();
        let open = here.join("open.md");
        std::fs::write(&open, "").unwrap();
        let path = open.to_str().unwrap();
        companion
            .handle()
            .tell(Tell::Saved(File::focused(path, 1).into()));
        Self {
            companion,
            environment,
            _folder: folder,
        }
    }

    /// Of an agent in its workspace.
    pub fn environment(&self) -> Environment {
        let here = self.environment.tmpdir();
        self.environment.clone().with_current_dir(here)
    }

    pub fn address(&self) -> Address {
        let port = self.companion.port();
        let mut running = survey(&self.environment).companions.into_iter();
        let found = running.find(|companion| companion.port == port).unwrap();
        Address::new(port).with_token(found.token(Dialect::GeminiCli).cloned())
    }
}

pub fn run(example: impl Future<Output = Result<(), Box<dyn std::error::Error>>>) {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .unwrap();
    runtime.block_on(example).unwrap();
}
