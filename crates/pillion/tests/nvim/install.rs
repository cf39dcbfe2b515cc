//! What the plugin's README says about installing it.

use std::path::Path;
use std::process::Command;

use pillion_testkit::Home;
use serde_json::json;

use crate::world::setup;

const REPOSITORY: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../..");

fn block(heading: &str) -> String {
    let path = Path::new(REPOSITORY).join("editors/nvim/README.md");
    let readme = std::fs::read_to_string(path).unwrap();
    let (_, rest) = readme.split_once(heading).unwrap();
    let code = rest.split("```").nth(1).unwrap();
    code.split_once('\n').unwrap().1.to_owned()
}

each_neovim! {
    fn it_is_installed_by_hand_as_the_readme_says(version) {
        let home = Home::new();
        std::fs::create_dir(home.home().join("src")).unwrap();
        std::os::unix::fs::symlink(REPOSITORY, home.home().join("src/pillion")).unwrap();
        let ran = Command::new("sh")
            .args(["-e", "-c", &block("**By hand**")])
            .env_clear()
            .envs(home.env().iter())
            .status();
        assert!(ran.unwrap().success());
        let file = home.file("first.txt", "one\n");
        let nothing = home.other_workspace("nothing");
        let nvim = setup(version, &home).plugin(nothing).arg(file).headless();
        nvim.wait_until(
            "Pillion running",
            "package.loaded['pillion.client'] and require('pillion.client').is_running()",
        );
    }
}

each_neovim! {
    fn the_options_of_the_readme_are_options(version) {
        let home = Home::new();
        let nvim = setup(version, &home).headless();
        for heading in ["No keys are taken", "Qwen Code approves"] {
            nvim.lua::<()>(&block(heading), json!([]));
        }
        assert_eq!(nvim.messages(), "");
        let command: Vec<String> =
            nvim.lua("return require('pillion.config').get().agents.qwen", json!([]));
        assert_eq!(command, ["qwen", "--approval-mode", "default"]);
    }
}
