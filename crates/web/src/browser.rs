//! Opens the person's browser, by a private file that leads to the address: what is in the arguments of a program, everybody reads.

use std::convert::Infallible;
use std::process::{Command, Stdio};
use std::sync::Mutex;
use std::time::{Duration, Instant};

use crossbeam_channel::{Receiver, Sender, TryRecvError, bounded};
use pillion_discovery::Environment;
use pillion_discovery::private_file::{Folder, random_name};
use pillion_system::{lock, spawn};

/// The time after which the file goes: browsers have read it by then.
const READ_WITHIN: Duration = Duration::from_secs(60);

/// The time for which the end of the page waits until the file is gone.
const GONE_WITHIN: Duration = Duration::from_secs(1);

/// The command that brings the address to the person's own machine, if they are at another one, where a browser is of use.
pub fn tunnel(environment: &Environment, address: &str) -> Option<String> {
    let connection = environment.filled("SSH_CONNECTION")?;
    let mut parts = connection.to_str()?.split(' ').skip(2);
    let (host, ssh_port) = (parts.next()?, parts.next()?);
    let port = address
        .strip_prefix("http://127.0.0.1:")?
        .split('/')
        .next()?;
    let user = environment.filled("USER");
    let user = user
        .and_then(|it| Some(format!("{}@", it.to_str()?)))
        .unwrap_or_default();
    let is_other = if ssh_port == "22" {
        String::new()
    } else {
        format!("-p {ssh_port} ")
    };
    Some(format!(
        "ssh -N {is_other}-L {port}:127.0.0.1:{port} {user}{host}"
    ))
}

/// The browsers that were opened. Their files go with the page at the latest.
pub(crate) struct Browsers {
    environment: Environment,
    /// For each, what has its file removed once it is dropped, and what ends with the file: nothing is ever sent.
    opened: Mutex<Vec<(Sender<Infallible>, Receiver<Infallible>)>>,
}

impl Browsers {
    /// None yet.
    pub(crate) fn new(environment: Environment) -> Self {
        let opened = Mutex::default();
        Self {
            environment,
            opened,
        }
    }

    /// Opens the address in the background, where the person is at this machine. If that fails, it was printed.
    pub(crate) fn open(&self, address: &str) {
        if self.environment.filled("SSH_CONNECTION").is_some() {
            return;
        }
        let mut opened = lock(&self.opened);
        opened.retain(|(_, gone)| gone.try_recv() == Err(TryRecvError::Empty));
        let (ends, ended) = bounded(0);
        let (going, gone) = bounded(0);
        open(&self.environment, address, ended, going);
        opened.push((ends, gone));
    }

    /// Removes what is left of their files.
    pub(crate) fn end(&self) {
        let opened = std::mem::take(&mut *lock(&self.opened)).into_iter();
        let going: Vec<_> = opened.map(|(_ends, gone)| gone).collect();
        let until = Instant::now() + GONE_WITHIN;
        for gone in going {
            let _ = gone.recv_deadline(until);
        }
    }
}

/// The file is there until `ended`, and `going` as long as the file.
fn open(
    environment: &Environment,
    address: &str,
    ended: Receiver<Infallible>,
    going: Sender<Infallible>,
) {
    let places = pillion_discovery::kept_text::places(environment);
    let address = address.to_owned();
    // A disk may take long.
    let _ = spawn("browser", move || {
        let Ok(name) = random_name::<6>("pillion-page-") else {
            return;
        };
        let folder = places
            .iter()
            .find_map(|base| Folder::create(base, &[&name]).ok());
        let Some(folder) = folder else {
            return;
        };
        let page = format!(
            "<!doctype html><meta charset=\"utf-8\"><meta name=\"referrer\" content=\"no-referrer\">\
             <meta http-equiv=\"refresh\" content=\"0;url={address}\"><title>Pillion</title>"
        );
        const FILE: &str = "open.html";
        if folder.write(FILE, page.as_bytes()).is_ok() {
            let file = folder.path().join(FILE);
            let (program, arguments): (_, &[&str]) = match std::env::consts::OS {
                "macos" => ("open", &[]),
                "windows" => ("rundll32", &["url.dll,FileProtocolHandler"]),
                _ => ("xdg-open", &[]),
            };
            let mut command = Command::new(program);
            command.args(arguments).arg(file);
            command
                .stdin(Stdio::null())
                .stdout(Stdio::null())
                .stderr(Stdio::null());
            // Ctrl-C in this terminal is not for the browser, which stays a child: whose it is can be seen by that.
            #[cfg(unix)]
            std::os::unix::process::CommandExt::process_group(&mut command, 0);
            let child = command.spawn();
            let _: Result<Infallible, _> = ended.recv_timeout(READ_WITHIN);
            let _ = folder.remove(FILE);
            let _ = std::fs::remove_dir(folder.path());
            drop(going);
            // It may be the browser itself.
            return drop(child.map(|mut child| child.wait()));
        }
        let _ = folder.remove(FILE);
        let _ = std::fs::remove_dir(folder.path());
    });
}
