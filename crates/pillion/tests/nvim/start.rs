//! The way from an opened file to an agent that is connected.

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
