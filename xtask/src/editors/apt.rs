//! Apt in a folder of its own: for one release of Debian's or Ubuntu's, with nothing taken for installed, so that it
//! downloads packages with all that they depend on, down to the C library.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, ensure};

use super::run;
use crate::prerequisites::DEBIAN_KEYRING;

/// The address of Debian, if the machine does not say.
const DEBIAN: &str = "http://deb.debian.org/debian";

/// The addresses of Ubuntu, for PCs and for other machines.
const UBUNTU: &str = "http://archive.ubuntu.com/ubuntu";
const UBUNTU_PORTS: &str = "http://ports.ubuntu.com/ubuntu-ports";

/// Besides it, and after it, the files in `sources.list.d`.
const SOURCES: &str = "/etc/apt";

/// A package that was downloaded.
#[derive(Debug)]
pub struct Package {
    pub name: String,
    /// With its epoch, such as `2:9.2.0858-1`.
    pub version: String,
    pub file: PathBuf,
}

/// It, for one release.
#[derive(Debug)]
pub struct Apt {
    folder: PathBuf,
}

impl Apt {
    /// Sets it up in `folder` for a release of Debian's, and reads its list of packages.
    pub fn debian(suite: &str, folder: &Path) -> Result<Apt> {
        let uri = archive();
        let source = format!("signed-by={DEBIAN_KEYRING}] {uri} {suite} main");
        Apt::new(&architecture()?, &source, folder)
    }

    /// The same for a release of Ubuntu's, whose lists are signed with a key of this file.
    pub fn ubuntu(suite: &str, keyring: &Path, folder: &Path) -> Result<Apt> {
        let architecture = architecture()?;
        let uri = match architecture.as_str() {
            "amd64" | "i386" => UBUNTU,
            _ => UBUNTU_PORTS,
        };
        let keyring = keyring.display();
        let source = format!("signed-by={keyring}] {uri} {suite} main universe");
        Apt::new(&architecture, &source, folder)
    }

    fn new(architecture: &str, source: &str, folder: &Path) -> Result<Apt> {
        let apt = Apt {
            folder: folder.to_owned(),
        };
        for folder in [
            apt.folder.join("state/lists/partial"),
            apt.archives().join("partial"),
        ] {
            fs::create_dir_all(&folder)
                .with_context(|| format!("cannot make {}", folder.display()))?;
        }
        // Only the one index: others, such as descriptions for people, are many times larger.
        let source = format!("deb [arch={architecture} target=Packages {source}\n");
        apt.write("sources.list", &source)?;
        apt.write("status", "")?;
        apt.write("apt.conf", &apt.configuration())?;
        run(apt.command().arg("update")).with_context(|| format!("apt cannot read {source}"))?;
        Ok(apt)
    }

    /// Downloads these packages and what they depend on.
    pub fn download(&self, packages: &[String]) -> Result<Vec<Package>> {
        let install = ["install", "--yes", "--download-only"];
        let mut command = self.command();
        command.args(install).arg("--no-install-recommends");
        run(command.args(packages))
            .with_context(|| format!("apt cannot download {}", packages.join(", ")))?;
        self.downloaded(packages)
    }

    /// Downloads these packages, and nothing that they depend on.
    pub fn download_alone(&self, packages: &[String]) -> Result<Vec<Package>> {
        let mut command = self.command();
        command.arg("download").args(packages);
        run(command.current_dir(self.archives()))
            .with_context(|| format!("apt cannot download {}", packages.join(", ")))?;
        self.downloaded(packages)
    }

    fn downloaded(&self, packages: &[String]) -> Result<Vec<Package>> {
        let archives = self.archives();
        let listed = fs::read_dir(&archives)
            .with_context(|| format!("cannot list {}", archives.display()))?;
        let files: Vec<Package> = listed
            .flatten()
            .filter_map(|entry| package(entry.path()))
            .collect();
        ensure!(
            files.len() >= packages.len(),
            "apt says that it has downloaded {}, but there is nothing in {}",
            packages.join(", "),
            archives.display()
        );
        Ok(files)
    }

    /// Removes its folder: lists and packages, not what was unpacked.
    pub fn remove(self) -> Result<()> {
        fs::remove_dir_all(&self.folder)
            .with_context(|| format!("cannot remove {}", self.folder.display()))
    }

    /// Read after the machine's own, which may name a proxy.
    fn configuration(&self) -> String {
        let folder = self.folder.display();
        format!(
            r#"#clear APT::Update::Pre-Invoke;
#clear APT::Update::Post-Invoke;
#clear APT::Update::Post-Invoke-Success;
#clear DPkg::Post-Invoke;
Dir::Etc::sourcelist "{folder}/sources.list";
Dir::Etc::sourceparts "/dev/null";
Dir::Etc::preferences "/dev/null";
Dir::Etc::preferencesparts "/dev/null";
Dir::State "{folder}/state";
Dir::State::lists "lists/";
Dir::State::status "{folder}/status";
Dir::Cache "{folder}/cache";
Dir::Cache::archives "archives/";
Dir::Log "{folder}/log";
APT::Default-Release "";
APT::Sandbox::User "";
APT::Update::Error-Mode "any";
Acquire::Languages "none";
Acquire::Retries "3";
"#
        )
    }

    fn command(&self) -> Command {
        let mut command = Command::new("apt-get");
        command
            .env("LC_ALL", "C")
            .env("DEBIAN_FRONTEND", "noninteractive")
            .arg("-c")
            .arg(self.folder.join("apt.conf"))
            .arg("-qq");
        command
    }

    fn archives(&self) -> PathBuf {
        self.folder.join("cache/archives")
    }

    fn write(&self, name: &str, text: &str) -> Result<()> {
        let path = self.folder.join(name);
        fs::write(&path, text).with_context(|| format!("cannot write {}", path.display()))
    }
}

/// The machine's, as packages name it.
fn architecture() -> Result<String> {
    let architecture = run(Command::new("dpkg").arg("--print-architecture"))?;
    Ok(String::from_utf8_lossy(&architecture).trim().to_owned())
}

/// One of a file `NAME_VERSION_ARCHITECTURE.deb`, with the colon of an epoch encoded.
fn package(file: PathBuf) -> Option<Package> {
    let stem = file.file_name()?.to_str()?.strip_suffix(".deb")?;
    let mut parts = stem.split('_');
    Some(Package {
        name: parts.next()?.to_owned(),
        version: parts.next()?.replace("%3a", ":"),
        file,
    })
}

/// The address that packages come from.
pub fn archive() -> String {
    machine_archive(Path::new(SOURCES)).unwrap_or_else(|| DEBIAN.to_owned())
}

/// The Debian archive, perhaps a mirror nearby, that the machine's own packages come from.
fn machine_archive(folder: &Path) -> Option<String> {
    let mut files = vec![folder.join("sources.list")];
    let more = fs::read_dir(folder.join("sources.list.d")).into_iter();
    let mut more: Vec<PathBuf> = more.flatten().flatten().map(|entry| entry.path()).collect();
    more.sort_unstable();
    files.append(&mut more);
    files.iter().find_map(|file| {
        let text = fs::read_to_string(file).ok()?;
        match file.extension()?.to_str()? {
            "list" => text.lines().find_map(line_archive),
            "sources" => text.split("\n\n").find_map(stanza_archive),
            _ => None,
        }
    })
}

/// In a line such as `deb [signed-by=KEY] URI SUITE main contrib`.
fn line_archive(line: &str) -> Option<String> {
    let rest = line.trim().strip_prefix("deb ")?.trim_start();
    let (options, rest) = match rest.strip_prefix('[') {
        Some(rest) => rest.split_once(']')?,
        None => ("", rest),
    };
    let mut words = rest.split_whitespace();
    let (uri, _suite) = (words.next()?, words.next()?);
    let is_foreign = options.contains("signed-by=") && !options.contains("debian-archive");
    (!is_foreign && words.any(|component| component == "main") && is_debian(uri))
        .then(|| uri.to_owned())
}

/// In a paragraph with `URIs:`, `Components:` and perhaps `Signed-By:`.
fn stanza_archive(stanza: &str) -> Option<String> {
    let field = |name: &str| {
        stanza.lines().find_map(|line| {
            let (key, value) = line.split_once(':')?;
            key.eq_ignore_ascii_case(name).then(|| value.trim())
        })
    };
    let has = |name: &str, word: &str| {
        field(name).is_some_and(|value| value.split_whitespace().any(|one| one == word))
    };
    let is_foreign = field("Signed-By").is_some_and(|key| !key.contains("debian-archive"));
    let is_off = field("Enabled").is_some_and(|value| value.eq_ignore_ascii_case("no"));
    if is_foreign || is_off || !has("Types", "deb") || !has("Components", "main") {
        return None;
    }
    let mut uris = field("URIs")?.split_whitespace();
    uris.find(|uri| is_debian(uri)).map(str::to_owned)
}

/// Its mirrors keep the name of its folder; `debian-security` and `debian-ports` are others.
fn is_debian(uri: &str) -> bool {
    let is_http = uri.starts_with("http://") || uri.starts_with("https://");
    is_http && uri.trim_end_matches('/').ends_with("/debian")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn packages_are_known_by_their_files() {
        for (file, expected) in [
            ("a/neovim_0.12.4-1_amd64.deb", Some(("neovim", "0.12.4-1"))),
            (
                "vim_2%3a9.2.0858-1_amd64.deb",
                Some(("vim", "2:9.2.0858-1")),
            ),
            ("elpa-eat_0.9.4-3_all.deb", Some(("elpa-eat", "0.9.4-3"))),
            ("lock", None),
            ("partial", None),
        ] {
            let found = package(PathBuf::from(file));
            let found = found.as_ref();
            let found = found.map(|it| (it.name.as_str(), it.version.as_str()));
            assert_eq!(found, expected, "{file}");
        }
    }

    #[test]
    fn the_archive_is_found_in_lines() {
        for (line, expected) in [
            (
                "deb http://ftp.de.debian.org/debian/ bookworm main contrib",
                Some("http://ftp.de.debian.org/debian/"),
            ),
            (
                "deb [arch=amd64 signed-by=/k/debian-archive-keyring.gpg] https://m/debian sid main",
                Some("https://m/debian"),
            ),
            (
                "deb [signed-by=/k/other.gpg] https://m/linux/debian sid main",
                None,
            ),
            ("deb http://m/debian-security bookworm-security main", None),
            ("deb http://m/debian bookworm contrib", None),
            ("deb-src http://m/debian bookworm main", None),
            ("# deb http://m/debian bookworm main", None),
            ("", None),
        ] {
            assert_eq!(line_archive(line).as_deref(), expected, "{line}");
        }
    }

    #[test]
    fn the_archive_is_found_in_paragraphs() {
        let debian = "Types: deb\n# a comment: here\nURIs: http://m/debian\n\
            Suites: trixie trixie-updates\nComponents: main\n\
            Signed-By: /k/debian-archive-keyring.pgp\n";
        assert_eq!(stanza_archive(debian).as_deref(), Some("http://m/debian"));
        for other in [
            debian.replace("debian\n", "debian-security\n"),
            debian.replace("debian-archive", "vendor"),
            debian.replace("main", "contrib"),
            debian.replace("Types: deb", "Types: deb-src"),
            format!("{debian}Enabled: no\n"),
        ] {
            assert_eq!(stanza_archive(&other), None, "{other}");
        }
    }
}
