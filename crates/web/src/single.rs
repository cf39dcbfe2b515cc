//! One page for each user and workspace: whoever starts a second one finds the first by its private socket, and gets another
//! address of it.

use std::io::{self, BufRead, BufReader, Read, Write};
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use pillion_discovery::Environment;
use pillion_discovery::private_file::{Folder, Listener, Stream};
use pillion_system::{peer, spawn};
use pillion_text::fingerprint;
use pillion_view::Handle;

use crate::browser::Browsers;
use crate::door::{self, Door};

/// The time limit for the other end to say something.
const SAID_WITHIN: Duration = Duration::from_secs(5);

/// The longest line that is said.
const MAX_SAID: u64 = 4096;

/// What is asked of the page that runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Asked {
    /// Another address of it.
    Address,
    /// One more tab, and the address.
    Tab,
}

impl Asked {
    fn word(self) -> &'static str {
        match self {
            Self::Address => "address",
            Self::Tab => "tab",
        }
    }
}

/// Asks the page of this workspace that runs; none if none does.
///
/// # Errors
/// The sentence with which it refuses.
pub fn ask(roots: &[PathBuf], asked: Asked) -> Result<Option<String>, String> {
    let Ok(place) = Place::of(&Environment::current(), roots) else {
        return Ok(None);
    };
    let said = place
        .folder
        .connect(&place.socket())
        .ok()
        .and_then(|mut stream| {
            let _ = stream.set_read_timeout(Some(SAID_WITHIN));
            writeln!(stream, "{}", asked.word()).ok()?;
            line(stream)
        });
    match said {
        Some(said) if said.starts_with("http://") => Ok(Some(said)),
        Some(why) if !why.is_empty() => Err(why),
        _ => Ok(None),
    }
}

fn line(stream: impl Read) -> Option<String> {
    let mut line = String::new();
    BufReader::new(stream.take(MAX_SAID))
        .read_line(&mut line)
        .ok()?;
    Some(line.trim_end().to_owned())
}

/// Where the page of a workspace is found.
pub(crate) struct Place {
    folder: Folder,
    name: String,
}

impl Place {
    /// That of these folders.
    ///
    /// # Errors
    /// When no private folder can be used.
    pub(crate) fn of(environment: &Environment, roots: &[PathBuf]) -> io::Result<Self> {
        let mut sorted: Vec<_> = roots
            .iter()
            .map(|it| it.as_os_str().as_encoded_bytes())
            .collect();
        sorted.sort_unstable();
        let name = format!("page-{}", &fingerprint::hash(&sorted.join(&0))[..16]);
        let folders = environment.state_dirs();
        let folders = folders
            .iter()
            .filter_map(|it| Some((it.parent()?, it.file_name()?.to_str()?)));
        let mut folders = folders.map(|(base, name)| Folder::create(base, &[name]));
        let folder = folders.find_map(Result::ok);
        let folder = folder.ok_or_else(|| io::Error::other("no private folder can be used"))?;
        Ok(Self { folder, name })
    }

    fn socket(&self) -> String {
        format!("{}.sock", self.name)
    }

    fn port_file(&self) -> String {
        format!("{}.port", self.name)
    }

    /// The port of the page that was here before.
    pub(crate) fn former_port(&self) -> Option<u16> {
        let text = self.folder.read(&self.port_file(), 16).ok()??;
        std::str::from_utf8(&text).ok()?.trim().parse().ok()
    }

    /// The next page here gets this port, too: a browser may have it open still.
    pub(crate) fn note_port(&self, port: u16) {
        // Otherwise it gets another one.
        let _ = self
            .folder
            .write(&self.port_file(), port.to_string().as_bytes());
    }

    /// Answers others that are started here, for as long as what is returned is held.
    ///
    /// # Errors
    /// When the system refuses.
    pub(crate) fn listen(
        self,
        door: Arc<Door>,
        companion: Handle,
        browsers: Arc<Browsers>,
    ) -> io::Result<Listening> {
        let listener = self
            .folder
            .listen(&self.socket())
            .map_err(io::Error::other)?;
        spawn("pages", move || {
            serve(&listener, &door, &companion, &browsers)
        })?;
        Ok(Listening(self))
    }
}

/// The place of the page that runs. Dropping it gives that up.
pub(crate) struct Listening(Place);

impl Drop for Listening {
    fn drop(&mut self) {
        let _ = self.0.folder.remove(&self.0.socket());
    }
}

fn serve(listener: &Listener, door: &Door, companion: &Handle, browsers: &Browsers) {
    while let Ok(stream) = listener.accept() {
        if !listener.admits(&stream) {
            continue;
        }
        let answer = answer(&stream, door, companion, browsers);
        let mut stream = stream;
        let _ = writeln!(stream, "{}", answer.unwrap_or_else(|why| why));
    }
}

fn answer(
    stream: &Stream,
    door: &Door,
    companion: &Handle,
    browsers: &Browsers,
) -> Result<String, String> {
    let _ = stream.set_read_timeout(Some(SAID_WITHIN));
    let asked = line(stream).unwrap_or_default();
    let pids = peer::process(stream).into_iter().collect();
    let told = door::are_persons(companion, pids);
    let runtime = tokio::runtime::Builder::new_current_thread().build();
    let runtime = runtime.map_err(|error| error.to_string())?;
    runtime.block_on(told)?;
    let address = || door.address().map_err(|error| error.to_string());
    if asked == Asked::Tab.word() {
        browsers.open(&address()?);
    }
    address()
}
