//! The project's source files, as the tests of its boundaries read them.

use std::fs;
use std::path::{Path, PathBuf};

/// A source file below the repository's root.
pub struct Source {
    pub path: String,
    pub text: String,
}

/// The files with this extension in these folders, and below.
pub fn read(folders: &[&str], extension: &str) -> Vec<Source> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap();
    let mut files = Vec::new();
    for folder in folders {
        collect(&root.join(folder), extension, &mut files);
    }
    assert!(!files.is_empty(), "the sources were found");
    files
        .into_iter()
        .map(|path| Source {
            text: fs::read_to_string(&path).unwrap(),
            path: path
                .strip_prefix(root)
                .unwrap()
                .to_str()
                .unwrap()
                .replace('\\', "/"),
        })
        .collect()
}

fn collect(folder: &Path, extension: &str, files: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        let name = path.file_name().unwrap().to_str().unwrap();
        if path.is_dir() && name != "target" && name != "node_modules" {
            collect(&path, extension, files);
        } else if path.extension().is_some_and(|it| it == extension) {
            files.push(path);
        }
    }
}
