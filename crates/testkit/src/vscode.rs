//! VS Code as people have it on a server: code-server with a home of its own, and its page in a browser. Neither is below a
//! process of a test.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Instant;

use serde_json::{Value, json};

use crate::person::in_background;
use crate::{Browser, Env, Home, SOON, Tab, kill_tree, pause};

/// The variable that holds the folder of the installation.
const VARIABLE: &str = "PILLION_TEST_VSCODE";

/// What it says when its page can be had, before the address.
const LISTENS: &str = "HTTP server listening on ";

/// What a test sets up before VS Code starts.
#[derive(Debug)]
pub struct VsCodeSetup<'a> {
    home: &'a Home,
    env: Env,
    settings: Value,
    arguments: Vec<String>,
}

/// A running VS Code that shows a folder. It and all that it started are killed on drop.
#[derive(Debug)]
pub struct VsCode {
    server: u32,
    address: String,
    /// Goes first: the server is not asked for anything while it ends.
    tab: Tab,
    browser: Browser,
}

impl<'a> VsCodeSetup<'a> {
    /// VS Code in this home, with settings that leave the person alone, and no extension.
    ///
    /// # Panics
    /// If it is not installed.
    pub fn new(home: &'a Home) -> Self {
        let mut env = home.env();
        env.prepend_path(programs())
            // No marketplace.
            .set("EXTENSIONS_GALLERY", "{}")
            .set("SHELL", "/bin/bash");
        let settings = json!({
            "chat.disableAIFeatures": true,
            "editor.quickSuggestions": "off",
            "extensions.autoUpdate": false,
            "telemetry.telemetryLevel": "off",
            "update.mode": "none",
            "window.commandCenter": false,
            "workbench.secondarySideBar.defaultVisibility": "hidden",
            "workbench.startupEditor": "none",
            "workbench.tips.enabled": false,
        });
        let folder = home.home().join(".config/code-server");
        fs::create_dir_all(&folder).expect("the home is ours");
        fs::write(folder.join("config.yaml"), "auth: none\n").expect("the home is ours");
        Self {
            home,
            env,
            settings,
            arguments: Vec::new(),
        }
    }

    /// Sets one of its settings.
    #[must_use]
    pub fn setting(mut self, name: &str, value: impl Into<Value>) -> Self {
        self.settings[name] = value.into();
        self
    }

    /// Sets a variable of its environment, which its terminals and extensions have, too.
    #[must_use]
    pub fn env(mut self, name: &str, value: impl AsRef<std::ffi::OsStr>) -> Self {
        self.env.set(name, value);
        self
    }

    /// Puts a folder in front of its PATH.
    #[must_use]
    pub fn path(mut self, folder: &Path) -> Self {
        self.env.prepend_path(folder);
        self
    }

    /// Asks whether folders are trusted, as it does for people. Without this, all are.
    #[must_use]
    pub fn with_trust(mut self) -> Self {
        self.settings["security.workspace.trust.enabled"] = true.into();
        self
    }

    /// Installs an extension from its sources, a folder with `package.json`: at once, and as its installer leaves it.
    ///
    /// # Panics
    /// If that is not an extension's folder.
    #[must_use]
    pub fn extension(self, sources: &Path) -> Self {
        let manifest = fs::read(sources.join("package.json")).expect("an extension has a manifest");
        let manifest: Value = serde_json::from_slice(&manifest).expect("it is JSON");
        let word = |name: &str| manifest[name].as_str().expect("it is in the manifest");
        let name = format!("{}.{}-{}", word("publisher"), word("name"), word("version"));
        copy(sources, &extensions(self.home).join(name));
        self
    }

    /// Its environment, for programs that are to find it as a person's shell does: `code-server` is on PATH.
    pub fn environment(&self) -> &Env {
        &self.env
    }

    /// Starts it, and opens its page with the home's workspace.
    ///
    /// # Panics
    /// If it does not start, or shows no window, with what it said.
    pub fn start(self) -> VsCode {
        let workspace = self.home.workspace();
        self.start_with(&Browser::for_foreign_pages(), &workspace)
    }

    /// The same with a browser that is there, and another folder.
    ///
    /// # Panics
    /// As [`VsCodeSetup::start`].
    pub fn start_with(mut self, browser: &Browser, folder: &Path) -> VsCode {
        // Those of the scope `machine` count only there, once VS Code knows that they are of it.
        for scope in ["User", "Machine"] {
            let folder = self.home.home().join(".local/share/code-server");
            let folder = folder.join(scope);
            fs::create_dir_all(&folder).expect("the home is ours");
            let settings = self.settings.to_string();
            fs::write(folder.join("settings.json"), settings).expect("the home is ours");
        }
        fs::create_dir_all(extensions(self.home)).expect("the home is ours");
        if self.settings["security.workspace.trust.enabled"] != true {
            self.arguments.push("--disable-workspace-trust".to_owned());
        }
        let log = self.home.root().join("vscode.log");
        let mut command = Command::new(programs().join("code-server"));
        command
            .args(["--bind-addr", "127.0.0.1:0", "--disable-telemetry"])
            .args([
                "--disable-update-check",
                "--disable-getting-started-override",
            ])
            .args(&self.arguments)
            .current_dir(self.home.home())
            .env_clear()
            .envs(self.env.iter());
        let server = in_background(&command, Some(&log))
            .stdin(Stdio::null())
            .output();
        let server = server.expect("there is a shell").stdout;
        let server = String::from_utf8_lossy(&server).trim().parse();
        let server = server.expect("the shell prints its number");
        let started = Instant::now();
        let said = || fs::read_to_string(&log).unwrap_or_default();
        let address = loop {
            let said = said();
            let mut lines = said.lines();
            if let Some(address) = lines.find_map(|line| line.split_once(LISTENS)) {
                break address.1.trim().trim_end_matches('/').to_owned();
            }
            assert!(
                started.elapsed() < SOON,
                "code-server does not listen: {said}"
            );
            pause(started);
        };
        let tab = browser.open(&format!("{address}/?folder={}", folder.display()));
        tab.wait_for(".monaco-workbench .part.statusbar");
        VsCode {
            server,
            address,
            tab,
            browser: browser.clone(),
        }
    }
}

impl VsCode {
    /// Its page.
    pub fn tab(&self) -> &Tab {
        &self.tab
    }

    /// Opens one more window, with this folder.
    #[track_caller]
    pub fn open_window(&self, folder: &Path) -> Tab {
        let folder = folder.display();
        let tab = self
            .browser
            .open(&format!("{}/?folder={folder}", self.address));
        tab.wait_for(".monaco-workbench .part.statusbar");
        tab
    }

    /// The process that has its extensions and terminals below it.
    pub fn server(&self) -> u32 {
        self.server
    }

    /// Runs a command by its title, as the person does in the palette.
    #[track_caller]
    pub fn command(&self, title: &str) {
        self.choose("F1", title);
    }

    /// Presses keys that open a list, types the name of something in it, and clicks that.
    #[track_caller]
    pub fn choose(&self, keys: &str, name: &str) {
        self.tab.press(keys);
        self.tab.wait_for(".quick-input-widget input");
        self.tab.insert_text(name);
        // What follows the name are its keys, or where it was found.
        let is_named = format!(r#":is([aria-label={name:?}], [aria-label^="{name}, "])"#);
        let row = format!(".quick-input-list .monaco-list-row{is_named} >> nth=0");
        self.tab.click(&row);
        self.tab.wait_gone(&row);
    }

    /// Opens a file of the workspace, by its name.
    #[track_caller]
    pub fn open(&self, name: &str) {
        self.choose("Control+p", name);
        self.tab
            .wait_for(&format!(".tab.active:has-text({name:?})"));
    }

    /// The texts of the items of its status bar.
    #[track_caller]
    pub fn status(&self) -> Vec<String> {
        self.tab.texts(".statusbar-item")
    }
}

impl Drop for VsCode {
    fn drop(&mut self) {
        kill_tree(self.server);
    }
}

/// The folder with `code-server`, and the Node that it runs in.
fn programs() -> PathBuf {
    let folder = std::env::var_os(VARIABLE).unwrap_or_else(|| {
        panic!("{VARIABLE} is not set: run this test through `cargo xtask test`, which installs VS Code")
    });
    PathBuf::from(folder).join("node_modules/.bin")
}

fn extensions(home: &Home) -> PathBuf {
    home.home().join(".local/share/code-server/extensions")
}

fn copy(from: &Path, to: &Path) {
    fs::create_dir_all(to).expect("the home is ours");
    for entry in fs::read_dir(from).expect("it is a folder").flatten() {
        let (path, to) = (entry.path(), to.join(entry.file_name()));
        if path.is_dir() {
            copy(&path, &to);
        } else {
            fs::copy(&path, &to).expect("it can be read");
        }
    }
}
