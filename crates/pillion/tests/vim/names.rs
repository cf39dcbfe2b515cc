//! Names of files are taken as they are: neither a pattern nor a command.

use pillion_testkit::client::Update;
use pillion_testkit::{VimVersion, each_vim};

use crate::world::World;

#[each_vim]
fn the_buffer_of_a_file_is_found_by_its_links(version: VimVersion) {
    let world = World::open(version, &[("a.txt", "one\n"), ("[a].txt", "other\n")]);
    std::os::unix::fs::symlink(
        world.home.workspace().join("a.txt"),
        world.home.workspace().join("link.txt"),
    )
    .unwrap();
    world.vim.input(":edit link.txt<CR>Gounsaved<Esc>");
    world
        .vim
        .wait_until("an edit", "&modified && mode() == 'n'");
    let mut gemini = world.gemini();
    let path = world.home.workspace().join("a.txt");
    gemini.propose(&path, "two\n");
    world.vim.wait_until("a view", "bufname() =~ '^pillion://'");
    let shown: Vec<String> = world.vim.get("getbufline(winbufnr(1), 1, '$')");
    assert_eq!(shown, ["one", "unsaved"]);
    world.vim.input(":q<CR>");
    assert!(matches!(gemini.outcome(), Update::DiffRejected { .. }));
}

/// In the tab page, in lists of buffers and in the title: the file's name as people know it, and the number.
#[each_vim]
fn a_view_is_named_after_its_file(version: VimVersion) {
    let world = World::open(version, &[("a.txt", "one\n")]);
    let mut gemini = world.gemini();
    let folder = world.home.workspace().join("deep/down/below");
    std::fs::create_dir_all(&folder).unwrap();
    for (at, name) in ["a.txt", "my [new] file.rs", "häß $(1) %.txt"]
        .iter()
        .enumerate()
    {
        let id = at + 1;
        gemini.propose(folder.join(name), "two\n");
        world
            .vim
            .wait_until("a view", &format!("bufname() == 'pillion://{id}/{name}'"));
        world
            .vim
            .pane()
            .wait_for(&format!("p//{id}/{name}"), pillion_testkit::SOON);
        let list: String = world.vim.get("execute('ls!')");
        assert!(
            list.contains(&format!("\"pillion://{id}/{name}\"")),
            "{list}"
        );
        assert!(
            list.contains(&format!("\"pillion-original://{id}/{name} (new file)\"")),
            "{list}"
        );
        assert!(!list.contains("deep"), "{list}");
        // What is typed for the one before closes nothing.
        world.vim.wait_until("a look", &crate::review::looked_at());
        world.vim.input(":q<CR>");
        assert!(matches!(gemini.outcome(), Update::DiffRejected { .. }));
        world.vim.wait_until("no view left", "bufname() == 'a.txt'");
    }
    world.vim.assert_no_errors();
}
