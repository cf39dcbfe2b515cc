//! The test binaries of the workspace: built once, and asked for their tests.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use anyhow::{Context, Result, ensure};
use serde::Deserialize;

use super::run::cargo;
use super::summary::{IgnoredTest, TestSummary};

/// One binary, with its tests.
#[derive(Debug)]
pub struct Binary {
    /// Its name for people: the crate, and which of its tests.
    pub title: String,
    path: PathBuf,
    /// The folder of its crate, where its tests expect to run.
    folder: PathBuf,
    /// True if it holds module tests: small, many, and with much in common.
    pub is_of_modules: bool,
    /// Those that every run has.
    pub tests: Vec<String>,
    pub ignored: Vec<IgnoredTest>,
}

/// The message of cargo about something that it has built.
#[derive(Debug, Deserialize)]
struct Artifact {
    executable: PathBuf,
    manifest_path: PathBuf,
    profile: Profile,
    target: Target,
}

#[derive(Debug, Deserialize)]
struct Profile {
    test: bool,
}

#[derive(Debug, Deserialize)]
struct Target {
    kind: Vec<String>,
    name: String,
}

/// Builds them with these options of `cargo test`. Nothing if that fails: cargo has reported why.
pub fn build(options: &[&str]) -> Result<Option<Vec<Binary>>> {
    let mut command = cargo(&[
        "test",
        "--no-run",
        "--message-format=json-render-diagnostics",
    ]);
    let child = command.args(options).stdout(Stdio::piped()).spawn();
    let output = child.and_then(std::process::Child::wait_with_output);
    let output = output.context("cargo did not start")?;
    if !output.status.success() {
        return Ok(None);
    }
    let lines = output.stdout.split(|byte| *byte == b'\n');
    // Other lines are about what is not an executable.
    let artifacts = lines.filter_map(|line| serde_json::from_slice::<Artifact>(line).ok());
    let tests = artifacts.filter(|artifact| artifact.profile.test);
    tests.map(Binary::ask).collect::<Result<_>>().map(Some)
}

impl Binary {
    /// One that is not run.
    #[cfg(test)]
    pub fn of(title: &str, tests: &[&str], ignored: &[(&str, &str)]) -> Binary {
        let ignored = ignored.iter().map(|&(test, reason)| IgnoredTest {
            test: test.to_owned(),
            reason: reason.to_owned(),
        });
        Binary {
            title: title.to_owned(),
            path: PathBuf::new(),
            folder: PathBuf::new(),
            is_of_modules: false,
            tests: tests.iter().map(|&test| test.to_owned()).collect(),
            ignored: ignored.collect(),
        }
    }

    fn ask(artifact: Artifact) -> Result<Binary> {
        let folder = artifact.manifest_path.parent().unwrap_or(Path::new("."));
        let package = folder.file_name().unwrap_or_default().display();
        let is_of_modules = !artifact.target.kind.iter().any(|kind| kind == "test");
        let title = if is_of_modules {
            package.to_string()
        } else {
            format!("{package}/{}", artifact.target.name)
        };
        let mut binary = Binary {
            title,
            path: artifact.executable,
            folder: folder.to_owned(),
            is_of_modules,
            tests: Vec::new(),
            ignored: Vec::new(),
        };
        binary.tests = binary.list(&[])?;
        let ignored = binary.list(&["--ignored"])?;
        binary.tests.retain(|test| !ignored.contains(test));
        if !ignored.is_empty() {
            binary.ignored = binary.reasons(&ignored)?;
        }
        Ok(binary)
    }

    /// It, to be run with these options.
    pub fn command(&self, options: &[&str]) -> Command {
        let mut command = Command::new(&self.path);
        command
            .args(options)
            .current_dir(&self.folder)
            // As cargo has it; what is there is about this program.
            .env("CARGO_MANIFEST_DIR", &self.folder)
            .env_remove("CARGO_PKG_NAME");
        command
    }

    fn list(&self, options: &[&str]) -> Result<Vec<String>> {
        let printed = self.printed(&[&["--list", "--format=terse"], options].concat())?;
        let tests = printed
            .lines()
            .filter_map(|line| line.strip_suffix(": test"));
        Ok(tests.map(str::to_owned).collect())
    }

    /// A list does not say why tests are ignored; a run that chooses only these does, and runs nothing.
    fn reasons(&self, ignored: &[String]) -> Result<Vec<IgnoredTest>> {
        let names = ignored.iter().map(String::as_str);
        let options: Vec<_> = ["--exact"].into_iter().chain(names).collect();
        Ok(TestSummary::of(&self.printed(&options)?).ignored)
    }

    fn printed(&self, options: &[&str]) -> Result<String> {
        let output = self.command(options).output();
        let output = output.with_context(|| format!("{} did not start", self.title))?;
        let stderr = String::from_utf8_lossy(&output.stderr);
        ensure!(
            output.status.success(),
            "{} cannot list its tests: {stderr}",
            self.title
        );
        Ok(String::from_utf8_lossy(&output.stdout).into_owned())
    }
}
