//! Places that are not ours: refused and named, while the others are served.

use std::fs;
use std::os::unix::fs::{chown, symlink};
use std::path::Path;

use pillion_discovery::{DiscoveryFiles, Environment, FileError};
use pillion_protocol::Dialect;

use crate::world::{Listener, World, claude_lock, is_root, publish, publish_in, warnings};

/// The user `nobody` of most systems; any but the test's own would do.
const SOMEBODY_ELSE: u32 = 65534;

/// Publishes, expects one warning with the error's path at `named`, and nothing in `untouched`.
fn refuses(world: &World, named: &str, is_expected: fn(&FileError) -> bool) -> DiscoveryFiles {
    let listener = Listener::new();
    let discovery_files = publish(world, listener.port());
    let [warning] = discovery_files.warnings() else {
        panic!("{:?}", warnings(&discovery_files));
    };
    assert_eq!(warning.error.path(), world.path(named));
    assert!(is_expected(&warning.error), "{warning}");
    assert!(warning.to_string().contains(named), "{warning}");
    assert!(
        world
            .path(&format!("home/.qwen/ide/{}.lock", listener.port()))
            .is_file()
    );
    discovery_files
}

#[test]
fn the_variable_that_is_to_be_set_is_the_one_that_determines_the_place() {
    for (file, variable) in [
        ("home/.qwen", "QWEN_HOME"),
        ("home/.claude", "CLAUDE_CONFIG_DIR"),
        ("tmp", "TMPDIR"),
    ] {
        let (world, listener) = (World::new(), Listener::new());
        let _ = fs::remove_dir(world.path(file));
        fs::write(world.path(file), "").unwrap();
        let discovery_files = publish(&world, listener.port());
        let told = warnings(&discovery_files);
        let expected = format!("or set {variable} to one that is");
        assert!(!told.is_empty(), "nothing can be created there");
        assert!(told.iter().all(|it| it.contains(&expected)), "{told:?}");
    }
}

#[test]
fn a_linked_folder_is_refused_and_nothing_is_written_through_it() {
    for named in ["tmp/gemini", "tmp/gemini/ide"] {
        let world = World::new();
        let (place, elsewhere) = (world.path(named), world.path("elsewhere/ide"));
        fs::create_dir_all(&elsewhere).unwrap();
        fs::create_dir_all(place.parent().unwrap()).unwrap();
        symlink(world.path("elsewhere"), &place).unwrap();
        let discovery_files = refuses(&world, named, |error| matches!(error, FileError::Link(_)));
        let both = [Dialect::GeminiCli, Dialect::QwenCode];
        assert_eq!(discovery_files.warnings()[0].agents, both);
        let in_it = fs::read_dir(&elsewhere).unwrap().count();
        assert_eq!(in_it, 0);
        drop(discovery_files);
        assert!(place.is_symlink());
    }
}

#[test]
fn a_link_at_the_files_own_name_is_refused_and_stays() {
    let world = World::new();
    let named = format!("tmp/gemini-ide-server-{}.json", std::process::id());
    fs::write(world.path("precious"), "precious").unwrap();
    symlink(world.path("precious"), world.path(&named)).unwrap();
    drop(refuses(&world, &named, |error| {
        matches!(error, FileError::Link(_))
    }));
    assert!(world.path(&named).is_symlink());
    assert_eq!(
        fs::read_to_string(world.path("precious")).unwrap(),
        "precious"
    );
}

#[test]
fn a_link_that_leads_nowhere_is_refused_too() {
    let world = World::new();
    let named = format!("tmp/gemini-ide-server-{}.json", std::process::id());
    symlink(world.path("nowhere"), world.path(&named)).unwrap();
    refuses(&world, &named, |error| matches!(error, FileError::Link(_)));
    assert!(!world.path("nowhere").exists());
}

#[test]
fn a_folder_at_the_files_own_name_is_refused() {
    let world = World::new();
    let named = format!("tmp/gemini-ide-server-{}.json", std::process::id());
    fs::create_dir(world.path(&named)).unwrap();
    refuses(&world, &named, |error| {
        matches!(error, FileError::NotAFile(_))
    });
}

#[test]
fn a_file_where_a_folder_should_be_is_refused_and_stays() {
    let world = World::new();
    fs::write(world.path("tmp/qwen"), "mine").unwrap();
    refuses(&world, "tmp/qwen", |error| {
        matches!(error, FileError::NotAFolder(_))
    });
    assert_eq!(fs::read_to_string(world.path("tmp/qwen")).unwrap(), "mine");
}

#[test]
fn another_users_folder_is_refused() {
    if !is_root() {
        return;
    }
    for named in ["tmp/gemini", "tmp/gemini/ide"] {
        let world = World::new();
        fs::create_dir_all(world.path("tmp/gemini/ide")).unwrap();
        chown(world.path(named), Some(SOMEBODY_ELSE), None).unwrap();
        refuses(&world, named, |error| {
            matches!(
                error,
                FileError::Foreign {
                    uid: SOMEBODY_ELSE,
                    ..
                }
            )
        });
        assert_eq!(
            fs::read_dir(world.path("tmp/gemini/ide")).unwrap().count(),
            0
        );
    }
}

#[test]
fn another_users_file_is_refused_and_stays() {
    if !is_root() {
        return;
    }
    let world = World::new();
    let named = format!("tmp/gemini-ide-server-{}.json", std::process::id());
    fs::write(world.path(&named), "theirs").unwrap();
    chown(world.path(&named), Some(SOMEBODY_ELSE), None).unwrap();
    drop(refuses(&world, &named, |error| {
        matches!(error, FileError::Foreign { .. })
    }));
    assert_eq!(fs::read_to_string(world.path(&named)).unwrap(), "theirs");
}

#[test]
fn another_users_temporary_directory_is_refused_unless_it_is_meant_to_be_shared() {
    if !is_root() {
        return;
    }
    let (world, listener) = (World::new(), Listener::new());
    chown(world.path("tmp"), Some(SOMEBODY_ELSE), None).unwrap();
    let discovery_files = publish(&world, listener.port());
    assert_eq!(
        world.files().len(),
        2,
        "only the lock files in the home directory"
    );
    assert_eq!(
        discovery_files.warnings().len(),
        3,
        "one for each directory"
    );
    drop(discovery_files);

    rustix::fs::chmod(world.path("tmp"), rustix::fs::Mode::from_raw_mode(0o1777)).unwrap();
    assert!(publish(&world, listener.port()).warnings().is_empty());
}

#[test]
fn a_directory_that_is_not_writable_is_named_and_the_others_are_served() {
    let (world, listener) = (World::new(), Listener::new());
    fs::write(world.path("file"), "").unwrap();
    for (tmpdir, named) in [
        (world.path("file/below"), "file/below"),
        ("/proc/self".into(), "/proc/self"),
    ] {
        let environment =
            Environment::from_pairs([("TMPDIR", tmpdir), ("HOME", world.path("home"))]);
        let discovery_files = publish_in(&environment, listener.port());
        let files = discovery_files.files();
        assert_eq!(files.len(), 2, "{files:?}");
        assert!(files[0].starts_with(world.path("home/.qwen/ide")));
        assert_eq!(files[1], claude_lock(&world, listener.port()));
        assert_eq!(
            discovery_files.warnings().len(),
            3,
            "{:?}",
            warnings(&discovery_files)
        );
        for warning in discovery_files.warnings() {
            assert!(warning.to_string().contains(named), "{warning}");
            assert!(
                warning.directory.starts_with(warning_base(named, &world)),
                "{warning}"
            );
        }
    }
}

fn warning_base(named: &str, world: &World) -> std::path::PathBuf {
    if Path::new(named).is_absolute() {
        named.into()
    } else {
        world.path(named)
    }
}
