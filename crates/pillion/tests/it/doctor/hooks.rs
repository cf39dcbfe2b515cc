//! Pillion's hooks, installed and broken for real: what the doctor says, and that its advice helps.

use std::fs;
use std::os::unix::fs::symlink;

use serde_json::json;

use super::world::{CLAUDE, World};

/// Claude Code in its own default mode, which makes changes without asking.
fn world() -> World {
    let world = World::new();
    world.install(CLAUDE, "2.1.332");
    let home = world.home().home();
    fs::create_dir_all(home.join(".claude/ide")).unwrap();
    let menus = json!({"autoConnectIde": true}).to_string();
    fs::write(home.join(".claude.json"), menus).unwrap();
    symlink(env!("CARGO_BIN_EXE_pillion"), world.bin().join("pillion")).unwrap();
    world
}

#[test]
fn hooks_are_installed_by_the_doctors_advice_and_repaired_by_it() {
    let world = world();
    let _serve = world.serve();
    let settings = world.home().home().join(".claude/settings.json");
    let told = world.doctor(CLAUDE);
    let fix = told.expect("hook-missing", "note", "are not in ");
    assert_eq!(fix, "pillion hook install claude");
    let told = world.after(&format!("{fix} >/dev/null"), CLAUDE);
    told.expect_connects("hook-missing");
    told.expect_gone("changes-without-asking");
    told.expect("hooks-installed", "note", "and Claude Code runs them");
    let installed = fs::read_to_string(&settings).unwrap();
    // The one on PATH, which an update leaves where it is.
    let program = world.bin().join("pillion");
    assert!(
        installed.contains(&format!("{} hook claude", program.display())),
        "{installed}"
    );

    for (from, to, id) in [
        ("86400", "30", "hook-outdated"),
        ("Edit|Write|NotebookEdit", "Write", "hook-outdated"),
        ("/bin/pillion", "/gone/pillion", "hook-program-missing"),
    ] {
        assert!(installed.contains(from), "{installed}");
        fs::write(&settings, installed.replace(from, to)).unwrap();
        let fix = world.doctor(CLAUDE).expect(id, "warning", "");
        let told = world.after(&format!("{fix} >/dev/null"), CLAUDE);
        told.expect_connects(id);
        assert_eq!(fs::read_to_string(&settings).unwrap(), installed);
    }
    fs::write(
        &settings,
        installed.replacen('{', "{\"disableAllHooks\": true,", 1),
    )
    .unwrap();
    world
        .doctor(CLAUDE)
        .expect("hooks-disabled", "warning", ".claude/settings.json");
    fs::write(&settings, installed.replacen('{', "{ // mine", 1)).unwrap();
    let told = world.doctor(CLAUDE);
    let why = "it has a comment (line 1, column 3), and Claude Code skips a file with comments";
    told.expect("settings-broken", "warning", why);
    told.expect_gone("hooks-installed");
    // A folder's own hook is run beside it.
    fs::write(&settings, &installed).unwrap();
    let folder = world.home().workspace().join(".claude");
    fs::create_dir_all(&folder).unwrap();
    let other = json!({"hooks": {"PreToolUse": [{"matcher": "Write", "hooks": [{"type": "command", "command": "fmt\u{1b}"}]}]}});
    fs::write(folder.join("settings.json"), other.to_string()).unwrap();
    let told = world.doctor(CLAUDE);
    let named = format!(
        "other hooks in {}/settings.json: PreToolUse",
        folder.display()
    );
    assert!(told.text.contains(&named), "{}", told.text);
    assert!(!told.text.contains('\u{1b}'), "{}", told.text);
}
