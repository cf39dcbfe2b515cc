//! Our JavaScript: no package, and no step that makes something else of it. Its types stand in comments, and TypeScript checks
//! them.

use std::fs;
use std::path::Path;
use std::process::Command;

use anyhow::{Context, Result};
use serde_json::{Value, json};

use crate::test::Job;
use crate::{root, target_dir};

/// The folder of the page in the browser, below the repository's root: modules.
const PAGE: &str = "crates/web/page";

/// The folder of VS Code's extension: modules as its Node has them.
const VSCODE: &str = "editors/vscode";

/// The checks: what the types do not allow.
///
/// # Errors
/// If the settings of the checker cannot be written.
pub fn checks() -> Result<Vec<Job>> {
    let packages = std::path::absolute(target_dir().join("npm-browser/node_modules"))?;
    let of_page = json!({
        "lib": ["es2023", "dom", "dom.iterable"],
        "module": "esnext",
        "types": [],
    });
    let of_vscode = json!({
        "lib": ["es2023"],
        "module": "commonjs",
        "typeRoots": [packages.join("@types")],
        "types": ["node", "vscode"],
    });
    let folders = [(PAGE, of_page), (VSCODE, of_vscode)];
    let there = folders
        .into_iter()
        .filter(|(folder, _)| root().join(folder).is_dir());
    there
        .map(|(folder, options)| check(folder, options, &packages))
        .collect()
}

fn check(folder: &str, mut options: Value, packages: &Path) -> Result<Job> {
    for option in ["allowJs", "checkJs", "noEmit", "skipLibCheck", "strict"] {
        options[option] = true.into();
    }
    options["target"] = "es2023".into();
    options["moduleResolution"] = "bundler".into();
    let settings = json!({
        "compilerOptions": options,
        "include": [root().join(folder).join("**/*.js")],
    });
    let name = format!("tsconfig-{}.json", folder.replace('/', "-"));
    let file = std::path::absolute(target_dir().join(name))?;
    fs::write(&file, settings.to_string())
        .with_context(|| format!("cannot write {}", file.display()))?;
    let mut command = Command::new(target_dir().join("npm/node_modules/.bin/node"));
    command
        .arg(packages.join("typescript/bin/tsc"))
        .arg("--project")
        .arg(file)
        .current_dir(root());
    Ok(Job {
        title: format!("tsc --checkJs {folder}"),
        command,
        may_be_flaky: false,
    })
}
