//! The places of programs: the folders of `PATH`, and the endings that Windows leaves out.

use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};

/// The places where a shell searches for programs.
#[derive(Debug, Clone)]
pub struct SearchPath {
    folders: Vec<PathBuf>,
    endings: Vec<String>,
}

impl SearchPath {
    /// As these variables define it.
    pub fn of<T: AsRef<OsStr>>(variable: impl Fn(&str) -> Option<T>) -> Self {
        // Windows writes it `Path`, and ignores the case.
        let path = variable("PATH").or_else(|| variable("Path"));
        let folders = path.as_ref().map(std::env::split_paths).into_iter();
        let folders = folders.flatten().filter(|it| !it.as_os_str().is_empty());
        let endings = if cfg!(windows) {
            let known = variable("PATHEXT");
            let known = known.as_ref().and_then(|known| known.as_ref().to_str());
            let known = known.unwrap_or(".COM;.EXE;.BAT;.CMD").split(';');
            known.map(str::to_ascii_lowercase).collect()
        } else {
            vec![String::new()]
        };
        Self {
            folders: folders.collect(),
            endings,
        }
    }

    /// The same folders, with these endings in this order.
    #[must_use]
    pub fn with_endings(self, endings: &[&str]) -> Self {
        let endings = endings.iter().map(|ending| (*ending).to_owned()).collect();
        Self { endings, ..self }
    }

    /// This folder alone.
    #[must_use]
    pub fn with_folder(self, folder: impl Into<PathBuf>) -> Self {
        let folders = vec![folder.into()];
        Self { folders, ..self }
    }

    /// The same without folders that depend on where we are.
    #[must_use]
    pub fn without_relative(mut self) -> Self {
        self.folders.retain(|folder| folder.is_absolute());
        self
    }

    /// Every program of this name, the first one's folder first.
    pub fn programs(&self, name: impl AsRef<OsStr>) -> impl Iterator<Item = PathBuf> {
        self.files(name).filter(|file| is_program(file))
    }

    /// The files that a program of this name may be.
    pub fn files(&self, name: impl AsRef<OsStr>) -> impl Iterator<Item = PathBuf> {
        let named = |folder: &PathBuf| {
            let named = |ending: &String| {
                let mut file = OsString::from(name.as_ref());
                file.push(ending);
                folder.join(file)
            };
            self.endings.iter().map(named).collect::<Vec<_>>()
        };
        let files: Vec<_> = self.folders.iter().flat_map(named).collect();
        files.into_iter()
    }
}

/// Returns true if it is a file that may be run.
pub fn is_program(path: &Path) -> bool {
    let Ok(data) = path.metadata() else {
        return false;
    };
    #[cfg(unix)]
    let may_run = std::os::unix::fs::PermissionsExt::mode(&data.permissions()) & 0o111 != 0;
    #[cfg(not(unix))]
    let may_run = true;
    data.is_file() && may_run
}

#[cfg(all(test, unix))]
mod tests {
    use std::fs::{self, Permissions};
    use std::os::unix::fs::PermissionsExt;

    use super::*;

    #[test]
    fn what_may_be_run_is_found_in_the_order_of_the_folders() {
        let folder = tempfile::tempdir().unwrap();
        let [first, second, third] = ["b", "a", "c"].map(|name| folder.path().join(name));
        for folder in [&first, &second, &third] {
            fs::create_dir(folder).unwrap();
            fs::write(folder.join("tool"), "").unwrap();
        }
        for folder in [&first, &third] {
            let tool = folder.join("tool");
            fs::set_permissions(tool, Permissions::from_mode(0o755)).unwrap();
        }
        fs::create_dir(second.join("other")).unwrap();
        let path = format!(
            "{}::{}:bin:{}",
            first.display(),
            second.display(),
            third.display()
        );
        let search = SearchPath::of(|name| (name == "PATH").then_some(&path));
        let found: Vec<_> = search.programs("tool").collect();
        assert_eq!(found, [first.join("tool"), third.join("tool")]);
        assert_eq!(
            search.programs("other").count(),
            0,
            "a folder is no program"
        );
        assert_eq!(search.files("tool").count(), 4, "no empty folder");
        assert_eq!(search.without_relative().files("tool").count(), 3);
        let nowhere = SearchPath::of(|_| None::<OsString>);
        assert_eq!(nowhere.files("tool").count(), 0);
    }
}
