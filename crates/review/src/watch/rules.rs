//! The one place that decides whether a path is ignored.

mod files;

use std::path::Path;
use std::sync::Arc;

use ignore::gitignore::Gitignore;
use pillion_discovery::version_control::{GIT, is_work_tree};

pub use files::user_excludes;
use files::{compile, exclude_file};

/// The files in a folder that change what is ignored in it; the later has the last word.
const RULE_FILES: [&str; 2] = [".gitignore", ".ignore"];

/// The rules for what is ignored in one folder. Folders without rules of their own share those of
/// the folder above.
#[derive(Debug, Clone, Default)]
pub struct Rules {
    last: Option<Arc<Level>>,
    /// The file of what the user ignores everywhere.
    excludes: Option<Arc<Path>>,
}

/// The rules of one file.
#[derive(Debug)]
struct Level {
    rules: Gitignore,
    /// The rules that hold where these have none.
    next: Option<Arc<Level>>,
}

impl Rules {
    /// The rules that hold around a workspace folder: those of its repository. A folder that was asked
    /// for is not ignored itself.
    pub fn above(root: &Path, excludes: Option<&Path>) -> Self {
        let mut rules = Self {
            last: None,
            excludes: excludes.map(Arc::from),
        };
        if let Some(excludes) = excludes {
            rules.put(excludes, root);
        }
        let Some(top) = root.ancestors().find(|folder| is_work_tree(folder)) else {
            return rules;
        };
        let mut around: Vec<_> = root.ancestors().skip(1).collect();
        around.retain(|folder| folder.starts_with(top));
        for folder in around.into_iter().rev() {
            rules = rules.within(folder, |name| folder.join(name).exists());
        }
        rules
    }

    /// The rules in `folder`, which lies in the folder of these. `has` tells whether it holds a name.
    pub fn within(&self, folder: &Path, has: impl Fn(&str) -> bool) -> Self {
        let mut rules = self.clone();
        if has(GIT) && is_work_tree(folder) {
            // Rules from around a repository do not hold inside it.
            rules.last = None;
            if let Some(excludes) = self.excludes.clone() {
                rules.put(&excludes, folder);
            }
            if let Some(exclude) = exclude_file(folder) {
                rules.put(&exclude, folder);
            }
        }
        for name in RULE_FILES.into_iter().filter(|name| has(name)) {
            let file = folder.join(name);
            // git follows no link here.
            if file.symlink_metadata().is_ok_and(|file| file.is_file()) {
                rules.put(&file, folder);
            }
        }
        rules
    }

    /// Adds the rules in `file`, which speak about `folder`. They come first.
    fn put(&mut self, file: &Path, folder: &Path) {
        let rules = compile(file, folder).filter(|rules| !rules.is_empty());
        if let Some(rules) = rules {
            let next = self.last.take();
            self.last = Some(Arc::new(Level { rules, next }));
        }
    }

    /// Returns true if `path`, something in the folder of these rules, is hidden or ignored.
    pub fn ignore(&self, path: &Path, is_folder: bool) -> bool {
        let name = path.file_name().unwrap_or_default();
        if name.as_encoded_bytes().starts_with(b".") {
            return true;
        }
        let mut last = &self.last;
        while let Some(Level { rules, next }) = last.as_deref() {
            let found = rules.matched(path, is_folder);
            if !found.is_none() {
                return found.is_ignore();
            }
            last = next;
        }
        false
    }
}

#[cfg(test)]
mod tests;
