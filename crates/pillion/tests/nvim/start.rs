//! The way from an opened file to an agent that is connected.

use pillion_testkit::NvimVersion;
use serde_json::json;

use crate::world::World;

each_neovim! {
    fn opening_a_file_starts_the_companion(version) {
        let world = World::open(version, &[("first.txt", "one\n")]);
        let mut gemini = world.gemini();
        let path = world.home.workspace().join("first.txt").display().to_string();
        let file = world.active(&mut gemini, |file| file.path == path);
        assert_eq!(file.cursor.map(|cursor| (cursor.line, cursor.character)), Some((1, 1)));
        assert_eq!(world.nvim.quit(), 0);
    }
}

/// Debian 12's LuaJIT compiles it wrongly, which fails one opening of a diff in hundreds.
#[test]
#[ignore = "needs Neovim: cargo xtask test"]
fn the_check_of_arguments_is_never_compiled_where_that_goes_wrong() {
    let world = World::open(NvimVersion::V0_7, &[("first.txt", "one\n")]);
    let started = r#"
        local started, util = 0, require("jit.util")
        local function note(what, _, run, at)
          local place = what == "start" and util.funcinfo(run, at) or {}
          if (place.source or ""):find("shared.lua", 1, true) then
            started = started + 1
          end
        end
        jit.attach(note, "trace")
        for _ = 1, 5000 do
          vim.validate({ a = { 1, "number" }, b = { "x", { "string", "boolean" } } })
        end
        jit.attach(note)
        return { jit.version, started }"#;
    let found: (String, u32) = world.nvim.lua(started, json!([]));
    assert_eq!(found, ("LuaJIT 2.1.0-beta3".to_owned(), 0));
}
