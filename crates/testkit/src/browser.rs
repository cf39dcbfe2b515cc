//! Chromium as the person has it: tabs that are steered by keys and clicks, and watched through what they show. Driven
//! through `npm-browser/browser.mjs`, in a process that no process of a test is above.

use std::io::{BufRead as _, BufReader, PipeReader, Write as _};
use std::path::{Path, PathBuf};
use std::process::{ChildStdin, Command, Stdio};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use crossbeam_channel::{Receiver, Sender, unbounded};
use serde::Deserialize;
use serde_json::{Value, json};
use tempfile::TempDir;

use crate::person::in_background;
use crate::{Npm, SOON, kill_tree};

/// The variable that holds the folder of the installation.
const VARIABLE: &str = "PILLION_TEST_BROWSER";

/// More time than the driver takes to say that it has waited long enough.
const LATE: Duration = Duration::from_secs(30);

/// A running Chromium with a profile of its own. It ends with the last of its tabs and this.
///
/// Errors of the console, broken rules of a page's Content-Security-Policy among them, and exceptions that a page does not
/// catch are kept for each tab: a test that has not taken them with [`Tab::take_problems`] fails at its end.
#[derive(Debug, Clone)]
pub struct Browser {
    driver: Arc<Driver>,
}

/// One tab.
#[derive(Debug, Clone)]
pub struct Tab {
    driver: Arc<Driver>,
    number: u64,
}

/// A rule of accessibility that a page breaks.
#[derive(Debug, Clone, Deserialize)]
pub struct Violation {
    /// Its name, such as `color-contrast`.
    pub id: String,
    /// `minor`, `moderate`, `serious` or `critical`.
    pub impact: Option<String>,
    /// What the rule asks for.
    pub help: String,
    /// Each element, and why.
    pub nodes: Vec<String>,
}

#[derive(Debug)]
struct Driver {
    link: Mutex<Link>,
    pid: u32,
    has_strict_tabs: bool,
    /// Removed after the browser has ended.
    _folder: TempDir,
}

#[derive(Debug)]
struct Link {
    stdin: ChildStdin,
    answers: Receiver<Value>,
    last_id: u64,
    tabs: u64,
}

impl Browser {
    /// Starts one without a window.
    ///
    /// # Panics
    /// If it is not installed, or does not start.
    pub fn headless() -> Browser {
        Browser::start("headless", true)
    }

    /// Starts one with a window on a screen in memory. A tab behind another one is hidden there, as on a real screen.
    ///
    /// # Panics
    /// As [`Browser::headless`].
    pub fn on_screen() -> Browser {
        Browser::start("screen", true)
    }

    /// Starts one without a window whose tabs may have problems: those of pages that are not ours.
    ///
    /// # Panics
    /// As [`Browser::headless`].
    pub fn for_foreign_pages() -> Browser {
        Browser::start("headless", false)
    }

    fn start(place: &str, has_strict_tabs: bool) -> Browser {
        let packages = packages();
        let folder = TempDir::with_prefix("pillion-browser-");
        let folder = folder.expect("a temporary folder can be made");
        let (stdout, output) = std::io::pipe().expect("a pipe can be made");
        let mut command = Command::new(Npm::from_env().node());
        command
            .arg(Path::new(env!("CARGO_MANIFEST_DIR")).join("npm-browser/browser.mjs"))
            .arg(packages)
            .arg(folder.path())
            .args([place, &SOON.as_millis().to_string()])
            .current_dir(folder.path())
            .env("PATH", std::env::var_os("PATH").unwrap_or_default())
            .env("LANG", "C.UTF-8")
            .envs(["HOME", "TMPDIR", "XDG_RUNTIME_DIR"].map(|name| (name, folder.path())));
        let mut shell = { in_background(&command, None) }
            .stdin(Stdio::piped())
            .stdout(output)
            .spawn()
            .expect("there is a shell");
        // Waiting would close it.
        let stdin = shell.stdin.take().expect("it is piped");
        assert!(shell.wait().expect("it was started").success());
        let (sender, answers) = unbounded();
        std::thread::spawn(move || read(stdout, &sender));
        let hear = || answers.recv_timeout(SOON + LATE);
        let pid = hear().ok().and_then(|pid| pid.as_u64()?.try_into().ok());
        let pid = pid.expect("the shell prints its number");
        let started = hear().expect("the driver of the browser says something");
        assert_eq!(started, "started", "the browser did not start");
        let link = Link {
            stdin,
            answers,
            last_id: 0,
            tabs: 0,
        };
        let driver = Driver {
            link: Mutex::new(link),
            pid,
            has_strict_tabs,
            _folder: folder,
        };
        Browser {
            driver: Arc::new(driver),
        }
    }

    /// Opens a tab, in front of the others, and waits until it has loaded.
    #[track_caller]
    pub fn open(&self, url: &str) -> Tab {
        // Others that never hear that they have the focus believe that nobody looks at them.
        let is_focused = !self.driver.has_strict_tabs;
        let number = (self.driver).ask("open", json!({ "url": url, "isFocused": is_focused }));
        Tab {
            driver: Arc::clone(&self.driver),
            number: number.as_u64().expect("tabs have numbers"),
        }
    }
}

/// Elements are named as Playwright's locators do: `role=button[name="Accept"]`, `text=Rejected`, `.row >> nth=2`, `#note`.
/// What is done to one waits until it is there, can be seen and takes it.
impl Tab {
    /// Goes to another address, and waits until it has loaded.
    #[track_caller]
    pub fn goto(&self, url: &str) {
        self.ask("goto", json!({ "url": url }));
    }

    /// Loads the page again.
    #[track_caller]
    pub fn reload(&self) {
        self.ask("reload", json!({}));
    }

    /// Closes the tab, as the person does.
    #[track_caller]
    pub fn close(&self) {
        self.ask("close", json!({}));
    }

    /// Brings the tab before the others.
    #[track_caller]
    pub fn to_front(&self) {
        self.ask("front", json!({}));
    }

    /// Presses keys, such as `Control+Enter`, `j` or `Shift+Tab`.
    #[track_caller]
    pub fn press(&self, keys: &str) {
        self.ask("press", json!({ "keys": keys }));
    }

    /// Types a text, a key for each character.
    #[track_caller]
    pub fn type_text(&self, text: &str) {
        self.ask("type", json!({ "text": text }));
    }

    /// Puts in a text at once, as an input method does.
    #[track_caller]
    pub fn insert_text(&self, text: &str) {
        self.ask("insert", json!({ "text": text }));
    }

    /// Holds a key down, until it has been repeated so many times.
    #[track_caller]
    pub fn hold(&self, key: &str, times: u32) {
        self.ask("hold", json!({ "key": key, "times": times }));
    }

    /// Sets the size of the page.
    #[track_caller]
    pub fn resize(&self, width: u32, height: u32) {
        self.ask("resize", json!({ "width": width, "height": height }));
    }

    /// Sets what the person prefers, such as `{"colorScheme": "dark", "reducedMotion": "reduce", "forcedColors": "active"}`.
    #[track_caller]
    pub fn prefer(&self, media: Value) {
        self.ask("media", json!({ "media": media }));
    }

    /// Clicks an element.
    #[track_caller]
    pub fn click(&self, at: &str) {
        self.ask("click", json!({ "at": at }));
    }

    /// Clicks an element in another way, such as `{"clickCount": 2}`, `{"modifiers": ["Shift"]}` or `{"button": "right"}`.
    #[track_caller]
    pub fn click_as(&self, at: &str, how: Value) {
        self.ask("click", json!({ "at": at, "how": how }));
    }

    /// Puts the pointer on an element.
    #[track_caller]
    pub fn hover(&self, at: &str) {
        self.ask("hover", json!({ "at": at }));
    }

    /// Drags the pointer from an element to another one.
    #[track_caller]
    pub fn drag(&self, at: &str, to: &str) {
        self.ask("drag", json!({ "at": at, "to": to }));
    }

    /// Turns the wheel by so many pixels, where the pointer is.
    #[track_caller]
    pub fn wheel(&self, by: i32) {
        self.ask("wheel", json!({ "by": by }));
    }

    /// Moves a finger from one place to another.
    #[track_caller]
    pub fn swipe(&self, from: (i32, i32), to: (i32, i32)) {
        self.ask("swipe", json!({ "from": from, "to": to }));
    }

    /// Replaces the text of a field.
    #[track_caller]
    pub fn fill(&self, at: &str, text: &str) {
        self.ask("fill", json!({ "at": at, "text": text }));
    }

    /// The text of an element, as it is shown.
    #[track_caller]
    pub fn text(&self, at: &str) -> String {
        let text = self.ask("text", json!({ "at": at }));
        text.as_str().expect("it is a text").to_owned()
    }

    /// The texts of all such elements. Waits for none.
    #[track_caller]
    pub fn texts(&self, at: &str) -> Vec<String> {
        strings(self.ask("texts", json!({ "at": at })))
    }

    /// The number of such elements now.
    #[track_caller]
    pub fn count(&self, at: &str) -> u64 {
        let count = self.ask("count", json!({ "at": at }));
        count.as_u64().expect("it is a number")
    }

    /// The address that it is at.
    #[track_caller]
    pub fn address(&self) -> String {
        let address = self.ask("address", json!({}));
        address.as_str().expect("it is a text").to_owned()
    }

    /// Waits until an element can be seen.
    #[track_caller]
    pub fn wait_for(&self, at: &str) {
        self.ask("visible", json!({ "at": at }));
    }

    /// Waits until no such element can be seen.
    #[track_caller]
    pub fn wait_gone(&self, at: &str) {
        self.ask("gone", json!({ "at": at }));
    }

    /// Waits until such an element contains this text.
    #[track_caller]
    pub fn wait_text(&self, at: &str, text: &str) {
        self.ask("contains", json!({ "at": at, "text": text }));
    }

    /// Waits until an expression of JavaScript's counts as true in the page. Returns what it is then.
    #[track_caller]
    pub fn wait_until(&self, expression: &str) -> Value {
        self.ask("wait", json!({ "expression": expression }))
    }

    /// The value of an expression of JavaScript's in the page; of a promise, what it becomes.
    #[track_caller]
    pub fn evaluate(&self, expression: &str) -> Value {
        self.ask("evaluate", json!({ "expression": expression }))
    }

    /// Writes a picture of what is shown to this file, as PNG.
    #[track_caller]
    pub fn screenshot(&self, file: &Path) {
        self.ask("screenshot", json!({ "file": file }));
    }

    /// The rules of accessibility that the page breaks, as axe-core finds them.
    #[track_caller]
    pub fn axe(&self) -> Vec<Violation> {
        let violations = self.ask("axe", json!({}));
        serde_json::from_value(violations).expect("it is a list of violations")
    }

    /// The errors of the page since they were last taken.
    #[track_caller]
    pub fn take_problems(&self) -> Vec<String> {
        strings(self.ask("problems", json!({})))
    }

    #[track_caller]
    fn ask(&self, action: &str, mut message: Value) -> Value {
        message["tab"] = self.number.into();
        self.driver.ask(action, message)
    }
}

/// The folder of the installed packages.
fn packages() -> PathBuf {
    let folder = std::env::var_os(VARIABLE).unwrap_or_else(|| {
        panic!("{VARIABLE} is not set: run this test through `cargo xtask test`, which installs what drives the browser")
    });
    PathBuf::from(folder).join("node_modules")
}

fn read(stdout: PipeReader, sender: &Sender<Value>) {
    for line in BufReader::new(stdout).split(b'\n').map_while(Result::ok) {
        let message = serde_json::from_slice(&line).expect("the driver writes JSON lines");
        if sender.send(message).is_err() {
            return;
        }
    }
}

impl Driver {
    /// # Panics
    /// If the driver says that it went wrong, with what the page shows.
    #[track_caller]
    fn ask(&self, action: &str, message: Value) -> Value {
        match self.try_ask(action, message) {
            Ok(value) => value,
            Err(error) => panic!("{error}"),
        }
    }

    fn try_ask(&self, action: &str, mut message: Value) -> Result<Value, String> {
        let mut link = self.link.lock().unwrap_or_else(PoisonError::into_inner);
        link.last_id += 1;
        message["id"] = link.last_id.into();
        message["do"] = action.into();
        writeln!(link.stdin, "{message}").map_err(|error| format!("the browser: {error}"))?;
        let answer = link.answers.recv_timeout(SOON + LATE);
        let mut answer = answer.map_err(|error| format!("{message}: no answer: {error}"))?;
        if action == "open" && answer["error"].is_null() {
            link.tabs += 1;
        }
        match answer["error"].as_str() {
            None => Ok(answer["value"].take()),
            Some(error) => {
                let page = answer["page"].as_str().unwrap_or_default();
                Err(format!("{message}: {error}\nThe page:\n{page}"))
            }
        }
    }

    /// The problems of all tabs that nobody has taken.
    fn problems(&self) -> Vec<String> {
        let tabs = self
            .link
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .tabs;
        let of_tab = |tab| self.try_ask("problems", json!({ "tab": tab }));
        let found = (0..tabs).filter_map(|tab| of_tab(tab).ok());
        found.flat_map(strings).collect()
    }
}

impl Drop for Driver {
    fn drop(&mut self) {
        let is_judged = self.has_strict_tabs && !std::thread::panicking();
        let problems = if is_judged {
            self.problems()
        } else {
            Vec::new()
        };
        kill_tree(self.pid);
        assert!(problems.is_empty(), "the page has problems: {problems:#?}");
    }
}

fn strings(value: Value) -> Vec<String> {
    serde_json::from_value(value).expect("it is a list of texts")
}
