//! Kate on a screen in memory, with a window manager and a D-Bus session of its own: steered by keys, and
//! watched through the titles of its windows.

use std::fs;
use std::io::{BufRead as _, BufReader};
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use rustix::process::Signal;

use crate::process::{signal, tree};
use crate::{Editors, Env, Home, KateVersion, SOON, kill_tree, pause};

/// The time for which a menu is waited for before it is asked for again: there may have been nothing to offer yet.
const MENU_TIMEOUT: Duration = Duration::from_secs(2);

/// In pixels. A menu that only says "No Actions" is lower, and all others are not.
const TWO_ENTRIES: u32 = 32;

/// The title of the question whether to save an edited text.
const UNSAVED: &str = "Close Document";

/// The window manager in the background: without one, no window has the focus.
const SESSION: &str = "openbox 2>/dev/null & exec \"$@\"";

/// A running Kate. It, its screen and all that it started are killed on drop.
#[derive(Debug)]
pub struct Kate {
    screen: Child,
    session: Child,
    /// With the screen.
    env: Env,
}

impl Kate {
    /// Opens these files, in the home's workspace. The settings are in the home.
    ///
    /// # Panics
    /// If it is not installed, or does not show the last of the files.
    pub fn start(version: KateVersion, home: &Home, env: &Env, files: &[&Path]) -> Kate {
        let program = Editors::from_env().kate(version);
        let mut screen = Command::new("Xvfb")
            .args([
                "-displayfd",
                "1",
                "-screen",
                "0",
                "1280x900x24",
                "-nolisten",
                "tcp",
            ])
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .expect("Xvfb starts");
        let mut display = String::new();
        let output = screen.stdout.take().expect("it is piped");
        BufReader::new(output)
            .read_line(&mut display)
            .expect("Xvfb names its display");
        let env = with_windows(home, env, &program, display.trim());
        let session = Command::new("dbus-run-session")
            .args(["--", "sh", "-c", SESSION, "sh"])
            .arg(&program)
            .args(["--block", "--startanon"])
            .args(files)
            .current_dir(home.workspace())
            .env_clear()
            .envs(env.iter())
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .expect("dbus-run-session starts");
        let kate = Kate {
            screen,
            session,
            env,
        };
        let last = files.last().and_then(|file| file.file_name());
        kate.wait_title(&last.expect("there is a file").to_string_lossy());
        kate
    }

    /// Presses keys, such as `ctrl+End`.
    pub fn keys<const N: usize>(&self, keys: [&str; N]) {
        for key in keys {
            self.xdotool(&["key", "--clearmodifiers", key]);
        }
    }

    /// Types a text.
    pub fn type_text(&self, text: &str) {
        self.xdotool(&["type", "--clearmodifiers", text]);
    }

    /// Waits until its window has a title that starts so.
    #[track_caller]
    pub fn wait_title(&self, title: &str) {
        self.wait(&format!("the title {title:?}"), |titles| {
            titles.iter().any(|it| it.starts_with(title))
        });
    }

    /// Chooses a code action, by its place in the menu, from 1. The menu is asked for until it has some.
    ///
    /// # Panics
    /// If they are not offered in time.
    #[track_caller]
    pub fn choose(&self, place: usize) {
        let started = Instant::now();
        while self.menu_height() < TWO_ENTRIES {
            assert!(
                started.elapsed() < SOON,
                "expected a menu: {:?}",
                self.titles()
            );
            // One that is there has nothing to offer yet.
            self.keys(["Escape", "alt+Return"]);
            let asked = Instant::now();
            while self.menu_height() == 0 && asked.elapsed() < MENU_TIMEOUT {
                pause(asked);
            }
        }
        for _ in 0..place {
            self.keys(["Down"]);
        }
        self.keys(["Return"]);
        self.wait("no menu", |titles| titles.len() < 2);
    }

    /// Closes the text in focus, whatever becomes of its edits, and waits until the window has a title that
    /// starts with `next`.
    #[track_caller]
    pub fn close(&self, next: &str) {
        self.keys(["ctrl+w"]);
        let started = Instant::now();
        loop {
            let titles = self.titles();
            if titles.len() == 1 && titles[0].starts_with(next) {
                return;
            }
            assert!(started.elapsed() < SOON, "expected {next:?}: {titles:?}");
            // Of an edited text it asks whether to save it, and before that, if the file is gone, whether to
            // close it nevertheless.
            if titles.iter().any(|title| title.starts_with(UNSAVED)) {
                self.keys(["alt+d"]);
            } else if titles.len() > 1 {
                self.keys(["Return"]);
            }
            pause(started);
        }
    }

    /// Kills it alone, with SIGKILL: it can tell nobody.
    pub fn kill(&self) {
        for pid in tree(self.session.id()) {
            let name = fs::read_to_string(format!("/proc/{pid}/comm"));
            if name.is_ok_and(|name| name.trim_end() == "kate") {
                signal(pid, Signal::KILL);
            }
        }
    }

    /// In pixels: a menu is a window of its own, and lower than the other. 0 if there is none.
    fn menu_height(&self) -> u32 {
        let windows = self.windows();
        let height = |window: &String| {
            let geometry = self.xdotool(&["getwindowgeometry", "--shell", window]);
            let mut lines = geometry.lines();
            let height = lines.find_map(|line| line.strip_prefix("HEIGHT="));
            height.and_then(|height| height.parse().ok())
        };
        if windows.len() < 2 {
            return 0;
        }
        windows.iter().filter_map(height).min().unwrap_or(0)
    }

    /// Of its visible windows.
    fn titles(&self) -> Vec<String> {
        let windows = self.windows();
        let title = |window: &String| self.xdotool(&["getwindowname", window]);
        windows.iter().map(title).collect()
    }

    /// Their numbers, of those that are visible.
    fn windows(&self) -> Vec<String> {
        let windows = self.xdotool(&["search", "--onlyvisible", "--class", "kate"]);
        windows.lines().map(str::to_owned).collect()
    }

    #[track_caller]
    fn wait(&self, what: &str, condition: impl Fn(&[String]) -> bool) {
        let started = Instant::now();
        loop {
            let titles = self.titles();
            if condition(&titles) {
                return;
            }
            assert!(
                started.elapsed() < SOON,
                "expected {what}, and there are {titles:?}"
            );
            pause(started);
        }
    }

    /// Runs the program, and returns its output. It fails when it finds nothing.
    fn xdotool(&self, arguments: &[&str]) -> String {
        let output = Command::new("xdotool")
            .args(arguments)
            .env_clear()
            .envs(self.env.iter())
            .output()
            .expect("xdotool starts");
        String::from_utf8_lossy(&output.stdout)
            .trim_end()
            .to_owned()
    }
}

impl Drop for Kate {
    fn drop(&mut self) {
        kill_tree(self.session.id());
        let _ = self.session.wait();
        let _ = self.screen.kill();
        let _ = self.screen.wait();
    }
}

/// The rest of its variables: its own data and libraries, the screen, and `kate` on PATH, for those who open files in it.
fn with_windows(home: &Home, env: &Env, program: &Path, display: &str) -> Env {
    let system = program.ancestors().nth(2).expect("it is `usr/bin/kate`");
    let folder = home.root().join("kate");
    fs::create_dir(&folder).expect("the home is ours");
    symlink(program, folder.join("kate")).expect("the folder is ours");
    let mut env = env
        .clone()
        .with("DISPLAY", display_name(display))
        .with("QT_QPA_PLATFORM", "xcb")
        .with("QT_PLUGIN_PATH", libraries(system).join("qt6/plugins"))
        // The themes of the window manager are the machine's.
        .with(
            "XDG_DATA_DIRS",
            format!("{}/share:/usr/share", system.display()),
        );
    env.prepend_path(&folder);
    env
}

fn display_name(number: &str) -> String {
    format!(":{number}")
}

/// Such as `lib/x86_64-linux-gnu`.
fn libraries(system: &Path) -> PathBuf {
    let folders = fs::read_dir(system.join("lib")).expect("it has libraries");
    let mut folders = folders.flatten().map(|entry| entry.path());
    let found = folders.find(|folder| folder.join("qt6").is_dir());
    found.expect("Qt is among them")
}
