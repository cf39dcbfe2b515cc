//! The workspace roots: agents connect from the folders that Neovim works in (B23).

use pillion_protocol::Dialect;
use pillion_testkit::{Home, NvimSetup};
use serde_json::json;

use crate::world::{PILLION, World};

/// The roots that agents find, as the discovery file names them.
fn published(world: &World) -> Vec<String> {
    let files = pillion_testkit::discovery_files(&world.home, Dialect::GeminiCli);
    let file = pillion_testkit::discovery_file(&files[0]);
    file.workspace_path.split(':').map(str::to_owned).collect()
}

/// Waits until agents find exactly these folders.
fn wait_published(world: &World, wanted: &[&std::path::Path]) {
    let mut wanted: Vec<_> = wanted
        .iter()
        .map(|path| path.display().to_string())
        .collect();
    wanted.sort();
    let started = std::time::Instant::now();
    loop {
        let mut roots = published(world);
        roots.sort();
        if roots == wanted {
            return;
        }
        assert!(
            started.elapsed().as_secs() < 10,
            "{roots:?} and not {wanted:?}"
        );
        std::thread::sleep(std::time::Duration::from_millis(10));
    }
}

each_neovim! {
    fn the_roots_are_the_working_folders_of_all_windows(version) {
        let world = World::open(version, &[("a.txt", "a\n")]);
        let project = world.home.workspace();
        let [other, third, fourth] = ["other", "third", "fourth"].map(|name| world.home.other_workspace(name));
        wait_published(&world, &[&project]);
        world.nvim.command(&format!("tabnew | tcd {}", other.display()));
        wait_published(&world, &[&project, &other]);
        world.nvim.command(&format!("split | lcd {}", third.display()));
        wait_published(&world, &[&project, &other, &third]);
        world.nvim.command("close");
        wait_published(&world, &[&project, &other]);
        world.nvim.command("tabclose");
        wait_published(&world, &[&project]);
        world.nvim.command(&format!("cd {}", fourth.display()));
        wait_published(&world, &[&fourth]);
        world.nvim.assert_no_errors();
    }
}

each_neovim! {
    /// Agents compare real paths.
    fn a_root_is_a_real_path(version) {
        let home = Home::new();
        let link = home.root().join("link");
        std::os::unix::fs::symlink(home.workspace(), &link).expect("the home is ours");
        let world = World::with(version, home, &[("a.txt", "a\n")], |setup| setup.cwd(&link));
        wait_published(&world, &[&world.home.workspace()]);
    }
}

each_neovim! {
    fn the_option_roots_decides_if_it_is_set(version) {
        let home = Home::new();
        let other = home.other_workspace("other");
        let init = format!(
            "require('pillion').setup({{ roots = function() return {{ [[{}]], '/is/not/there' }} end }})",
            other.display()
        );
        let world = World::with(version, home, &[("a.txt", "a\n")], |setup| setup.init(&init));
        wait_published(&world, &[&other]);
        world.nvim.assert_no_errors();
    }
}

each_neovim! {
    fn a_second_neovim_in_the_same_folder_has_a_companion_of_its_own(version) {
        let world = World::open(version, &[("a.txt", "a\n")]);
        let file = world.home.file("b.txt", "b\n");
        let second = NvimSetup::new(version, &world.home).pillion(PILLION).arg(file).headless();
        second.wait_until("Pillion running", "require('pillion.client').state.port ~= nil");
        let port = "return require('pillion.client').state.port";
        let ports: [u16; 2] = [world.nvim.lua(port, json!([])), second.lua(port, json!([]))];
        assert_ne!(ports[0], ports[1]);
        for (port, name) in ports.into_iter().zip(["a.txt", "b.txt"]) {
            let files = pillion_testkit::discovery_files(&world.home, Dialect::GeminiCli);
            let file = files.iter().find(|path| pillion_testkit::discovery_file(path).port == port);
            let mut agent = pillion_testkit::TestAgent::connect(file.expect("it is published"));
            agent.context(|context| {
                context.active_file().is_some_and(|file| file.path.ends_with(name))
            });
        }
        assert_eq!(second.quit(), 0);
        assert_eq!(world.nvim.quit(), 0);
    }
}
