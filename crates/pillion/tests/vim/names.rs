//! Names of files are taken as they are: neither a pattern nor a command.

use pillion_agent::Update;

use crate::world::World;

each_vim! {
    fn names_are_taken_as_they_are(version) {
        let world = World::open(version, &[("a.txt", "one\n"), ("i.tsx", "i\n")]);
        let mut gemini = world.gemini();
        for name in [
            "[id].tsx", "%.txt", "#1 <sfile>", "a|call writefile([], 'hacked')|.vim", "`touch hacked`.sh",
            "$HOME.txt", "~", "sp ace'\"\\.rs", "-u", "new\nline.c", "\u{1b}]0;x\u{7}.py", "%{writefile([],'hacked')}.js",
            "*.c", "{a,b}.go", "ünï 👩‍👩‍👧‍👦.txt", "tab\t.txt", "+q!.txt", "'><CR>:q.txt",
        ] {
            let path = world.home.workspace().join(name);
            gemini.propose(&path, "new\n");
            world.vim.wait_until(name, "pillion#diff#IsReady()");
            world.vim.input(":w<CR>");
            assert_eq!(gemini.outcome(), Update::accepted(path.display().to_string(), "new\n"), "{name:?}");
            std::fs::write(&path, "old\n").unwrap();
            gemini.propose(&path, "newer\n");
            assert_eq!(gemini.close(&path).unwrap(), "newer\n", "{name:?}");
            let left: String = world.vim.get("execute('ls')");
            assert!(!left.contains("hacked"), "{left}");
        }
        for folder in [world.home.workspace(), world.home.home()] {
            assert!(!folder.join("hacked").exists());
        }
        world.vim.assert_no_errors();
    }
}

each_vim! {
    fn the_buffer_of_a_file_is_found_by_its_links(version) {
        let world = World::open(version, &[("a.txt", "one\n"), ("[a].txt", "other\n")]);
        std::os::unix::fs::symlink(world.home.workspace().join("a.txt"), world.home.workspace().join("link.txt")).unwrap();
        world.vim.input(":edit link.txt<CR>Gounsaved<Esc>");
        world.vim.wait_until("an edit", "&modified && mode() == 'n'");
        let mut gemini = world.gemini();
        let path = world.home.workspace().join("a.txt");
        gemini.propose(&path, "two\n");
        world.vim.wait_until("a view", "bufname() =~ '^pillion://'");
        let shown: Vec<String> = world.vim.get("getbufline(winbufnr(1), 1, '$')");
        assert_eq!(shown, ["one", "unsaved"]);
        world.vim.input(":q<CR>");
        assert!(matches!(gemini.outcome(), Update::DiffRejected { .. }));
    }
}
