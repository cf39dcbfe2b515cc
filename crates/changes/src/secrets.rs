//! The files of which no text is copied: what may hold a secret by its name, and what a person names in `.pillionignore`. That they
//! were changed is noticed nevertheless.

use std::path::Path;

use ignore::gitignore::{Gitignore, GitignoreBuilder};
use pillion_discovery::regular_file;

/// The file in which a person names more of them, or fewer with `!`, in the top folder.
pub const FILE: &str = ".pillionignore";

/// It is not longer than this, in bytes.
const MAX_FILE: u64 = 1 << 20;

/// Those that are known by their names, in git's syntax.
const KNOWN: [&str; 30] = [
    ".env",
    ".env.*",
    "!.env.example",
    "!.env.sample",
    "!.env.template",
    "*.pem",
    "*.key",
    "*.p12",
    "*.pfx",
    "*.jks",
    "*.keystore",
    "*.kdbx",
    "id_rsa*",
    "id_dsa*",
    "id_ecdsa*",
    "id_ed25519*",
    "!id_*.pub",
    ".netrc",
    ".pgpass",
    ".git-credentials",
    ".npmrc",
    ".pypirc",
    ".htpasswd",
    "secring.gpg",
    "**/.aws/credentials",
    "**/.docker/config.json",
    ".envrc*",
    "*.tfstate",
    "*.tfstate.*",
    "*.tfvars",
];

/// What comes after the name of a file in that of an older copy of it.
const COPIES: [&str; 4] = ["~", ".bak", ".old", ".orig"];

/// The files of one folder whose texts are not copied.
#[derive(Debug)]
pub struct Secrets(Gitignore);

impl Secrets {
    /// Those of this folder, as they are named now. Blocking.
    pub fn of(root: &Path) -> Self {
        let mut builder = GitignoreBuilder::new(root);
        let _ = builder.case_insensitive(true);
        let named = regular_file::read(&root.join(FILE), MAX_FILE).unwrap_or_default();
        let named = String::from_utf8_lossy(&named);
        for (at, line) in KNOWN.into_iter().chain(named.lines()).enumerate() {
            if at == KNOWN.len() {
                // As git has it.
                let _ = builder.case_insensitive(false);
            }
            if let Err(error) = builder.add_line(None, line) {
                tracing::debug!(%error, "a line of {FILE} names nothing");
            }
        }
        Self(builder.build().unwrap_or_else(|_| Gitignore::empty()))
    }

    /// Returns true if no text of this file is copied.
    pub fn has(&self, path: &Path) -> bool {
        let name = path.file_name().map_or(path, Path::new);
        let inner = path.strip_prefix(self.0.path()).unwrap_or(name);
        let inner = if inner.has_root() { name } else { inner };
        let found = |path: &Path| self.0.matched_path_or_any_parents(path, false);
        let copied = inner.to_str().and_then(|name| {
            let mut copies = COPIES.iter();
            copies.find_map(|copy| name.strip_suffix(copy))
        });
        found(inner).is_ignore()
            || copied
                .is_some_and(|it| !found(inner).is_whitelist() && found(Path::new(it)).is_ignore())
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    #[test]
    fn what_may_hold_a_secret_is_known_by_its_name_and_people_name_more_or_fewer() {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path();
        let found = |names: &[&str]| -> Vec<bool> {
            let secrets = Secrets::of(root);
            names.iter().map(|it| secrets.has(&root.join(it))).collect()
        };
        let names = [
            ".env",
            "in/.env.local",
            ".env.example",
            "in/server.key",
            "id_rsa",
            "a.env",
            "key",
            "dump/x",
            "dump",
            "in/.ENV",
            "ID_RSA",
            ".env~",
            "id_rsa.bak",
            "in/a.Pem.orig",
            "a.bak",
            "~",
            "id_ed25519_sk",
            "in/id_rsa.pub",
            ".git-credentials",
            "in/.aws/credentials",
            "credentials",
        ];
        let copies = [true, true, true, true, true, false, false];
        let copies = [&copies[..], &[true, false, true, true, false]].concat();
        let known = [true, true, false, true, true, false, false, false, false];
        let known = [&known[..], &copies].concat();
        assert_eq!(found(&names), known);
        fs::write(root.join(FILE), "dump/\n!server.key\n/key\n[\n").unwrap();
        let named = [true, true, false, false, true, false, true, true, false];
        let named = [&named[..], &copies].concat();
        assert_eq!(found(&names), named);
        assert!(Secrets::of(root).has(Path::new("/else/where/.env")));
        assert!(!Secrets::of(Path::new("")).has(Path::new("/else/where/a")));
    }
}
