//! What agents are shown of a selection: exactly what is selected, and nothing when nothing is.

use pillion_protocol::File;
use pillion_testkit::TestAgent;
use serde::Deserialize;
use serde_json::{Value, json};

use crate::world::World;

/// Waits until exactly this is shown as selected.
fn selected(world: &World, agent: &mut TestAgent, wanted: Option<&str>) -> File {
    world.active(agent, |file| file.selected_text.as_deref() == wanted)
}

const TEXT: &str = "one two\n\n\tthree é😀中 end\nlast\n";

each_neovim! {
    /// B16: not whole lines, and not for ever.
    fn a_selection_is_shown_exactly_and_is_gone_with_it(version) {
        let world = World::open(version, &[("a.txt", TEXT)]);
        let mut gemini = world.gemini();
        for (keys, wanted) in [
            ("gg0wve", "two"),
            ("gg$vb", "two"),
            ("gg0wviw", "two"),
            // The cursor stays where it is, and only the other end moves.
            ("gg$viw", "two"),
            ("gg0v$", "one two"),
            ("gg0V", "one two"),
            ("gg0wvjj", "two\n\n\t"),
            ("gg0wVjo", "one two\n"),
            ("3G0wfév", "é"),
            ("3G0févll", "é😀中"),
            ("3G0f中vhh", "é😀中"),
            ("gg0<C-v>jjl", "one two\n\n\tt"),
            ("gg0l<C-v>Gl", "ne\n\n  \nas"),
            ("3G0f😀<C-v>$", "😀中 end"),
            ("gg0<C-v>G$", "one two\n\n\tthree é😀中 end\nlast"),
            ("gg0wgh<Right>", "tw"),
        ] {
            world.nvim.input(keys);
            selected(&world, &mut gemini, Some(wanted));
            world.nvim.input("<Esc>");
            selected(&world, &mut gemini, None);
        }
        world.nvim.input("gg0wve");
        selected(&world, &mut gemini, Some("two"));
        world.nvim.input("iw");
        world.nvim.command("normal! \u{1b}");
        world.nvim.input("viwy");
        selected(&world, &mut gemini, None);
        world.nvim.assert_no_errors();
    }
}

each_neovim! {
    fn the_option_selection_is_heeded(version) {
        let world = World::open(version, &[("a.txt", TEXT)]);
        let mut gemini = world.gemini();
        for (option, keys, wanted) in [
            ("exclusive", "gg0ve", "one"),
            ("exclusive", "gg0<C-v>G3l", "one\n\n   \nlas"),
            ("old", "gg0v$", "one two"),
            ("inclusive", "gg0ve", "one"),
        ] {
            world.nvim.command(&format!("set selection={option}"));
            world.nvim.input(keys);
            selected(&world, &mut gemini, Some(wanted));
            world.nvim.input("<Esc>");
            selected(&world, &mut gemini, None);
        }
    }
}

each_neovim! {
    /// The lines of the file are joined as they are in the file.
    fn a_selection_in_a_dos_file_has_its_line_endings(version) {
        let world = World::open(version, &[("a.txt", "one\r\ntwo\r\n")]);
        let mut gemini = world.gemini();
        world.nvim.input("gg0Vj");
        selected(&world, &mut gemini, Some("one\r\ntwo"));
    }
}

each_neovim! {
    fn a_closed_fold_is_selected_as_a_whole(version) {
        let world = World::open(version, &[("a.txt", "1\n2\n3\n4\n")]);
        let mut gemini = world.gemini();
        world.nvim.command("2,3fold");
        world.nvim.input("2GV");
        selected(&world, &mut gemini, Some("2\n3"));
    }
}

/// What reading a selection takes.
#[derive(Debug, Deserialize)]
struct Work {
    /// Calls of Neovim's functions.
    calls: usize,
    /// Of text that they gave.
    bytes: usize,
}

each_neovim! {
    /// B18. Agents get 16,384 units, and no more than that is read here.
    fn a_large_selection_is_cut_between_characters(version) {
        let lines = "0123456789é😀\n".repeat(100_000);
        let long = "😀".repeat(400_000);
        let world = World::open(version, &[("a.txt", &lines), ("b.txt", &long)]);
        let mut gemini = world.gemini();
        for keys in ["ggVG", "GVgg", "ggvG$", "gg<C-v>G$", ":next<CR>V", "v$", "<Esc>0<C-v>$"] {
            world.nvim.input(keys);
            let file = world.active(&mut gemini, |file| file.selected_text.is_some());
            let text = file.selected_text.expect("it was wanted");
            let units = text.encode_utf16().count();
            assert!((16_300..=16_400).contains(&units), "{units} units by {keys}");
            assert!(!text.contains('\u{fffd}'), "{keys}");
            let work: Work = world.nvim.lua(include_str!("selection_work.lua"), json!([]));
            // A block is put together line by line, of whole lines.
            let most = if keys.contains("<C-v>") {
                Work { calls: 300_000, bytes: 5_000_000 }
            } else {
                Work { calls: 100, bytes: 70_000 }
            };
            let is_little = work.calls < most.calls && work.bytes < most.bytes;
            assert!(is_little, "{work:?} to read it by {keys}");
            world.nvim.input("<Esc>");
            selected(&world, &mut gemini, None);
        }
    }
}

each_neovim! {
    /// Yanking is the judge: 600 selections of all kinds in lines of all kinds.
    fn what_is_shown_is_what_a_yank_takes(version) {
        let world = World::open(version, &[("a.txt", "a\n")]);
        let wrong: Vec<Value> = world.nvim.lua(include_str!("selection_oracle.lua"), json!([600]));
        assert!(wrong.is_empty(), "{wrong:#?}");
    }
}
