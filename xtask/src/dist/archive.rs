//! Tarballs that are the same whoever makes them: files in order, nobody's, at the time of the last commit.

use std::fs::{self, File};
use std::io::Write;
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::OnceLock;
use std::time::{Duration, UNIX_EPOCH};

use anyhow::{Context, Result, ensure};

use super::{files, output};
use crate::root;

/// Of bsdtar, which macOS and Windows have, and of GNU's.
const NOBODYS: [&str; 4] = if cfg!(target_os = "linux") {
    [
        "--owner=0",
        "--group=0",
        "--numeric-owner",
        "--format=ustar",
    ]
} else {
    ["--uid=0", "--gid=0", "--numeric-owner", "--format=ustar"]
};

/// Packs `folder`, a name below `parent`, as `to`.
pub fn pack(parent: &Path, folder: &str, to: &Path) -> Result<()> {
    let mut names = String::new();
    for file in files(&parent.join(folder))? {
        let name = Path::new(folder).join(file);
        let name = name.to_str().context("a name that is no text")?;
        names.push_str(&name.replace('\\', "/"));
        names.push('\n');
    }
    for name in names.lines() {
        settle(&parent.join(name))?;
    }
    let cannot = || format!("cannot write {}", to.display());
    let file = File::create(to).with_context(cannot)?;
    let mut tar = Command::new("tar");
    tar.args(NOBODYS)
        .args(["-c", "-f", "-", "-T", "-"])
        .current_dir(parent);
    let mut tar = tar
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .context("tar did not start")?;
    let packed = tar.stdout.take().context("tar has no output")?;
    let mut gzip = Command::new("gzip");
    let mut gzip = gzip
        .args(["-n", "-9"])
        .stdin(packed)
        .stdout(file)
        .spawn()
        .context("gzip did not start")?;
    // A pipe takes more than the names of a few hundred files; tar reads them first.
    let mut list = tar.stdin.take().context("tar has no input")?;
    list.write_all(names.as_bytes()).with_context(cannot)?;
    drop(list);
    ensure!(tar.wait()?.success(), "tar failed");
    ensure!(gzip.wait()?.success(), "gzip failed");
    Ok(())
}

/// Gives a file the time of the last commit, and rights that do not depend on who checked it out.
pub fn settle(path: &Path) -> Result<()> {
    let time = UNIX_EPOCH + Duration::from_secs(time()?);
    let cannot = || format!("cannot change {}", path.display());
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        let mode = fs::metadata(path)
            .with_context(cannot)?
            .permissions()
            .mode();
        let mode = if mode & 0o100 == 0 { 0o644 } else { 0o755 };
        fs::set_permissions(path, fs::Permissions::from_mode(mode)).with_context(cannot)?;
    }
    let file = fs::OpenOptions::new().append(true).open(path);
    file.and_then(|file| file.set_modified(time))
        .with_context(cannot)
}

/// When the last commit was made, in seconds; `SOURCE_DATE_EPOCH` says so where there is no repository.
pub fn time() -> Result<u64> {
    static TIME: OnceLock<u64> = OnceLock::new();
    if let Some(time) = TIME.get() {
        return Ok(*time);
    }
    let time = look_up_time()?;
    Ok(*TIME.get_or_init(|| time))
}

fn look_up_time() -> Result<u64> {
    if let Ok(time) = std::env::var("SOURCE_DATE_EPOCH") {
        return time.parse().context("SOURCE_DATE_EPOCH is no number");
    }
    let mut git = Command::new("git");
    let time = output(git.args(["log", "-1", "--format=%ct"]).current_dir(root()))?;
    let time = String::from_utf8(time)?;
    time.trim().parse().context("git log has no time")
}
