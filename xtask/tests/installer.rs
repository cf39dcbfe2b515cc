//! `packaging/install.sh` against a server of files: what it installs, and what it refuses.

#![cfg(target_os = "linux")]
#![allow(clippy::unwrap_used, reason = "a test that cannot go on says where")]

use std::collections::HashMap;
use std::fs;
use std::io::{BufRead, BufReader, Write};
use std::net::TcpListener;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::thread;

use pillion_text::fingerprint;

const VERSION: &str = "7.8.9";
const PROGRAM: &str = "#!/bin/sh\necho pillion 7.8.9\n";
const SUMS: &str = "SHA256SUMS";

/// A release of a program that only says its version, for this processor.
struct Release {
    folder: tempfile::TempDir,
    archive: String,
    files: HashMap<String, Vec<u8>>,
    /// The part of a file that is sent of what is promised.
    sent: fn(&[u8]) -> &[u8],
}

impl Release {
    fn of(program: &str) -> Release {
        let folder = tempfile::tempdir().unwrap();
        let name = format!(
            "pillion-{VERSION}-{}-unknown-linux-musl",
            std::env::consts::ARCH
        );
        let inner = folder.path().join(&name);
        fs::create_dir(&inner).unwrap();
        executable(&inner.join("pillion"), program);
        let archive = format!("{name}.tar.gz");
        let mut tar = Command::new("tar");
        tar.args(["-czf", &archive, &name])
            .current_dir(folder.path());
        assert!(tar.status().unwrap().success());
        let bytes = fs::read(folder.path().join(&archive)).unwrap();
        let sums = format!(
            "{}  {archive}\n{}  other.tar.gz\n",
            fingerprint::hash(&bytes),
            "0".repeat(64)
        );
        let files = [
            (archive.clone(), bytes),
            (SUMS.to_owned(), sums.into_bytes()),
        ];
        Release {
            folder,
            archive,
            files: files.into(),
            sent: |bytes| bytes,
        }
    }

    /// Serves it, on a thread that ends with the test. Its address.
    fn serve(&self) -> String {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        let (files, sent) = (self.files.clone(), self.sent);
        thread::spawn(move || {
            for connection in listener.incoming() {
                let mut connection = connection.unwrap();
                let mut asked = String::new();
                let mut reader = BufReader::new(connection.try_clone().unwrap());
                reader.read_line(&mut asked).unwrap();
                let mut line = String::new();
                while reader.read_line(&mut line).is_ok_and(|read| read > 2) {
                    line.clear();
                }
                let path = asked.split(' ').nth(1).unwrap_or_default();
                let answer = match files.get(path.trim_start_matches('/')) {
                    Some(bytes) => {
                        let length = bytes.len();
                        let head = format!("HTTP/1.0 200 OK\r\nContent-Length: {length}\r\n\r\n");
                        [head.as_bytes(), sent(bytes)].concat()
                    }
                    None => b"HTTP/1.0 404 Not Found\r\nContent-Length: 0\r\n\r\n".to_vec(),
                };
                // Who refuses hangs up.
                let _ = connection.write_all(&answer);
            }
        });
        format!("http://{address}")
    }
}

fn executable(path: &Path, text: &str) {
    fs::write(path, text).unwrap();
    fs::set_permissions(path, fs::Permissions::from_mode(0o755)).unwrap();
}

/// A person who runs the installer.
struct Person {
    home: PathBuf,
    variables: Vec<(&'static str, String)>,
    /// Programs that come before the system's.
    programs: PathBuf,
    /// The command that starts the installer.
    shell: Vec<&'static str>,
}

impl Person {
    fn new(release: &Release) -> Person {
        let home = release.folder.path().join("home of a person");
        let programs = release.folder.path().join("programs");
        fs::create_dir(&home).unwrap();
        fs::create_dir(&programs).unwrap();
        Person {
            home,
            variables: Vec::new(),
            programs,
            shell: vec!["sh"],
        }
    }

    fn with(mut self, name: &'static str, value: impl Into<String>) -> Person {
        self.variables.push((name, value.into()));
        self
    }

    fn program(self, name: &str, text: &str) -> Person {
        executable(&self.programs.join(name), text);
        self
    }

    fn installed(&self) -> PathBuf {
        self.home.join(".local/bin/pillion")
    }

    fn run(&self, base: &str) -> Output {
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
        let script = fs::read_to_string(root.join("packaging/install.sh")).unwrap();
        let script = script.replace("@VERSION@", VERSION);
        let file = self.programs.with_file_name("install.sh");
        fs::write(&file, script).unwrap();
        let mut command = Command::new(self.shell[0]);
        command.args(&self.shell[1..]).arg(file).env_clear();
        command
            .env(
                "PATH",
                format!("{}:/usr/local/bin:/usr/bin:/bin", self.programs.display()),
            )
            .env("HOME", &self.home)
            .env("PILLION_BASE_URL", base)
            .envs(self.variables.iter().map(|(name, value)| (name, value)));
        command.output().unwrap()
    }

    /// It refuses with these words, and there is nothing afterwards.
    fn is_refused(&self, base: &str, words: &str) {
        let output = self.run(base);
        let said = String::from_utf8(output.stderr).unwrap();
        assert!(!output.status.success(), "{said}");
        assert!(said.contains(words), "{said}");
        assert!(said.contains("\nhint: "), "{said}");
        let left = self.home.join(".local/bin").read_dir();
        assert_eq!(left.map_or(0, Iterator::count), 0, "{said}");
    }
}

#[test]
fn it_is_installed_and_updated_in_a_home_with_spaces() {
    let release = Release::of(PROGRAM);
    let person = Person::new(&release);
    for round in ["first", "second"] {
        let output = person.run(&release.serve());
        let said = String::from_utf8(output.stdout).unwrap();
        assert!(
            output.status.success(),
            "{round}: {}",
            String::from_utf8_lossy(&output.stderr)
        );
        let folder = person.home.join(".local/bin");
        assert!(
            said.contains(&format!(
                "pillion 7.8.9 is installed in {}",
                folder.display()
            )),
            "{said}"
        );
        assert!(
            said.contains(&format!("export PATH=\"{}:$PATH\"", folder.display())),
            "{said}"
        );
        assert_eq!(fs::read_to_string(person.installed()).unwrap(), PROGRAM);
        assert_eq!(folder.read_dir().unwrap().count(), 1, "{round}");
    }
}

#[test]
fn every_way_to_download_works() {
    let release = Release::of(PROGRAM);
    for (name, value) in &release.files {
        fs::write(release.folder.path().join(name), value).unwrap();
    }
    let person = Person::new(&release);
    let files = format!("file://{}", release.folder.path().display());
    for (base, hidden) in [
        (release.serve(), "curl"),
        (release.serve(), "wget"),
        (files, ""),
    ] {
        let _ = fs::remove_file(person.installed());
        // `command -v` finds functions first: what is hidden so is taken for missing by the script.
        let hide = "command() { [ \"$2\" != \"$HIDDEN\" ] && builtin command \"$@\"; }; . \"$0\"";
        let person = Person {
            shell: vec!["bash", "-c", hide],
            variables: vec![("HIDDEN", hidden.to_owned())],
            ..Person {
                home: person.home.clone(),
                programs: person.programs.clone(),
                variables: Vec::new(),
                shell: Vec::new(),
            }
        };
        let has_other = |name: &str| Path::new("/usr/bin").join(name).exists();
        if hidden == "curl" && !has_other("wget") {
            continue;
        }
        let output = person.run(&base);
        assert!(
            output.status.success(),
            "{hidden}: {}",
            String::from_utf8_lossy(&output.stderr)
        );
        assert!(person.installed().is_file());
    }
}

#[test]
fn what_is_not_as_it_was_released_is_refused() {
    // Another program, with the checksums of the real one.
    let other = Release::of("#!/bin/sh\necho stolen\n");
    let mut release = Release::of(PROGRAM);
    release
        .files
        .insert(release.archive.clone(), other.files[&other.archive].clone());
    Person::new(&release).is_refused(&release.serve(), "the checksum of");

    // Cut off, with the length that was promised, so that the download itself fails.
    let mut release = Release::of(PROGRAM);
    release.sent = |bytes| &bytes[..bytes.len() / 2];
    release.files.retain(|name, _| name != SUMS);
    let sums = Release::of(PROGRAM).files[SUMS].clone();
    release.files.insert(SUMS.to_owned(), sums);
    Person::new(&release).is_refused(&release.serve(), "cannot download");

    // Cut off by a server that says nothing of it.
    let mut release = Release::of(PROGRAM);
    let archive = release.archive.clone();
    let half = release.files[&archive].len() / 2;
    release.files.get_mut(&archive).unwrap().truncate(half);
    Person::new(&release).is_refused(&release.serve(), "the checksum of");
}

#[test]
fn what_cannot_be_verified_is_refused() {
    // No checksums, none of this file, none that is one, and no program that computes one.
    let mut release = Release::of(PROGRAM);
    release.files.remove(SUMS);
    Person::new(&release).is_refused(&release.serve(), "cannot download");
    for sums in [
        format!("{}  another.tar.gz\n", "0".repeat(64)),
        format!("<html>  {}\n", release.archive),
        String::new(),
    ] {
        let mut release = Release::of(PROGRAM);
        release.files.insert(SUMS.to_owned(), sums.into_bytes());
        Person::new(&release).is_refused(&release.serve(), "has no checksum for pillion-7.8.9-");
    }
    let release = Release::of(PROGRAM);
    let mut person = Person::new(&release);
    person.shell = vec![
        "bash",
        "-c",
        "command() { case $2 in *sha*) return 1;; *) builtin command \"$@\";; esac; }; . \"$0\"",
    ];
    person.is_refused(&release.serve(), "neither sha256sum nor shasum");
}

#[test]
fn addresses_at_which_anybody_could_answer_are_refused() {
    let release = Release::of(PROGRAM);
    let person = Person::new(&release);
    for base in [
        "http://example.invalid/pillion",
        "ftp://127.0.0.1/pillion",
        "http://127.0.0.1.example.invalid/",
        "forge.invalid/releases",
        "",
    ] {
        // None was given, and no release has filled one in.
        let words = if base.is_empty() {
            "nothing has been released yet"
        } else {
            base
        };
        person.is_refused(base, words);
    }
}

#[test]
fn a_platform_without_a_build_is_named() {
    let release = Release::of(PROGRAM);
    for (system, processor) in [
        ("FreeBSD", "amd64"),
        ("Linux", "riscv64"),
        ("Linux", "armv7l"),
    ] {
        let uname = format!("#!/bin/sh\n[ \"$1\" = -s ] && echo {system} || echo {processor}\n");
        let other = Release::of(PROGRAM);
        let person = Person::new(&other).program("uname", &uname);
        let words = format!(
            "there is no build for {system} on {}",
            processor.replace("amd64", "x86_64")
        );
        person.is_refused(&release.serve(), &words);
    }
}

#[test]
fn a_folder_that_cannot_be_written_is_named() {
    let release = Release::of(PROGRAM);
    let file = release.folder.path().join("a file");
    fs::write(&file, "").unwrap();
    for folder in [
        "/proc/pillion".to_owned(),
        format!("{}/bin", file.display()),
    ] {
        let other = Release::of(PROGRAM);
        let person = Person::new(&other).with("PILLION_INSTALL_DIR", &folder);
        person.is_refused(&release.serve(), &format!("cannot write to {folder}"));
    }
}

#[test]
fn a_program_that_is_not_this_release_is_not_installed() {
    for (program, words) in [
        ("#!/bin/sh\nexit 1\n", "does not start on this machine"),
        ("#!/bin/sh\necho pillion 7.8.8\n", "of another version"),
    ] {
        let release = Release::of(program);
        let person = Person::new(&release);
        person.is_refused(&release.serve(), words);
    }
}

/// A script that arrived in part does nothing: all of it is in functions, and its last line calls one.
#[test]
fn a_part_of_the_installer_does_nothing() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let script = fs::read_to_string(root.join("packaging/install.sh")).unwrap();
    let lines: Vec<_> = script.lines().collect();
    assert_eq!(lines.last(), Some(&"main"));
    for count in 0..lines.len() {
        let part = lines[..count].join("\n");
        let home = tempfile::tempdir().unwrap();
        let mut sh = Command::new("sh");
        sh.args(["-c", &part]).env("HOME", home.path());
        let output = sh.output().unwrap();
        assert!(output.stdout.is_empty(), "{part}");
        assert_eq!(home.path().read_dir().unwrap().count(), 0, "{part}");
    }
}
