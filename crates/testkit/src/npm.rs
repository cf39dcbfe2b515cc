//! The pinned npm packages. `cargo xtask test` installs them and names their place in a variable.

use std::path::{Path, PathBuf};

use crate::Env;

/// The variable that holds the folder of the installation.
const VARIABLE: &str = "PILLION_TEST_NPM";

/// The folder with the pinned npm packages, among them the Node that everything runs with.
#[derive(Debug, Clone)]
pub struct Npm {
    folder: PathBuf,
}

impl Npm {
    /// The folder that `PILLION_TEST_NPM` names.
    ///
    /// # Panics
    /// If the variable is unset, or the folder holds no installation.
    pub fn from_env() -> Npm {
        let folder = PathBuf::from(std::env::var_os(VARIABLE).unwrap_or_else(|| {
            panic!("{VARIABLE} is not set: run this test through `cargo xtask test`, which installs the real agents")
        }));
        let npm = Npm { folder };
        assert!(
            npm.node().exists(),
            "{VARIABLE} names {}, but there is no {}: `cargo xtask test` installs it",
            npm.folder.display(),
            npm.node().display()
        );
        npm
    }

    /// The folder itself, absolute.
    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// The folder of all commands of the packages, `node` among them, which goes on PATH.
    pub fn bin(&self) -> PathBuf {
        self.folder.join("node_modules/.bin")
    }

    /// Puts the commands on PATH, and spares Node from compiling the same sources for each test.
    pub fn add_to(&self, env: &mut Env) {
        env.prepend_path(self.bin())
            .set("NODE_COMPILE_CACHE", self.folder.join("compile-cache"));
    }

    /// The pinned Node.
    pub fn node(&self) -> PathBuf {
        self.bin().join("node")
    }

    /// The folder of one package, such as `@google/gemini-cli-core`.
    pub fn package(&self, name: &str) -> PathBuf {
        self.folder.join("node_modules").join(name)
    }
}
