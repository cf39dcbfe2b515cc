//! Neovim without the plugin: its own language-server client, set up as `docs/editors.md` says.

use std::time::{Duration, Instant};
use std::{fs, thread};

use pillion_protocol::Dialect;
use pillion_testkit::client::Update;
use pillion_testkit::{
    Home, Nvim, NvimSetup, NvimVersion, SOON, TestAgent, each_neovim, make_repository,
};
use pillion_view::LOOK;
use serde_json::json;

use crate::world;

const PAGE: &str = include_str!("../../../../docs/editors.md");

/// `code_action` asks which, and nobody is there.
const CHOOSE_FIRST: &str = "
    vim.ui.select = function(items, options, choose) choose(items[1], 1) end
";

/// The page's recipe for this release.
fn recipe(version: NvimVersion) -> String {
    let section = PAGE.split("\n## Neovim\n").nth(1).expect("the page has it");
    let mut recipes = section.split("```lua").skip(1).map(|rest| {
        let recipe = rest.split("```").next();
        recipe.expect("a piece").to_owned()
    });
    let newer = recipes.next().expect("the page has one");
    let older = recipes.next().expect("the page has two");
    match version {
        NvimVersion::V0_10 => {
            let cursor = newer.split("-- The cursor").nth(1).expect("it is there");
            format!("{older}\n-- The cursor{cursor}")
        }
        NvimVersion::V0_12 => newer,
    }
}

/// With a mark, CRLF, and a last line without an end: all that Neovim does not show.
const PROPOSED: &str = "\u{feff}one\r\nTWO\r\nthree";

struct World {
    nvim: Nvim,
    gemini: TestAgent,
    target: String,
    home: Home,
}

impl World {
    fn open(version: NvimVersion) -> World {
        let home = Home::new();
        let path = home.file("[id] a.txt", "one\ntwo\n");
        let empty = home.other_workspace("no-plugin");
        let nvim = world::setup(version, &home)
            .plugin(empty)
            .init(CHOOSE_FIRST)
            .init(&recipe(version))
            .arg(&path);
        let nvim = NvimSetup::headless(nvim);
        let gemini = TestAgent::find(&home, Dialect::GeminiCli);
        World {
            nvim,
            gemini,
            target: path.to_str().expect("it is UTF-8").to_owned(),
            home,
        }
    }

    /// The proposal's buffer, once it is shown with its hunk.
    fn propose(&self) -> u32 {
        self.propose_text(PROPOSED)
    }

    fn propose_text(&self, proposed: &str) -> u32 {
        self.gemini.propose(&self.target, proposed);
        let shown = "
            for _, window in ipairs(vim.api.nvim_list_wins()) do
              local buffer = vim.api.nvim_win_get_buf(window)
              if vim.api.nvim_buf_get_name(buffer):find('[id] a.proposed.txt', 1, true) then
                return #vim.diagnostic.get(buffer) > 0 and buffer
              end
            end";
        self.nvim
            .wait_for("the proposal with its hunk in a window", shown, json!([]))
    }

    fn accept(&self, buffer: u32) {
        // Nothing counts before that.
        thread::sleep(LOOK);
        let accept = "
            vim.api.nvim_set_current_win(vim.fn.win_findbuf(...)[1])
            vim.lsp.buf.code_action()";
        self.nvim.lua::<serde_json::Value>(accept, json!([buffer]));
    }

    fn outcome(&mut self) -> Option<String> {
        match self.gemini.outcome() {
            Update::DiffAccepted { path, content, .. } => {
                assert_eq!(path, self.target);
                Some(content)
            }
            _ => None,
        }
    }
}

#[each_neovim]
fn a_plain_client_shows_a_proposal_and_accepts_it_byte_for_byte(version: NvimVersion) {
    let mut world = World::open(version);
    world.gemini.context(|context| {
        context
            .active_file()
            .is_some_and(|file| file.path == world.target)
    });
    let focused: u32 = world
        .nvim
        .lua("return vim.api.nvim_get_current_buf()", json!([]));
    let buffer = world.propose();
    let now: u32 = world
        .nvim
        .lua("return vim.api.nvim_get_current_buf()", json!([]));
    assert_eq!(now, focused, "the focus stays");
    world.accept(buffer);
    assert_eq!(world.outcome().as_deref(), Some(PROPOSED));
    world
        .nvim
        .wait_until("no hunks any more", "#vim.diagnostic.get() == 0");
    assert_eq!(
        fs::read_to_string(&world.target).expect("it is there"),
        "one\ntwo\n"
    );
}

#[each_neovim]
fn a_plain_client_s_edits_are_accepted_and_nothing_else_changes(version: NvimVersion) {
    let mut world = World::open(version);
    let buffer = world.propose();
    let edit = "vim.api.nvim_buf_set_lines((...), 1, 1, true, { 'new 😀' })";
    world.nvim.lua::<serde_json::Value>(edit, json!([buffer]));
    world.nvim.command("wall");
    world.accept(buffer);
    let edited = PROPOSED.replace("TWO", "new 😀\r\nTWO");
    assert_eq!(world.outcome(), Some(edited));
}

#[each_neovim]
fn a_carriage_return_that_neovim_shows_can_be_edited(version: NvimVersion) {
    let mut world = World::open(version);
    let buffer = world.propose_text("one\r\nTWO\nthree\r\nfour\r\n");
    let edit = "
            local buffer = ...
            vim.api.nvim_buf_set_text(buffer, 0, 3, 0, 4, {})
            vim.api.nvim_buf_set_text(buffer, 2, 6, 3, 0, { ' ' })";
    world.nvim.lua::<serde_json::Value>(edit, json!([buffer]));
    world.accept(buffer);
    assert_eq!(
        world.outcome().as_deref(),
        Some("one\nTWO\nthree\r four\r\n")
    );
}

#[each_neovim]
fn line_ends_that_the_person_changes_are_accepted(version: NvimVersion) {
    let mut world = World::open(version);
    let buffer = world.propose();
    let convert = "
            vim.api.nvim_buf_call(..., function()
              vim.bo.fileformat = 'unix'
              vim.cmd('write')
            end)";
    world
        .nvim
        .lua::<serde_json::Value>(convert, json!([buffer]));
    world.accept(buffer);
    assert_eq!(world.outcome(), Some(PROPOSED.replace('\r', "")));
}

#[each_neovim]
fn closing_a_proposal_rejects_it(version: NvimVersion) {
    let mut world = World::open(version);
    let buffer = world.propose();
    world.nvim.command(&format!("bwipeout! {buffer}"));
    assert_eq!(world.outcome(), None);
    let proposals = world.home.runtime().join("pillion/proposals");
    // The thread that owns the files removes it a moment after the outcome.
    let started = Instant::now();
    loop {
        let left = fs::read_dir(&proposals).expect("it is there").flatten();
        let left = left.flat_map(|process| fs::read_dir(process.path()).expect("it is there"));
        // A socket for other windows stays.
        let mut left = left.flatten().map(|entry| entry.path());
        if !left.any(|path| path.is_dir()) {
            break;
        }
        assert!(started.elapsed() < SOON, "the proposal stays behind");
        thread::sleep(Duration::from_millis(20));
    }
}

#[each_neovim]
fn a_cursor_that_rests_is_sent(version: NvimVersion) {
    let mut world = World::open(version);
    world.nvim.command("set updatetime=10");
    world.nvim.input("jl");
    // A busy machine lets the cursor rest after each key.
    world.gemini.context(|context| {
        let cursor = context.active_file().and_then(|file| file.cursor);
        cursor.is_some_and(|cursor| (cursor.line, cursor.character) == (2, 2))
    });
}

/// The folders of each companion, by their names.
fn companions(home: &Home) -> Vec<Vec<String>> {
    let env = home.env();
    let pairs = env
        .iter()
        .map(|(name, value)| (name.to_string_lossy().into_owned(), value.to_owned()));
    let environment = pillion_discovery::Environment::from_pairs(pairs);
    let companions = pillion_discovery::state::list(&environment);
    let name = |root: &std::path::PathBuf| {
        root.file_name()
            .map(|name| name.to_string_lossy().into_owned())
    };
    let of = |roots: &[std::path::PathBuf]| {
        let mut names: Vec<String> = roots.iter().filter_map(name).collect();
        names.sort();
        names
    };
    companions.iter().map(|it| of(&it.roots)).collect()
}

#[track_caller]
fn wait_for_companions(home: &Home, expected: &[&[&str]]) {
    let started = Instant::now();
    loop {
        let mut found = companions(home);
        found.sort();
        if found == expected {
            return;
        }
        assert!(
            started.elapsed() < SOON,
            "{found:?} instead of {expected:?}"
        );
        thread::sleep(Duration::from_millis(20));
    }
}

/// A project, another one, and a folder that is none, each with a file; Neovim has the first one open.
fn projects(version: NvimVersion, init: &str) -> (Nvim, Home) {
    let home = Home::new();
    for (folder, is_project) in [("one", true), ("two", true), ("loose", false)] {
        if is_project {
            make_repository(&home.workspace().join(folder));
        }
        home.file(&format!("{folder}/a.txt"), "text\n");
    }
    let empty = home.other_workspace("no-plugin");
    let nvim = world::setup(version, &home)
        .plugin(empty)
        .init(init)
        .cwd(home.workspace().join("one"))
        .arg("a.txt")
        .headless();
    (nvim, home)
}

/// Wherever files are, and whichever comes first.
#[each_neovim]
fn one_neovim_has_one_companion(version: NvimVersion) {
    let (nvim, home) = projects(version, &recipe(version));
    wait_for_companions(&home, &[&["one"]]);
    nvim.command("edit ../loose/a.txt");
    nvim.command("edit ../two/a.txt");
    match version {
        // By the current folder.
        NvimVersion::V0_10 => wait_for_companions(&home, &[&["one"]]),
        NvimVersion::V0_12 => wait_for_companions(&home, &[&["one", "two"]]),
    }
    nvim.wait_until("one client", "#vim.lsp.get_clients() == 1");
    // Agents know the file that has the focus.
    let mut gemini = TestAgent::find(&home, Dialect::GeminiCli);
    gemini.context(|context| {
        context
            .active_file()
            .is_some_and(|file| file.path.ends_with("two/a.txt"))
    });
    let gone = "(function() vim.cmd('cd ../two') vim.cmd('edit b.txt') return #vim.lsp.get_clients() == 1 end)()";
    nvim.wait_until("one client", gone);
}

/// The settings of people who know `vim.lsp.enable`, and no page of ours.
const ROOT_MARKERS: &str = "
    vim.lsp.config('pillion', { cmd = { 'pillion', 'lsp' }, root_markers = { '.git' } })
    vim.lsp.enable('pillion')
";

#[test]
#[ignore = "needs Neovim: cargo xtask test"]
fn no_folder_has_two_companions_of_one_neovim() {
    let (nvim, home) = projects(NvimVersion::V0_12, ROOT_MARKERS);
    wait_for_companions(&home, &[&["one"]]);
    // In no project, so Neovim starts a client without a folder.
    nvim.command("edit ../loose/a.txt");
    nvim.wait_until("both clients", "#vim.lsp.get_clients() == 2 and vim.iter(vim.lsp.get_clients()):all(function(it) return it.initialized end)");
    nvim.command("edit ../two/a.txt");
    wait_for_companions(&home, &[&["one"], &["two"]]);
}
