//! Names that Neovim may take for a pattern or a command open the right file beside the proposal, and run nothing.

use pillion_testkit::client::Update;
use pillion_testkit::{NvimVersion, each_neovim};
use serde_json::{Value, json};

use crate::world::World;

/// Each of a kind that would find another file, or run something.
const NAMES: [&str; 6] = [
    "[id].tsx",
    "a%b#c|d.txt",
    "new\nline.txt",
    "`touch PWNED`",
    "~",
    "{a,b}.txt",
];

/// What a rule of all editors says of the proposal (`names_are_taken_as_they_are`), here of the original beside it.
#[each_neovim]
fn the_original_of_whatever_name_is_that_file(version: NvimVersion) {
    let world = World::open(version, &[("i.tsx", "not this\n"), ("a.txt", "nor this\n")]);
    let mut gemini = world.gemini();
    // Every other file is open.
    for (name, is_open) in NAMES.into_iter().zip([false, true].into_iter().cycle()) {
        let path = world.home.file(name, "the file\n");
        let path = path.to_str().unwrap();
        if is_open {
            world
                .nvim
                .lua::<Value>("vim.fn.bufload(vim.fn.bufadd(...))", json!([path]));
        }
        gemini.propose(path, "proposed\n");
        world.look();
        let shown: Value = world.nvim.lua(
            "vim.cmd('redraw!')
                 local left = vim.api.nvim_win_get_buf(vim.fn.win_getid(1))
                 return { vim.api.nvim_buf_get_name(0):match('^pillion://%d+/(.*)$') == vim.fn.fnamemodify(..., ':t'),
                   vim.api.nvim_buf_get_name(left) == ...,
                   vim.api.nvim_buf_get_lines(left, 0, -1, false)[1] }",
            json!([path]),
        );
        assert_eq!(shown, json!([true, is_open, "the file"]), "{name:?}");
        world.nvim.input(":w<CR>");
        let expected = Update::accepted(path.to_owned(), "proposed\n");
        assert_eq!(gemini.outcome(), expected);
    }
    assert!(!world.home.workspace().join("PWNED").exists());
}

#[each_neovim]
fn a_file_is_found_by_its_links_and_not_by_what_looks_like_it(version: NvimVersion) {
    let world = World::open(version, &[("i.tsx", "one\n")]);
    let folder = world.home.workspace();
    std::os::unix::fs::symlink(folder.join("i.tsx"), folder.join("link.tsx")).unwrap();
    std::os::unix::fs::symlink(&folder, folder.join("below")).unwrap();
    let found: Value = world.nvim.lua(
        "local folder = ...
             return vim.tbl_map(function(name)
               return require('pillion.buffers').find(folder .. name) or 0
             end, { '/i.tsx', '/link.tsx', '/below/i.tsx', '/[i].tsx', '/i.ts', '/not/i.tsx' })",
        json!([folder]),
    );
    assert_eq!(found, json!([1, 1, 1, 0, 0, 0]));
}
