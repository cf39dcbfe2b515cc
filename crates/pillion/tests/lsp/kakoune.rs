//! A person in Kakoune with kakoune-lsp, set up as `docs/editors.md` says: what agents hear, and what becomes of what
//! they propose.

use std::fs;
use std::path::{Path, PathBuf};
use std::thread::sleep;

use pillion_protocol::Dialect;
use pillion_testkit::client::Update;
use pillion_testkit::{
    Editors, Home, Kakoune, KakouneSetup, KakouneVersion, SOON, TestAgent, Tmux, discovery_file,
    discovery_files, each_kakoune, kill_all_of, make_repository,
};
use pillion_view::LOOK;

const PILLION: &str = env!("CARGO_BIN_EXE_pillion");

const PAGE: &str = include_str!("../../../../docs/editors.md");

/// The folder with the script that opens proposals.
const SCRIPTS: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../editors/kakoune");

const BEFORE: &str = "one\ntwo\nthree\n";

#[each_kakoune(kakoune_lsp)]
fn a_proposal_is_decided_in_the_menu_or_by_closing_it(version: KakouneVersion) {
    decides(version);
}

#[each_kakoune(kakoune_lsp)]
fn names_are_taken_as_they_are(version: KakouneVersion) {
    let scene = Scene::start(version);
    let home = &scene.home;
    let mut gemini = TestAgent::find(home, Dialect::GeminiCli);
    // kakoune-lsp ends at a `|`, and does not reach a buffer with a comma in its name.
    for name in [
        "it's %{x} \"q\".py",
        "%sh{touch PWNED} $(touch PWNED).py",
        "-x.py",
        "a;b§[c].py",
        "ünï 👩‍👩.py",
    ] {
        let path = home.file(name, BEFORE);
        for keys in ["<ret>", "\t\t<ret>"] {
            gemini.propose(&path, "new\n");
            scene.is_shown(&name.replace(".py", ".proposed.py"));
            scene.choose(keys);
            let path = path.display().to_string();
            let expected = match keys {
                "<ret>" => Update::accepted(path, "new\n"),
                _ => Update::DiffRejected { path },
            };
            assert_eq!(gemini.outcome(), expected, "{name}");
            scene.close();
        }
    }
    assert!(!home.workspace().join("PWNED").exists());
}

#[each_kakoune(kakoune_lsp)]
fn the_languages_own_server_is_kept(version: KakouneVersion) {
    let scene = Scene::with(version, page());
    scene
        .kakoune
        .wait_until("both servers", "%opt{lsp_servers}", |servers| {
            servers[0].contains("[pylsp]") && servers[0].matches("[pillion]").count() == 1
        });
}

fn decides(version: KakouneVersion) {
    let scene = Scene::start(version);
    let Scene {
        kakoune,
        path,
        home,
        ..
    } = &scene;
    let mut gemini = TestAgent::find(home, Dialect::GeminiCli);
    kakoune.input("ggxJ");
    gemini.context(|context| {
        let file = context.active_file();
        file.is_some_and(|file| {
            file.path == path.to_str().unwrap() && file.selected_text.as_deref() == Some("one\ntwo")
        })
    });
    kakoune.input("3ggh");
    gemini.context(|context| {
        let cursor = context.active_file().and_then(|file| file.cursor);
        cursor.is_some_and(|cursor| (cursor.line, cursor.character) == (3, 1))
    });
    let accepted = |text: &str| Update::accepted(path.display().to_string(), text);
    let rejected = Update::DiffRejected {
        path: path.display().to_string(),
    };

    gemini.propose(path, "one\n2\nthree\n");
    scene.is_shown("poem.proposed.py");
    kakoune.input("gg:lsp-find-error info<ret>");
    kakoune.wait_value("%val{cursor_line}", "2");
    kakoune.input(":lsp-hover<ret>");
    kakoune.pane().wait_for("two", SOON);
    // Its server serves the proposal, too, whose folder is no workspace for that.
    let file = discovery_files(home, Dialect::GeminiCli).remove(0);
    let roots = discovery_file(&file).workspace_path;
    assert_eq!(roots, home.workspace().display().to_string());
    kakoune.input("geomine<esc>");
    kakoune.wait_until("the edit", "%val{bufname}", |_| {
        kakoune.text_in_focus() == "one\n2\nthree\nmine\n"
    });
    scene.choose("<ret>");
    assert_eq!(gemini.outcome(), accepted("one\n2\nthree\nmine\n"));
    scene.close();

    gemini.propose(path, "one\nthree\n");
    scene.is_shown("poem.proposed.py");
    scene.choose("\t\t<ret>");
    assert_eq!(gemini.outcome(), rejected);
    scene.close();

    gemini.propose(path, "one\n");
    scene.is_shown("poem.proposed.py");
    scene.close();
    assert_eq!(gemini.outcome(), rejected);
    assert_eq!(fs::read_to_string(path).unwrap(), BEFORE);
    let debug = kakoune.text("*debug*");
    assert_eq!(
        debug.matches("Starting language server").count(),
        1,
        "{debug}"
    );
}

/// Kakoune with `poem.py` open.
struct Scene {
    kakoune: Kakoune,
    path: PathBuf,
    _tmux: Tmux,
    // Last: the editor has files in it.
    home: Home,
}

impl Scene {
    fn start(version: KakouneVersion) -> Scene {
        Scene::with(version, settings())
    }

    fn with(version: KakouneVersion, settings: String) -> Scene {
        let home = Home::new();
        let path = home.file("poem.py", BEFORE);
        // A project, whose folder is the root.
        make_repository(&home.workspace());
        let config = home.home().join(".config/kak");
        fs::create_dir_all(&config).unwrap();
        fs::write(config.join("kakrc"), settings).unwrap();
        let tmux = Tmux::start();
        let kakoune = KakouneSetup::new(version, &home)
            .without_module()
            .path(Editors::from_env().kakoune_lsp().parent().unwrap())
            .path(SCRIPTS)
            .pillion(PILLION)
            .arg(&path)
            .in_tmux(&tmux);
        Scene {
            kakoune,
            path,
            _tmux: tmux,
            home,
        }
    }

    /// Waits until a proposal of this name is in front, and kakoune-lsp knows its hunks.
    fn is_shown(&self, name: &str) {
        self.kakoune.wait_until(name, "%val{buffile}", |file| {
            Path::new(&file[0]).file_name().unwrap() == name
        });
        let hunks = "%opt{lsp_diagnostic_info_count}";
        self.kakoune
            .wait_until("its hunks", hunks, |count| count != ["0"]);
    }

    /// Presses these keys in the menu of code actions.
    fn choose(&self, keys: &str) {
        // Nothing counts before that.
        sleep(LOOK);
        self.kakoune.input(":lsp-code-actions<ret>");
        self.kakoune.pane().wait_for("Reject", SOON);
        self.kakoune.input(keys);
    }

    fn close(&self) {
        self.kakoune.input(":db!<ret>");
        self.kakoune.wait_value("%val{bufname}", "poem.py");
    }
}

/// kakoune-lsp goes on without its Kakoune.
impl Drop for Scene {
    fn drop(&mut self) {
        kill_all_of(&self.home);
    }
}

/// Those of the page, as it says for a language without a server of its own.
fn settings() -> String {
    let settings = page();
    let (before, after) = settings
        .split_once("    trigger-user-hook ")
        .expect("the page has the line");
    let (_, after) = after.split_once('\n').expect("it is a line");
    format!("{before}{after}")
}

/// Those of the page.
fn page() -> String {
    let section = PAGE.split("\n## ").find(|it| it.starts_with("Kakoune\n"));
    let settings = section.expect("the page has it").split("```kak\n").nth(1);
    let settings = settings.and_then(|rest| rest.split("```").next());
    settings.expect("the page has settings").to_owned()
}
