//! The harness itself: both Neovims start with a plugin, obey, and show what they should.

use std::fs;
use std::process::Command;
use std::time::Duration;

use pillion_testkit::{Editors, Home, Nvim, NvimSetup, NvimVersion, SOON, Size, Tmux};
use serde_json::{Value, json};

const SIZE: Size = Size::new(80, 24);

#[test]
#[ignore = "needs Neovim: cargo xtask test"]
fn neovim_without_a_screen_does_what_it_is_told() {
    for version in NvimVersion::ALL {
        let home = Home::new();
        let file = home.file("notes.txt", "first\nsecond\n");
        let nvim = setup(version, &home).arg(&file).headless();
        has_version(&nvim, version);

        let args = json!([1, "two", { "three": [true, null, 1.5] }]);
        assert_eq!(nvim.lua::<Value>("return { ... }", args.clone()), args);
        let name: String = nvim.lua("return vim.api.nvim_buf_get_name(...)", json!(0));
        assert_eq!(name, file.display().to_string());
        nvim.input("Gohello<Esc>");
        nvim.wait_until("the line", "vim.fn.getline('$') == 'hello'");
        nvim.command("write");
        let text = fs::read_to_string(&file).expect("it is there");
        assert_eq!(text, "first\nsecond\nhello\n");
        let described = nvim.describe();
        assert!(described.contains("  | hello\n"), "{described}");
        nvim.assert_no_errors();
        assert!(is_running(nvim.pid()));
        assert_eq!(nvim.quit(), 0);
        assert!(!is_running(nvim.pid()));
    }
}

#[test]
#[ignore = "needs Neovim: cargo xtask test"]
fn neovim_loads_the_plugin_and_nothing_of_the_machine() {
    for version in NvimVersion::ALL {
        let home = Home::new();
        home.file("plugin/it.lua", "vim.g.order = vim.g.order .. ', plugin'");
        home.file("lua/it.lua", "return { word = 'from the module' }");
        let nvim = setup(version, &home)
            .plugin(home.workspace())
            .init("vim.g.order = 'init'")
            .init("vim.g.word = require('it').word")
            .env("GREETING", "hello")
            .cwd(home.home())
            .pillion("/somewhere/pillion")
            .headless();
        let order = "return { vim.g.order, vim.g.word, vim.env.GREETING, vim.fn.getcwd() }";
        let home_folder = home.home().display().to_string();
        assert_eq!(
            nvim.lua::<Vec<String>>(order, json!([])),
            ["init, plugin", "from the module", "hello", &home_folder]
        );
        let path: String = nvim.lua("return vim.env.PATH", json!([]));
        assert!(path.starts_with("/somewhere:"), "{path}");
        let folders: Vec<String> = nvim.lua("return vim.opt.runtimepath:get()", json!([]));
        let installed = Editors::other_nvim().is_none().then(Editors::from_env);
        for folder in folders {
            let is_ours = installed.as_ref().is_none_or(|installed| {
                let folder = std::path::Path::new(&folder);
                folder.starts_with(installed.folder()) || folder.starts_with(home.root())
            });
            assert!(is_ours, "{folder} is the machine's");
        }
    }
}

#[test]
#[ignore = "needs Neovim: cargo xtask test"]
fn neovim_in_a_terminal_shows_text_and_takes_keys() {
    for version in NvimVersion::ALL {
        let (tmux, home) = (Tmux::start(), Home::new());
        let file = home.file("notes.txt", "what stands here\n");
        let nvim = setup(version, &home).arg(&file).in_tmux(&tmux, SIZE);
        has_version(&nvim, version);
        let pane = nvim.pane();
        pane.wait_for("what stands here", SOON);
        // It draws in one process and edits in another, which it starts itself.
        if Editors::other_nvim().is_none() {
            assert_ne!(nvim.pid(), pane.pid());
        }
        pane.type_text("A and more");
        pane.wait_for("what stands here and more", SOON);
        nvim.wait_until("insert mode", "vim.fn.mode() == 'i'");
        pane.send_keys(["Escape"]);
        nvim.wait_until("normal mode", "vim.fn.mode() == 'n'");

        pane.type_text(":terminal\n");
        nvim.wait_until("a terminal", "vim.bo.buftype == 'terminal'");
        pane.type_text("iecho $((40 + 2)) is the answer\n");
        pane.wait_for("42 is the answer", SOON);
        let job: u32 = nvim.lua("return vim.b.terminal_job_pid", json!([]));
        assert!(is_running(job));
        nvim.quit();
        assert!(!pane.is_running());
    }
}

#[test]
#[ignore = "needs Neovim: cargo xtask test"]
fn neovim_that_waits_for_a_key_is_noticed() {
    for version in NvimVersion::ALL {
        let (tmux, home) = (Tmux::start(), Home::new());
        let nvim = setup(version, &home).in_tmux(&tmux, SIZE);
        assert_eq!(nvim.blocked_in(), None);
        nvim.input(":echo \"one\\ntwo\\nthree\"<CR>");
        nvim.pane().wait_for("Press ENTER", SOON);
        assert_eq!(nvim.blocked_in().as_deref(), Some("r"));
        let described = nvim.describe();
        assert!(described.contains("waiting for a key"), "{described}");
        nvim.input("<CR>");
        nvim.wait_until("no question", "true");
        assert_eq!(nvim.mode(), "n");
    }
}

#[test]
#[ignore = "needs Neovim: cargo xtask test"]
fn neovim_leaves_nothing_behind() {
    for version in NvimVersion::ALL {
        let (tmux, home) = (Tmux::start(), Home::new());
        let sleeper = "return vim.fn.jobpid(vim.fn.jobstart({ 'sleep', '600' }))";
        let nvim = setup(version, &home).in_tmux(&tmux, SIZE);
        let child: u32 = nvim.lua(sleeper, json!([]));
        let pid = nvim.pid();
        drop(nvim);
        assert_gone(&[pid, child]);

        for nvim in [
            setup(version, &home).headless(),
            setup(version, &home).in_tmux(&tmux, SIZE),
        ] {
            let child: u32 = nvim.lua(sleeper, json!([]));
            nvim.kill();
            assert_gone(&[nvim.pid()]);
            drop(nvim);
            assert_gone(&[child]);
        }
    }
}

#[test]
#[ignore = "needs Neovim: cargo xtask test"]
fn neovim_reports_what_went_wrong() {
    for version in NvimVersion::ALL {
        let home = Home::new();
        let nvim = setup(version, &home).headless();
        let told = complaint(|| nvim.lua::<Value>("error('told so')", json!([])));
        assert!(told.contains("told so"), "{told}");
        let told = complaint(|| nvim.command("NoSuchCommand"));
        assert!(told.contains("E492"), "{told}");
        nvim.lua::<()>("vim.api.nvim_err_writeln('E77: no such thing')", json!([]));
        let told = complaint(|| nvim.assert_no_errors());
        assert!(told.contains("E77: no such thing"), "{told}");

        let broken = setup(version, &home).init("error('broken settings')");
        let told = complaint(|| broken.headless());
        assert!(told.contains("broken settings"), "{told}");
    }
}

fn setup(version: NvimVersion, home: &Home) -> NvimSetup {
    NvimSetup::new(version, home)
}

fn has_version(nvim: &Nvim, version: NvimVersion) {
    let code = "local v = vim.version() return { v.major, v.minor }";
    let number: [u32; 2] = nvim.lua(code, json!([]));
    let is_right = match version {
        NvimVersion::V0_10 => number == [0, 10],
        NvimVersion::V0_12 => number >= [0, 12],
    };
    let is_right = is_right || Editors::other_nvim().is_some();
    assert!(is_right, "{version:?} is {number:?}");
}

/// The message of the panic.
fn complaint<T>(work: impl FnOnce() -> T) -> String {
    let result = std::panic::catch_unwind(std::panic::AssertUnwindSafe(work));
    let panic = result.err().expect("this panics");
    let text = panic.downcast::<String>();
    *text.expect("what it says is made up of several things")
}

/// Waits until these processes are gone: one that was killed may take a moment.
fn assert_gone(pids: &[u32]) {
    let started = std::time::Instant::now();
    while let Some(pid) = pids.iter().find(|pid| is_running(**pid)) {
        assert!(started.elapsed() < SOON, "{pid} still runs");
        std::thread::sleep(Duration::from_millis(20));
    }
}

/// Returns true if it is there, and more than an entry that its parent has not looked at.
fn is_running(pid: u32) -> bool {
    let listing = Command::new("ps")
        .args(["-o", "stat=", "-p", &pid.to_string()])
        .output();
    let state = listing.expect("`ps` must run").stdout;
    !state.is_empty() && !state.starts_with(b"Z")
}
