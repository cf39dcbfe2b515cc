//! Agents connect from the person's projects, and never from bare `~` or `/` (C2.7).

use std::path::{Path, PathBuf};

use pillion_protocol::Dialect;
use pillion_testkit::{Home, discovery_file, discovery_files, each_editor, make_repository};

use crate::driver::{Habit, Kind};
use crate::person::{Person, wait_for};

/// A file, and the folders above it.
fn file_in(folder: &Path) -> PathBuf {
    std::fs::create_dir_all(folder).unwrap();
    let path = folder.join("a.txt");
    std::fs::write(&path, "text\n").unwrap();
    path
}

/// The roots that agents find.
fn roots(home: &Home) -> Option<String> {
    let files = discovery_files(home, Dialect::GeminiCli);
    Some(discovery_file(files.first()?).workspace_path)
}

#[each_editor]
fn neither_home_nor_the_machine_is_a_root(kind: Kind) {
    for is_home in [true, false] {
        let home = Home::new();
        let path = file_in(&home.home());
        let cwd = if is_home {
            home.home()
        } else {
            PathBuf::from("/")
        };
        let person = Person::in_folder(kind, Habit::None, home, cwd, path);
        assert_eq!(roots(&person.home).unwrap(), "");
    }
}

#[each_editor]
fn the_repository_of_an_open_file_is_a_root(kind: Kind) {
    let home = Home::new();
    let repository = home.home().join("repo");
    make_repository(&repository);
    let path = file_in(&repository.join("src"));
    let cwd = home.home();
    let person = Person::in_folder(kind, Habit::None, home, cwd, path);
    let repository = repository.to_str().unwrap();
    wait_for("the repository as a root", || {
        roots(&person.home).filter(|roots| roots == repository)
    });
}
