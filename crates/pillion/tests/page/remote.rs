//! The page of a machine at the other end of `ssh`: a real sshd, and the tunnel of which the program prints the command.

use std::fs::{self, Permissions};
use std::net::{Ipv4Addr, TcpListener, TcpStream};
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::Instant;

use pillion_testkit::client::Update;
use pillion_testkit::{Browser, Home, SOON, pause};

use crate::sandbox::Sandbox;
use crate::world::{Web, key};

/// Debian's, which is on nobody's PATH but root's.
const SSHD: &str = "/usr/sbin/sshd";

/// An sshd of this user on loopback, with keys of its own. It ends with the value.
struct Sshd {
    server: Child,
    port: u16,
    /// The options with which `ssh` reaches it.
    options: Vec<String>,
}

impl Sshd {
    fn start(home: &Home) -> Self {
        let folder = home.root().join("sshd");
        fs::create_dir(&folder).unwrap();
        let (host_key, key) = (folder.join("host"), folder.join("key"));
        for file in [&host_key, &key] {
            let mut keygen = Command::new("ssh-keygen");
            keygen
                .args(["-q", "-t", "ed25519", "-N", "", "-f"])
                .arg(file);
            assert!(keygen.status().unwrap().success());
        }
        let keys = folder.join("authorized");
        fs::copy(key.with_extension("pub"), &keys).unwrap();
        fs::set_permissions(&keys, Permissions::from_mode(0o600)).unwrap();
        let port = free_port();
        let settings = folder.join("settings");
        let text = format!(
            "ListenAddress 127.0.0.1:{port}\nHostKey {}\nAuthorizedKeysFile {}\nStrictModes no\nUsePAM no\n\
             PidFile none\nPasswordAuthentication no\nPermitRootLogin prohibit-password\n",
            host_key.display(),
            keys.display(),
        );
        fs::write(&settings, text).unwrap();
        let mut server = Command::new(SSHD);
        if fs::metadata(&settings).unwrap().uid() == 0 {
            // Of root it wants a user and a folder, which not every machine has where the package is installed.
            let users = folder.join("users");
            let text = "root:x:0:0::/root:/bin/sh\nsshd:x:100:65534::/run/sshd:/usr/sbin/nologin\n";
            fs::write(&users, text).unwrap();
            let _ = fs::create_dir("/run/sshd");
            server = Command::new("unshare");
            let script = r#"mount --bind "$1" /etc/passwd && shift && exec "$@""#;
            server.args(["--mount", "sh", "-c", script, "sh"]);
            server.args([users.as_path(), Path::new(SSHD)]);
        }
        let server = server
            .args(["-D", "-f"])
            .arg(&settings)
            .stderr(Stdio::null())
            .spawn()
            .expect("sshd is installed");
        wait_for(port);
        let options = format!(
            "-F none -p {port} -i {} -o IdentitiesOnly=yes -o StrictHostKeyChecking=no -o UserKnownHostsFile={}",
            key.display(),
            folder.join("known").display(),
        );
        let options = options.split(' ').map(str::to_owned).collect();
        Self {
            server,
            port,
            options,
        }
    }

    /// The command that runs `command` there, in a terminal.
    fn command(&self, command: &str) -> Vec<String> {
        let mut all = vec!["ssh".to_owned()];
        all.extend(self.options.iter().cloned());
        all.extend(["-tt", "127.0.0.1", command].map(str::to_owned));
        all
    }

    /// Brings the port to another one of this end, as the person does who starts the command that was printed.
    fn tunnel(&self, port: &str) -> (Tunnel, u16) {
        let here = free_port();
        let tunnel = Command::new("ssh")
            .args(&self.options)
            .args(["-N", "-o", "ExitOnForwardFailure=yes", "-L"])
            .args([&format!("{here}:127.0.0.1:{port}"), "127.0.0.1"])
            .stdin(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .expect("ssh is installed");
        let tunnel = Tunnel(tunnel);
        wait_for(here);
        (tunnel, here)
    }
}

impl Drop for Sshd {
    fn drop(&mut self) {
        end(&mut self.server);
    }
}

/// It ends with the value.
struct Tunnel(Child);

impl Drop for Tunnel {
    fn drop(&mut self) {
        end(&mut self.0);
    }
}

fn end(child: &mut Child) {
    let _ = child.kill();
    let _ = child.wait();
}

/// Waits until something listens there.
fn wait_for(port: u16) {
    let started = Instant::now();
    while TcpStream::connect((Ipv4Addr::LOCALHOST, port)).is_err() {
        assert!(started.elapsed() < SOON, "nothing listens on {port}");
        pause(started);
    }
}

fn free_port() -> u16 {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
    listener.local_addr().unwrap().port()
}

#[test]
#[ignore = "needs the browser, ssh: cargo xtask test"]
fn a_change_is_decided_through_ssh() {
    let sandbox = Sandbox::new();
    let home = &sandbox.home;
    let sshd = Sshd::start(home);
    // What a login shell of the person there would have set.
    let environment = home.env();
    let set = environment.iter().map(|(name, value)| {
        let (name, value) = (name.to_str().unwrap(), value.to_str().unwrap());
        format!("{name}={value}")
    });
    let in_folder = [
        "env".to_owned(),
        format!("--chdir={}", home.workspace().display()),
    ];
    let program = [env!("CARGO_BIN_EXE_pillion"), "web"].map(str::to_owned);
    let there = shell_words::join(in_folder.into_iter().chain(set).chain(program));
    let command = sshd.command(&there);
    let command: Vec<&str> = command.iter().map(String::as_str).collect();
    let mut tunnel = None;
    let web = Web::start_by(sandbox, Browser::headless(), &command, |screen, url| {
        let address = url.strip_prefix("http://127.0.0.1:").unwrap();
        let (port, rest) = address.split_once('/').unwrap();
        let printed = format!("ssh -N -p {} -L {port}:127.0.0.1:{port} ", sshd.port);
        assert!(screen.contains(&printed), "{screen}");
        let (opened, here) = sshd.tunnel(port);
        tunnel = Some(opened);
        format!("http://127.0.0.1:{here}/{rest}")
    });
    let mut agent = web.agent();
    let path = web.propose(&agent, "a.txt", "one\n", "two\n");
    let said = web.decide(key("a"));
    assert!(said.contains("accepted"), "{said}");
    assert_eq!(agent.outcome(), Update::accepted(path, "two\n".to_owned()));
}
