//! What it costs when nothing happens.

use std::fs;
use std::time::Duration;

use pillion_testkit::Home;
use serde_json::json;

use crate::world::World;

/// Counts in `looks` how often a file is looked at from now on.
const COUNT: &str = "looks = 0
    local check = require('pillion.reload.check')
    local look = check.look
    check.look = function(...)
      looks = looks + 1
      return look(...)
    end";

each_neovim! {
    fn nothing_is_looked_at_while_nothing_happens(version) {
        let world = World::with(version, Home::new(), &[("first.txt", "one\n"), ("second.txt", "two\n")], |setup| {
            setup.init("vim.o.updatetime = 10")
        });
        let _agent = world.gemini();
        world.nvim.command("split second.txt | call setline(1, 'mine')");
        // What was begun comes to its end.
        std::thread::sleep(Duration::from_millis(1500));
        world.nvim.lua::<()>(COUNT, json!([]));
        std::thread::sleep(Duration::from_secs(3));
        let looks: u32 = world.nvim.lua("return looks", json!([]));
        assert_eq!(looks, 0);
        fs::write(world.home.workspace().join("first.txt"), "new\n").unwrap();
        world.nvim.wait_until("the new text", "vim.fn.getbufline('first.txt', 1)[1] == 'new'");
    }
}

each_neovim! {
    /// Under another name, and where there was none.
    fn the_system_tells_of_every_way_to_write(version) {
        let world = World::open(version, &[("folder/first.txt", "one\n")]);
        let _agent = world.gemini();
        let folder = world.home.workspace().join("folder");
        let path = folder.join("first.txt");
        let wait = |text: &str| {
            world.nvim.wait_until(text, &format!("vim.fn.getline(1) == '{text}'"));
        };
        fs::write(folder.join("other"), "renamed\n").unwrap();
        fs::rename(folder.join("other"), &path).unwrap();
        wait("renamed");
        fs::write(&path, "in place\n").unwrap();
        wait("in place");
        fs::remove_file(&path).unwrap();
        fs::write(&path, "made anew\n").unwrap();
        wait("made anew");
        // The folder itself is another one.
        fs::rename(&folder, folder.with_extension("old")).unwrap();
        fs::create_dir(&folder).unwrap();
        fs::write(&path, "in a new folder\n").unwrap();
        wait("in a new folder");
        fs::write(&path, "there, too\n").unwrap();
        wait("there, too");
        world.nvim.assert_no_errors();
    }
}

each_neovim! {
    fn where_the_system_tells_nothing_files_are_looked_at(version) {
        let world = World::with(version, Home::new(), &[("first.txt", "one\n")], |setup| {
            setup.init("vim.uv.new_fs_event = function() end")
        });
        let _agent = world.gemini();
        fs::write(world.home.workspace().join("first.txt"), "new\n").unwrap();
        world.nvim.wait_until("the new text", "vim.fn.getline(1) == 'new'");
    }
}
