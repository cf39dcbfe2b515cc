//! Names of files are taken as they are: neither a pattern nor a command.

use pillion_agent::Update;

use crate::world::World;

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
