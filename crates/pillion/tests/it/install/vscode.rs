//! Editors whose command line is a stand-in that notes its arguments.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::process::Command;

use pillion_testkit::VsCodeSetup;
use serde_json::{Value, json};

use crate::sandbox::{Ran, Sandbox, ran};

const GEMINI: &str = "google.gemini-cli-vscode-ide-companion";
const QWEN: &str = "qwenlm.qwen-code-vscode-ide-companion";
const OWN: &str = "pillion.pillion";

impl Sandbox {
    /// An editor's command that notes its arguments, a line each, and fails where `fails` stands in
    /// them. It lists what it was asked to install: of a file, which it keeps a copy of, the extension that is in it.
    fn editor(&self, name: &str, fails: &str) -> PathBuf {
        let script = format!(
            "#!/bin/sh\n\
             list='{}'\n\
             touch \"$list\"\n\
             if [ \"$1\" = --list-extensions ]; then exec cat \"$list\"; fi\n\
             for word; do echo \"$word\" >> '{}'; done\n\
             case \"$*\" in *{fails}*) echo first; echo \"no network\" >&2; exit 7;; esac\n\
             case \"$2\" in */*.vsix) cp \"$2\" '{}' || exit 9; set -- \"$1\" {OWN};; esac\n\
             grep -vixF \"$2\" \"$list\" > \"$list.new\"\n\
             mv \"$list.new\" \"$list\"\n\
             if [ \"$1\" = --install-extension ]; then echo \"$2\" >> \"$list\"; done=installed\n\
             else done=uninstalled; fi\n\
             echo \"Extension '$2' was successfully $done.\"\n",
            self.extensions(name).display(),
            self.log(name).display(),
            self.packed(name).display(),
        );
        self.program(name, &script)
    }

    /// The list of what the stand-in has.
    fn extensions(&self, name: &str) -> PathBuf {
        self.home.root().join(format!("{name}.list"))
    }

    /// The copy of the file that it was asked to install.
    fn packed(&self, name: &str) -> PathBuf {
        self.home.root().join(format!("{name}.vsix"))
    }

    /// An editor's command that is this script.
    fn program(&self, name: &str, script: &str) -> PathBuf {
        let path = self.home.other_workspace("bin").join(name);
        let text = self.home.root().join(format!("{name}.sh"));
        fs::write(&text, script).unwrap();
        // By another process: what this one writes, a child of another test may still hold open, and
        // then it cannot be run.
        let installed = Command::new("install").args([&text, &path]).status();
        assert!(installed.unwrap().success());
        path
    }

    fn log(&self, name: &str) -> PathBuf {
        self.home.root().join(format!("{name}.log"))
    }

    /// The arguments that the stand-in was given; nothing if it was not run.
    fn given(&self, name: &str) -> Vec<String> {
        let text = fs::read_to_string(self.log(name)).unwrap_or_default();
        text.lines().map(str::to_owned).collect()
    }

    /// The command with the stand-ins on PATH.
    fn with_editors(&self, args: &[&str]) -> Ran {
        let mut env = self.home.env();
        env.prepend_path(self.home.other_workspace("bin"));
        ran(self.command(args).env_clear().envs(env.iter()), b"")
    }
}

/// By the words for them, with their commands.
const KIN: [(&str, &str); 9] = [
    ("vscode", "code"),
    ("code-insiders", "code-insiders"),
    ("vscodium", "codium"),
    ("cursor", "cursor"),
    ("windsurf", "windsurf"),
    ("trae", "trae"),
    ("antigravity", "agy"),
    ("code-server", "code-server"),
    ("positron", "positron"),
];

#[test]
fn vs_code_and_its_kin_get_pillions_extension_by_their_own_command() {
    for (editor, command) in KIN {
        let sandbox = Sandbox::new();
        sandbox.editor(command, "no-such-word");
        let dry = sandbox
            .with_editors(&["install", editor, "--dry-run"])
            .expect(0);
        let file = format!("pillion-{}.vsix", env!("CARGO_PKG_VERSION"));
        let would = format!("--install-extension {file} --force (Pillion's extension)");
        assert!(dry.stdout.contains(&would), "{}", dry.stdout);
        assert!(sandbox.given(command).is_empty());
        let done = sandbox.with_editors(&["install", editor]).expect(0);
        let given = sandbox.given(command);
        assert_eq!(
            (given.len(), &*given[0], &*given[2]),
            (3, "--install-extension", "--force")
        );
        let given = Path::new(&given[1]);
        assert!(given.is_absolute() && given.ends_with(&file), "{given:?}");
        // In the person's own folder, where a sandbox can read it, and gone afterwards.
        assert!(given.starts_with(sandbox.home.home()), "{given:?}");
        assert!(!given.parent().unwrap().exists());
        let said = format!("Pillion's extension: Extension '{OWN}' was successfully installed.");
        assert!(done.stdout.contains(&said), "{}", done.stdout);
        fs::remove_file(sandbox.log(command)).unwrap();
        sandbox.with_editors(&["uninstall", editor]).expect(0);
        assert_eq!(sandbox.given(command), ["--uninstall-extension", OWN]);
        let ran = sandbox.with_editors(&["uninstall", editor]);
        ran.expect_error(1, "has no extension of Pillion's installed", "--list");
    }
}

/// Read by another program than ours.
#[test]
fn what_is_installed_is_an_extension_of_this_version_with_all_its_files() {
    let sandbox = Sandbox::new();
    sandbox.editor("code", "no-such-word");
    sandbox.with_editors(&["install", "vscode"]).expect(0);
    let read = "import json, sys, zipfile\n\
                packed = zipfile.ZipFile(sys.argv[1])\n\
                assert packed.testzip() is None\n\
                print(json.dumps({name: packed.read(name).decode() for name in packed.namelist()}))";
    let mut python = Command::new("python3");
    let python = python
        .args(["-c", read])
        .arg(sandbox.packed("code"))
        .output()
        .unwrap();
    assert!(
        python.status.success(),
        "{}",
        String::from_utf8_lossy(&python.stderr)
    );
    let files: BTreeMap<String, String> = serde_json::from_slice(&python.stdout).unwrap();
    let manifest: Value = serde_json::from_str(&files["extension/package.json"]).unwrap();
    assert_eq!(manifest["version"], env!("CARGO_PKG_VERSION"));
    let id = format!(
        "{}.{}",
        manifest["publisher"].as_str().unwrap(),
        manifest["name"].as_str().unwrap()
    );
    assert_eq!(id, OWN);
    let described = &files["extension.vsixmanifest"];
    let identity = format!(
        "Id=\"pillion\" Version=\"{}\" Publisher=\"pillion\"/>",
        env!("CARGO_PKG_VERSION")
    );
    assert!(described.contains(&identity), "{described}");
    assert!(files.contains_key("[Content_Types].xml"));
    // What a module asks for is there, and nothing is that only its authors need.
    for (path, text) in files.iter().filter(|(path, _)| path.ends_with(".js")) {
        for named in text.split("require(\"./").skip(1) {
            let named = named.split('"').next().unwrap();
            let wanted = Path::new(path).with_file_name(format!("{named}.js"));
            assert!(
                files.contains_key(wanted.to_str().unwrap()),
                "{path}: {named}"
            );
        }
    }
    assert!(
        files
            .keys()
            .all(|path| !path.ends_with("config.json") && !path.ends_with("README.md"))
    );
}

#[test]
#[ignore = "needs VS Code, the browser: cargo xtask test"]
fn code_server_has_the_extension_that_was_installed() {
    let sandbox = Sandbox::new();
    let setup = VsCodeSetup::new(&sandbox.home);
    let run = |args: &[&str]| {
        let mut command = sandbox.command(args);
        ran(command.env_clear().envs(setup.environment().iter()), b"")
    };
    let state = || {
        let listed = run(&["install", "--list"]).expect(0).stdout;
        let line = listed.lines().find(|line| line.starts_with("code-server "));
        line.unwrap().to_owned()
    };
    // It has never had one, and so no list.
    assert!(state().ends_with(" -"), "{}", state());
    run(&["install", "code-server"]).expect(0);
    let installed = format!("Pillion's extension {}", env!("CARGO_PKG_VERSION"));
    assert!(state().ends_with(&installed), "{}", state());
    // Once more, over what is there.
    run(&["install", "code-server"]).expect(0);
    run(&["uninstall", "code-server"]).expect(0);
    assert!(state().ends_with("no Pillion's extension"), "{}", state());
}

#[test]
fn vs_code_and_its_kin_get_the_makers_extensions_if_those_are_wanted() {
    for (editor, command) in KIN {
        let sandbox = Sandbox::new();
        sandbox.editor(command, "no-such-word");
        let dry = sandbox
            .with_editors(&["install", editor, "--official", "--dry-run"])
            .expect(0);
        assert!(dry.stdout.contains("--install-extension"), "{}", dry.stdout);
        assert!(sandbox.given(command).is_empty());
        let done = sandbox
            .with_editors(&["install", editor, "--official"])
            .expect(0);
        let install = "--install-extension";
        let expected = [install, GEMINI, "--force", install, QWEN, "--force"];
        assert_eq!(sandbox.given(command), expected);
        let said = format!("Qwen Code's extension: Extension '{QWEN}' was successfully installed.");
        assert!(done.stdout.contains(&said), "{}", done.stdout);
        fs::remove_file(sandbox.log(command)).unwrap();
        sandbox
            .with_editors(&["uninstall", editor, "--agent", "gemini"])
            .expect(0);
        assert_eq!(sandbox.given(command), ["--uninstall-extension", GEMINI]);
    }
}

#[test]
fn the_extension_that_fails_is_named_with_the_editors_own_words() {
    let sandbox = Sandbox::new();
    sandbox.editor("code", "qwenlm");
    let ran = sandbox.with_editors(&["install", "vscode", "--official"]);
    let ran = ran.expect_error(
        1,
        "VS Code: Qwen Code's extension: failed (exit status: 7)",
        "again",
    );
    assert!(ran.stderr.contains("no network"), "{}", ran.stderr);
    assert!(
        ran.stdout.contains("Gemini CLI's extension: Extension"),
        "{}",
        ran.stdout
    );
    let ran = sandbox
        .with_editors(&["install", "vscode", "--official", "--json"])
        .expect(1);
    let printed: Value = serde_json::from_str(&ran.stdout).unwrap();
    assert_eq!(printed["success"], false);
    assert_eq!(printed["steps"][0]["success"], true);
    assert_eq!(printed["steps"][1]["success"], false);
    sandbox
        .with_editors(&["install", "vscode", "--agent", "gemini"])
        .expect(0);
}

#[test]
fn an_editor_is_found_in_its_usual_place_and_nothing_in_the_current_folder() {
    let sandbox = Sandbox::new();
    let here = sandbox.home.workspace().join("code");
    symlink(sandbox.editor("code", "no-such-word"), here).unwrap();
    let mut command = sandbox.command(["install", "vscode"]);
    ran(command.env("PATH", ".::/usr/bin:/bin"), b"").expect_error(1, "VS Code was not found", OWN);
    assert!(sandbox.given("code").is_empty());
    let usual = sandbox.home.home().join(".local/share/code/bin");
    fs::create_dir_all(&usual).unwrap();
    symlink(sandbox.editor("code", "no-such-word"), usual.join("code")).unwrap();
    sandbox.run(["install", "vscode"]).expect(0);
    assert_eq!(sandbox.given("code").len(), 3);
}

#[test]
fn firebase_studio_is_where_its_variable_is() {
    let sandbox = Sandbox::new();
    let bin = sandbox.editor("code", "no-such-word");
    let path = format!("{}:/usr/bin:/bin", bin.parent().unwrap().display());
    let run = |name: &str, value: &str| {
        let mut command = sandbox.command(["install", "firebase-studio"]);
        ran(command.env("PATH", &path).env(name, value), b"")
    };
    run("X", "x").expect_error(1, "Firebase Studio was not found", OWN);
    run("MONOSPACE_ENV", "true").expect(0);
}

#[test]
fn an_extension_that_is_not_there_is_not_uninstalled() {
    let sandbox = Sandbox::new();
    sandbox.editor("code", "no-such-word");
    // Written as its maker does.
    fs::write(
        sandbox.extensions("code"),
        format!("x.y\n{}\n", QWEN.replace("qwenlm", "QwenLM")),
    )
    .unwrap();
    let note = "note: Gemini CLI's extension is not installed";
    let dry = ["uninstall", "vscode", "--official", "--dry-run"];
    let ran = sandbox.with_editors(&dry).expect(0);
    assert!(ran.stdout.contains(note), "{}", ran.stdout);
    assert!(sandbox.given("code").is_empty());
    let official = ["uninstall", "vscode", "--official"];
    let ran = sandbox.with_editors(&official).expect(0);
    assert!(ran.stdout.contains(note), "{}", ran.stdout);
    assert_eq!(sandbox.given("code"), ["--uninstall-extension", QWEN]);
    let ran = sandbox.with_editors(&official);
    ran.expect_error(1, "VS Code has no agent's extension installed", "--list");
}

#[test]
fn an_editor_that_reports_uninstalled_and_lists_it_has_failed() {
    let sandbox = Sandbox::new();
    sandbox.program("code", &format!("#!/bin/sh\necho '{GEMINI}'\n"));
    let ran = sandbox.with_editors(&["uninstall", "vscode", "--agent", "gemini"]);
    ran.expect_error(1, "still lists it afterwards", "again");
}

/// The list that VS Code's family writes about its extensions.
fn list_on_disk(folder: &Path, ids: &[&str]) {
    fs::create_dir_all(folder).unwrap();
    let entries = ids
        .iter()
        .map(|id| json!({ "identifier": { "id": id }, "version": "1.2.3" }));
    let text = Value::Array(entries.collect()).to_string();
    fs::write(folder.join("extensions.json"), text).unwrap();
}

#[test]
fn the_list_shows_what_is_installed_and_runs_nothing() {
    let sandbox = Sandbox::new();
    sandbox.program("code", "#!/bin/sh\necho ran >> \"$HOME/ran\"\n");
    let home = sandbox.home.home();
    let code = |sandbox: &Sandbox| {
        let shown = sandbox.with_editors(&["install", "--list", "--json"]);
        let shown: Vec<Value> = serde_json::from_str(&shown.expect(0).stdout).unwrap();
        let code = shown.into_iter().find(|it| it["name"] == "vscode");
        code.unwrap()
    };
    list_on_disk(&home.join(".vscode/extensions"), &["x.y", QWEN]);
    let shown = code(&sandbox);
    assert_eq!(shown["installed"], json!(["Qwen Code's extension 1.2.3"]));
    assert_eq!(shown["missing"], json!(["Pillion's extension"]));
    let table = sandbox
        .with_editors(&["install", "--list"])
        .expect(0)
        .stdout;
    let line = table.lines().find(|line| line.starts_with("vscode "));
    let state = "Qwen Code's extension 1.2.3, no Pillion's extension";
    assert!(line.unwrap().ends_with(state), "{table}");
    assert!(shown["program"].as_str().unwrap().ends_with("/bin/code"));

    // In a terminal of a window that is elsewhere, `code` is its server's.
    let bin = installation(&sandbox, "server", "bin/remote-cli", "code");
    symlink(bin, sandbox.home.other_workspace("bin").join("code")).unwrap();
    list_on_disk(&home.join(".code-server/extensions"), &[GEMINI, OWN]);
    let shown = code(&sandbox);
    let installed = json!(["Pillion's extension 1.2.3", "Gemini CLI's extension 1.2.3"]);
    assert_eq!(shown["installed"], installed);
    assert_eq!(shown["missing"], json!([]));
    assert!(!home.join("ran").exists() && sandbox.given("code").is_empty());
}

/// An installation whose command lies in `bin`, and calls itself `name`. The command, `code`.
fn installation(sandbox: &Sandbox, folder: &str, bin: &str, name: &str) -> PathBuf {
    let root = sandbox.home.other_workspace(folder);
    let product = json!({
        "nameShort": "X",
        "applicationName": name,
        "dataFolderName": format!(".{name}"),
        "serverDataFolderName": format!(".{name}-server"),
    });
    let program = root.join(bin).join("code");
    fs::create_dir_all(root.join(bin)).unwrap();
    let made = sandbox.editor(name, "no-such-word");
    fs::rename(made, &program).unwrap();
    let place = if bin == "bin" {
        root.join("resources/app")
    } else {
        root
    };
    fs::create_dir_all(&place).unwrap();
    fs::write(place.join("product.json"), product.to_string()).unwrap();
    program
}

#[test]
fn a_command_that_another_editor_took_over_is_not_taken_for_vs_codes() {
    let sandbox = Sandbox::new();
    let cursors = installation(&sandbox, "cursor", "bin", "cursor");
    let first = sandbox.home.other_workspace("first");
    symlink(&cursors, first.join("code")).unwrap();
    let path = |folders: &[&Path]| {
        let folders = folders
            .iter()
            .copied()
            .chain([Path::new("/usr/bin"), Path::new("/bin")]);
        std::env::join_paths(folders).unwrap()
    };
    let install = |path: OsString| {
        let mut command = sandbox.command(["install", "vscode"]);
        ran(command.env("PATH", path), b"")
    };
    let error = format!(
        "VS Code was not found: {} is Cursor's",
        first.join("code").display()
    );
    install(path(&[&first])).expect_error(1, &error, "on PATH");
    assert!(sandbox.given("cursor").is_empty());

    // The next one on PATH is VS Code's.
    let own = installation(&sandbox, "vscode", "bin", "code");
    install(path(&[&first, own.parent().unwrap()])).expect(0);
    assert!(sandbox.given("cursor").is_empty());
    assert_eq!(sandbox.given("code").len(), 3);
}

#[test]
fn antigravitys_own_name_for_its_command_is_tried_and_a_path_is_not() {
    let sandbox = Sandbox::new();
    let program = sandbox.editor("my-agy", "no-such-word");
    let path = format!("{}:/usr/bin:/bin", program.parent().unwrap().display());
    let run = |alias: &str| {
        let mut command = sandbox.command(["install", "antigravity"]);
        ran(
            command
                .env("PATH", &path)
                .env("ANTIGRAVITY_CLI_ALIAS", alias),
            b"",
        )
    };
    run(program.to_str().unwrap()).expect_error(1, "Antigravity was not found", OWN);
    assert!(sandbox.given("my-agy").is_empty());
    run("my-agy").expect(0);
    assert_eq!(sandbox.given("my-agy").len(), 3);
}

#[test]
fn an_editor_that_reports_done_and_lists_nothing_has_failed() {
    let sandbox = Sandbox::new();
    let lies = "#!/bin/sh\necho Installing...\n\
                [ \"$1\" = --list-extensions ] || echo \"Failed Installing: x\" >&2\n";
    sandbox.program("code", lies);
    let ran = sandbox.with_editors(&["install", "vscode"]);
    let ran = ran.expect_error(
        1,
        "does not list it afterwards: Failed Installing: x",
        "again",
    );
    // Nothing else than that the program is not on PATH.
    let said: Vec<_> = ran.stdout.lines().collect();
    assert!(
        matches!(&said[..], [note] if note.starts_with("note: ")),
        "{said:?}"
    );
}

#[test]
fn an_editor_that_cannot_list_is_believed() {
    let sandbox = Sandbox::new();
    let old = "#!/bin/sh\n[ \"$1\" != --list-extensions ] && echo installed\n";
    sandbox.program("code", old);
    let ran = sandbox.with_editors(&["install", "vscode", "--agent", "gemini"]);
    let ran = ran.expect(0);
    assert!(
        ran.stdout
            .starts_with("Gemini CLI's extension: installed\n"),
        "{}",
        ran.stdout
    );
}
