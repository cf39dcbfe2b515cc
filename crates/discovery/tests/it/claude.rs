//! The lock files of Claude Code and opencode: what they say, and where they may be written.

use std::ffi::OsStr;
use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{PermissionsExt, chown, symlink};
use std::path::{Path, PathBuf};

use pillion_discovery::survey::Liveness;
use pillion_discovery::{DiscoveryFiles, DiscoveryInfo, Environment, survey};
use pillion_protocol::Dialect;
use serde_json::{Value, json};

use crate::world::{
    Listener, World, again, claude_lock, dead_pid, dead_port, discovery_info, is_root, mode,
    publish, publish_in, read_lock, seats, warnings,
};

fn publish_roots(world: &World, port: u16, roots: Vec<PathBuf>) -> DiscoveryFiles {
    let discovery_info = DiscoveryInfo {
        roots,
        ..discovery_info(port)
    };
    DiscoveryFiles::publish(seats(&world.environment()), discovery_info).unwrap()
}

/// The folders that the agent compares with its own.
fn folders(world: &World, port: u16) -> Vec<PathBuf> {
    read_lock(claude_lock(world, port)).workspace_folders
}

/// Every lock file for Claude Code or opencode.
fn locks(world: &World) -> Vec<String> {
    let mut locks: Vec<_> = world.files().into_iter().collect();
    locks.retain(|path| path.ends_with(".lock") && !path.contains(".qwen/"));
    locks
}

#[test]
fn a_lock_file_has_what_the_agent_reads() {
    let (world, listener) = (World::new(), Listener::new());
    let discovery_files = publish(&world, listener.port());
    let path = claude_lock(&world, listener.port());
    let content: Value = serde_json::from_slice(&fs::read(&path).unwrap()).unwrap();
    let token = discovery_files.info().tokens.get(Dialect::ClaudeCode);
    let own = std::process::id();
    let namespaces = pillion_discovery::namespaces::here();
    assert_eq!(
        content,
        json!({
            // A living process, or the agent deletes the file.
            "pid": own,
            "workspaceFolders": ["/work/a", "/work/b c"],
            "ideName": "Neovim",
            "transport": "ws",
            "authToken": token.expose(),
            "pillion": {"pid": own, "namespaces": namespaces},
        })
    );
}

#[test]
fn roots_are_published_with_links_resolved() {
    let (world, listener) = (World::new(), Listener::new());
    let real = pillion_discovery::real_path(&world.path(""));
    for name in ["one", "two"] {
        fs::create_dir(world.path(name)).unwrap();
    }
    symlink("one", world.path("link")).unwrap();
    symlink("link", world.path("twice")).unwrap();
    symlink("missing", world.path("dangling")).unwrap();
    let port = listener.port();
    let below = |names: &[&str]| names.iter().map(|name| world.path(name)).collect();
    let mut discovery_files = publish_roots(&world, port, below(&["link", "two"]));
    assert_eq!(folders(&world, port), [real.join("one"), real.join("two")]);
    for (root, resolved) in [
        ("twice", "one"),
        ("twice/below", "one/below"),
        ("gone/below", "gone/below"),
        ("dangling", "missing"),
        ("two/", "two"),
    ] {
        discovery_files.set_roots(below(&[root])).unwrap();
        assert_eq!(folders(&world, port), [real.join(resolved)], "{root}");
    }
    discovery_files.set_roots(Vec::new()).unwrap();
    assert!(folders(&world, port).is_empty());
    discovery_files.set_roots(vec!["/".into()]).unwrap();
    assert_eq!(folders(&world, port), [Path::new("/")]);
}

#[test]
fn a_root_that_leads_to_a_name_that_json_cannot_hold_stays_as_it_is() {
    let (world, listener) = (World::new(), Listener::new());
    let odd = world.path("").join(OsStr::from_bytes(b"\xff"));
    fs::create_dir(&odd).unwrap();
    symlink(&odd, world.path("link")).unwrap();
    let root = world.path("link");
    let _discovery_files = publish_roots(&world, listener.port(), vec![root.clone()]);
    assert_eq!(folders(&world, listener.port()), [root]);
}

#[test]
fn new_roots_that_are_refused_leave_the_lock_file() {
    let (world, listener) = (World::new(), Listener::new());
    let mut discovery_files = publish(&world, listener.port());
    let before = fs::read(claude_lock(&world, listener.port())).unwrap();
    for root in ["/a:b", "relative"] {
        discovery_files.set_roots(vec![root.into()]).unwrap_err();
        discovery_files.restore();
        let now = fs::read(claude_lock(&world, listener.port())).unwrap();
        assert_eq!(now, before, "{root}");
    }
}

#[test]
fn a_lock_file_that_the_agent_deleted_comes_back() {
    let (world, listener) = (World::new(), Listener::new());
    let mut discovery_files = publish(&world, listener.port());
    let lock = claude_lock(&world, listener.port());
    let before = fs::read(&lock).unwrap();
    let damages: [&dyn Fn(); 5] = [
        &|| fs::remove_file(&lock).unwrap(),
        &|| fs::remove_dir_all(world.path("home/.claude")).unwrap(),
        &|| fs::write(&lock, "").unwrap(),
        &|| fs::write(&lock, "/w\n").unwrap(),
        &|| fs::set_permissions(&lock, fs::Permissions::from_mode(0o644)).unwrap(),
    ];
    for damage in damages {
        damage();
        assert_eq!(discovery_files.restore(), std::slice::from_ref(&lock));
        assert_eq!(
            (fs::read(&lock).unwrap(), mode(&lock)),
            (before.clone(), 0o600)
        );
    }
    drop(discovery_files);
    assert!(locks(&world).is_empty());
    assert!(world.path("home/.claude/ide").is_dir());
}

#[test]
fn a_folder_that_is_missing_is_created_for_this_user_alone() {
    let test = "claude::published_in_a_new_folder";
    for umask in ["000", "022", "077"] {
        again(test, &format!("umask {umask}"), &[]);
    }
}

#[test]
#[ignore = "run by a_folder_that_is_missing_is_created_for_this_user_alone"]
fn published_in_a_new_folder() {
    for configured in [None, Some("config"), Some("some/config")] {
        let (world, listener) = (World::new(), Listener::new());
        let base = world.path(configured.unwrap_or("home/.claude"));
        let environment = world.environment();
        let environment = environment.with("CLAUDE_CONFIG_DIR", configured.map(|_| &base));
        let discovery_files = publish_in(&environment, listener.port());
        assert!(
            discovery_files.warnings().is_empty(),
            "{:?}",
            warnings(&discovery_files)
        );
        let lock = base.join(format!("ide/{}.lock", listener.port()));
        assert_eq!(mode(&lock), 0o600);
        assert_eq!((mode(base.join("ide")), mode(&base)), (0o700, 0o700));
    }
}

#[test]
fn however_its_folder_is_named_there_is_one_lock_file() {
    for (configured, expected) in [
        ("", "home/.claude"),
        ("home/.claude", "home/.claude"),
        ("home/x/../.claude/", "home/.claude"),
        ("config", "config"),
        ("link", "link"),
    ] {
        let (world, listener) = (World::new(), Listener::new());
        fs::create_dir(world.path("home/.claude")).unwrap();
        symlink(world.path("home/.claude"), world.path("link")).unwrap();
        let value = match configured {
            "" => PathBuf::new(),
            below => world.path(below),
        };
        let environment = world.environment().with("CLAUDE_CONFIG_DIR", Some(value));
        let discovery_files = publish_in(&environment, listener.port());
        assert!(discovery_files.warnings().is_empty());
        assert_eq!(locks(&world).len(), 1, "{configured}: {:?}", locks(&world));
        let lock = world.path(&format!("{expected}/ide/{}.lock", listener.port()));
        assert!(lock.is_file(), "{configured}");
        assert!(
            discovery_files.files().contains(&lock),
            "{:?}",
            discovery_files.files()
        );
        drop(discovery_files);
        assert!(locks(&world).is_empty(), "{configured}");
    }
}

#[test]
fn a_relative_folder_starts_where_the_companion_was_started() {
    let (world, listener) = (World::new(), Listener::new());
    let environment = world
        .environment()
        .with("CLAUDE_CONFIG_DIR", Some("config"))
        .with_current_dir(world.path("home"));
    let _discovery_files = publish_in(&environment, listener.port());
    assert_eq!(
        locks(&world),
        [format!("home/config/ide/{}.lock", listener.port())]
    );
}

/// Publishes, and expects one warning, which names `agents`, `named` and what to do.
fn refuses(environment: &Environment, agents: &[Dialect], named: &Path, hint: &str) {
    let listener = Listener::new();
    let discovery_files = publish_in(environment, listener.port());
    let [warning] = discovery_files.warnings() else {
        panic!("{:?}", warnings(&discovery_files));
    };
    assert_eq!((&warning.agents[..], warning.error.path()), (agents, named));
    let text = warning.to_string();
    assert!(text.contains(hint), "{text}");
    let ide = environment.directory(&Dialect::ClaudeCode.places()[0]);
    let written = fs::read_dir(ide).map_or(0, Iterator::count);
    assert_eq!(written, 0);
    assert!(
        !discovery_files.files().is_empty(),
        "the other agents are served"
    );
}

const BOTH: [Dialect; 2] = [Dialect::ClaudeCode, Dialect::OpenCode];

#[test]
fn a_folder_that_leads_elsewhere_is_refused_unless_it_is_the_persons_own() {
    let world = World::new();
    fs::create_dir_all(world.path("dotfiles/ide")).unwrap();
    fs::create_dir(world.path("home/.claude")).unwrap();
    let ide = world.path("home/.claude/ide");
    symlink(world.path("dotfiles/ide"), &ide).unwrap();
    refuses(
        &world.environment(),
        &BOTH,
        &ide,
        "remove it, or move it away",
    );
    assert!(ide.is_symlink());

    // Users who keep settings elsewhere link the folder itself.
    fs::remove_dir_all(world.path("home/.claude")).unwrap();
    symlink(world.path("dotfiles"), world.path("home/.claude")).unwrap();
    let listener = Listener::new();
    let discovery_files = publish(&world, listener.port());
    assert!(
        discovery_files.warnings().is_empty(),
        "{:?}",
        warnings(&discovery_files)
    );
    assert_eq!(
        locks(&world),
        [format!("dotfiles/ide/{}.lock", listener.port())]
    );
}

#[test]
fn a_file_where_a_folder_should_be_is_refused_and_stays() {
    let world = World::new();
    let claude = world.path("home/.claude");
    fs::write(&claude, "mine").unwrap();
    refuses(
        &world.environment(),
        &BOTH,
        &claude,
        "set CLAUDE_CONFIG_DIR to",
    );
    assert_eq!(fs::read_to_string(&claude).unwrap(), "mine");
    fs::remove_file(&claude).unwrap();
    fs::create_dir(&claude).unwrap();
    fs::write(claude.join("ide"), "mine").unwrap();
    refuses(
        &world.environment(),
        &BOTH,
        &claude.join("ide"),
        "remove it",
    );
}

#[test]
fn another_users_folder_is_refused() {
    if !is_root() {
        return;
    }
    for named in ["home/.claude", "home/.claude/ide"] {
        let world = World::new();
        fs::create_dir_all(world.path("home/.claude/ide")).unwrap();
        chown(world.path(named), Some(65534), None).unwrap();
        let hint = "have its owner remove it, or set CLAUDE_CONFIG_DIR";
        refuses(&world.environment(), &BOTH, &world.path(named), hint);
    }
}

#[test]
fn a_configured_folder_that_cannot_be_used_is_claude_codes_alone() {
    let world = World::new();
    fs::create_dir_all(world.path("home/.claude/ide")).unwrap();
    let configured = Path::new("/proc/self/config");
    let environment = world
        .environment()
        .with("CLAUDE_CONFIG_DIR", Some(configured));
    let hint = "make that directory writable for you, or set CLAUDE_CONFIG_DIR to";
    refuses(&environment, &BOTH[..1], configured, hint);
    assert!(locks(&world).is_empty(), "the agent looks elsewhere first");
}

#[test]
fn two_companions_of_one_root_have_a_lock_file_each() {
    let (world, one, other) = (World::new(), Listener::new(), Listener::new());
    let first = publish(&world, one.port());
    let second = publish(&world, other.port());
    let token = |port| read_lock(claude_lock(&world, port)).auth_token.unwrap();
    let (theirs, ours) = (token(one.port()), token(other.port()));
    assert!(!theirs.matches(ours.expose().as_bytes()));
    drop(first);
    assert_eq!(
        locks(&world),
        [format!("home/.claude/ide/{}.lock", other.port())]
    );
    drop(second);
}

#[test]
fn a_lock_file_with_our_name_is_a_dead_ones_and_is_replaced_but_a_successors_stays() {
    let (world, listener) = (World::new(), Listener::new());
    let lock = claude_lock(&world, listener.port());
    fs::create_dir_all(lock.parent().unwrap()).unwrap();
    let theirs = json!({"pid": dead_pid(), "workspaceFolders": ["/w"], "authToken": "x"});
    fs::write(&lock, theirs.to_string()).unwrap();
    let discovery_files = publish(&world, listener.port());
    assert!(read_lock(&lock).pillion.is_some());
    fs::write(&lock, theirs.to_string()).unwrap();
    drop(discovery_files);
    assert_eq!(fs::read_to_string(&lock).unwrap(), theirs.to_string());
}

/// The lock files of other companions, by port: each companion listens, if its process is not gone.
#[test]
fn companions_of_others_are_seen_whatever_they_leave_out() {
    let world = World::new();
    let folder = world.path("home/.claude/ide");
    fs::create_dir_all(&folder).unwrap();
    let own = std::process::id();
    let vscode = json!({
        "pid": own, "workspaceFolders": ["/w", "/v"], "ideName": "Visual Studio Code",
        "transport": "ws", "runningInWindows": false, "authToken": "secret"
    });
    let nvim = json!({
        "pid": own, "workspaceFolders": ["/w"], "ideName": "Neovim", "transport": "ws",
        "authToken": "secret"
    });
    let unnamed = json!({"pid": own.to_string(), "workspaceFolders": ["/w"]});
    let no_pid = json!({"workspaceFolders": ["/w:x"], "ideName": "Emacs", "transport": "sse"});
    let shapes = [
        (vscode, "Visual Studio Code", vec!["/w", "/v"], true),
        (nvim, "Neovim", vec!["/w"], true),
        (unnamed, "an unnamed companion", vec!["/w"], false),
        (no_pid, "Emacs", vec!["/w:x"], false),
    ];
    let listeners: Vec<_> = shapes.iter().map(|_| Listener::new()).collect();
    for (listener, (content, ..)) in listeners.iter().zip(&shapes) {
        let name = format!("{}.lock", listener.port());
        fs::write(folder.join(name), content.to_string()).unwrap();
    }
    let found = survey(&world.environment());
    assert!(
        found.malformed.is_empty() && found.unread.is_empty(),
        "{found:?}"
    );
    assert_eq!(found.companions.len(), shapes.len());
    for (listener, (content, name, roots, has_token)) in listeners.iter().zip(&shapes) {
        let mut companions = found.companions.iter();
        let companion = companions.find(|it| it.port == listener.port()).unwrap();
        assert_eq!(companion.display_name(), *name, "{content}");
        let roots: Vec<_> = roots.iter().map(PathBuf::from).collect();
        assert_eq!(companion.roots, roots, "{content}");
        assert_eq!(companion.token(Dialect::ClaudeCode).is_some(), *has_token);
        assert!(companion.is_alive() && !companion.is_pillion(), "{content}");
        assert!(companion.is_seen(Dialect::ClaudeCode, &world.environment()));
    }
}

#[test]
fn dead_companions_of_others_are_seen_as_such_and_stay() {
    let (world, listener, silent) = (World::new(), Listener::new(), dead_port());
    let folder = world.path("home/.claude/ide");
    fs::create_dir_all(&folder).unwrap();
    for (port, content) in [
        (
            listener.port(),
            json!({"pid": dead_pid(), "workspaceFolders": ["/w"]}),
        ),
        (
            silent,
            json!({"pid": std::process::id(), "workspaceFolders": ["/w"]}),
        ),
    ] {
        fs::write(folder.join(format!("{port}.lock")), content.to_string()).unwrap();
    }
    for (name, content) in [("1.lock", "/w\n/v\n"), ("2.lock", ""), ("70000.lock", "{}")] {
        fs::write(folder.join(name), content).unwrap();
    }
    let found = survey(&world.environment());
    let liveness = |port| {
        let mut companions = found.companions.iter();
        companions.find(|it| it.port == port).unwrap().liveness
    };
    assert_eq!(liveness(listener.port()), Liveness::ProcessGone);
    assert_eq!(liveness(silent), Liveness::NobodyListens);
    assert_eq!(found.malformed.len(), 3, "{:?}", found.malformed);
    assert_eq!(locks(&world).len(), 5);
}
