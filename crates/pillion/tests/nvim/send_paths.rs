//! `:PillionSend PATH…`, ranges, and what is completed.

use pillion_testkit::{NvimVersion, each_neovim};
use serde_json::json;

use crate::send::{back_to_the_file, pasted, with_gemini};
use crate::standin::StandIn;
use crate::terminal;
use crate::world::World;

/// Sends it, and waits until exactly this arrived.
fn sends(world: &World, gemini: &StandIn, command: &str, bytes: &str) {
    let before = gemini.typed("").len();
    world
        .nvim
        .input(&format!(":{}<CR>", command.replace('<', "<lt>")));
    assert_eq!(gemini.typed_after(before, bytes), bytes, "{command}");
    world
        .nvim
        .wait_until("typing on", "vim.api.nvim_get_mode().mode == 't'");
    back_to_the_file(world);
}

fn completed(world: &World, command: &str) -> Vec<String> {
    let code = "return vim.fn.getcompletion((...), 'cmdline')";
    world.nvim.lua(code, json!([command]))
}

/// Names that people give files, and those that others give them.
const STRANGE: [&str; 12] = [
    "with space.txt",
    "%",
    "#1",
    "a'b\"c.txt",
    "pipe|bar.txt",
    "back\\slash\\ n.txt",
    "[id] (1).tsx",
    "$(touch ran);.txt",
    "~",
    "größe <cr>.md",
    "gemini",
    "-flag=x:3",
];

#[each_neovim]
fn files_and_folders_are_mentioned_with_their_lines(version: NvimVersion) {
    let (world, _agents, gemini) = with_gemini(version);
    world.home.file("src/main.rs", "1\n2\n3\n4\n");
    let far = world.home.other_workspace("elsewhere").join("far.txt");
    std::fs::write(&far, "").unwrap();
    for (command, bytes) in [
        ("PillionSend src/main.rs", "@src/main.rs "),
        (
            "PillionSend gemini src/main.rs:3 first.txt:1-2",
            "@src/main.rs line 3 @first.txt lines 1-2 ",
        ),
        ("Pillion send src ./src/../first.txt", "@src/ @first.txt "),
        ("PillionSend %", "@first.txt "),
        ("PillionSend %:2", "@first.txt line 2 "),
        (
            &format!("PillionSend {}", far.display()),
            &format!("@{} ", far.display()),
        ),
    ] {
        sends(&world, &gemini, command, bytes);
    }
    for (command, message) in [
        ("PillionSend no/such.rs", "there is no file no/such.rs"),
        (
            "PillionSend src/main.rs:9-3",
            "src/main.rs:9-3: lines count from 1",
        ),
        (
            "1,2PillionSend src/main.rs",
            "a range refers to this buffer, not to a path. Hint: :PillionSend PATH:3-7",
        ),
    ] {
        terminal::is_refused(&world, command, message);
    }
    world.nvim.assert_no_errors();
}

#[each_neovim]
fn lines_and_selections_say_where_they_are_from(version: NvimVersion) {
    let (world, _agents, gemini) = with_gemini(version);
    sends(
        &world,
        &gemini,
        "2,3PillionSend",
        &format!("@first.txt lines 2-3 {}", pasted("two\nthree\n")),
    );
    world.nvim.input("gg0lvl");
    sends(
        &world,
        &gemini,
        "PillionSend",
        &format!("@first.txt line 1 {}", pasted("ne")),
    );
    // The agent would read what the file was.
    world.nvim.input("ggx");
    sends(
        &world,
        &gemini,
        "1PillionSend",
        &format!("first.txt line 1 {}", pasted("e\n")),
    );
    world.nvim.command("enew! | call setline(1, 'scratch')");
    sends(&world, &gemini, "1PillionSend", &pasted("scratch\n"));
    world.nvim.assert_no_errors();
}

/// The completed path is the one that was meant, whatever the name.
fn strange_names_survive(version: NvimVersion) {
    let (world, _agents, gemini) = with_gemini(version);
    let folder = world.home.workspace().join("strange");
    std::fs::create_dir(&folder).unwrap();
    for name in STRANGE {
        std::fs::write(folder.join(name), "").unwrap();
    }
    std::fs::write(folder.join("new\nline"), "").unwrap();
    let words = completed(&world, "PillionSend strange/");
    assert_eq!(words.len(), STRANGE.len(), "{words:?}");
    world
        .nvim
        .command(&format!("lcd {} | edit! ../first.txt", folder.display()));
    let mut mentioned = Vec::new();
    for word in completed(&world, "PillionSend gemini ") {
        let before = gemini.typed("").len();
        let command = format!("PillionSend gemini {word}");
        world
            .nvim
            .input(&format!(":{}<CR>", command.replace('<', "<lt>")));
        world
            .nvim
            .wait_until("typing on", "vim.api.nvim_get_mode().mode == 't'");
        mentioned.push(gemini.typed_after(before, " "));
        back_to_the_file(&world);
    }
    let special = |char: char| !char.is_alphanumeric() && !"/.-_=%:\u{f6}".contains(char);
    let mut wanted: Vec<String> = STRANGE
        .iter()
        .map(|name| {
            let escaped: String = name
                .chars()
                .flat_map(|char| special(char).then_some('\\').into_iter().chain([char]))
                .collect();
            format!("@strange/{escaped} ")
        })
        .collect();
    mentioned.sort();
    wanted.sort();
    assert_eq!(mentioned, wanted);
    assert!(!folder.join("ran").exists());
    world.nvim.assert_no_errors();
}

#[each_neovim]
fn hostile_names_survive_completion_and_sending(version: NvimVersion) {
    strange_names_survive(version);
}

#[each_neovim]
fn agents_come_first_and_hidden_files_only_when_asked_for(version: NvimVersion) {
    let (world, _agents, _gemini) = with_gemini(version);
    world.home.file(".hidden", "");
    world.home.file("src/main.rs", "");
    let agents_and_files = [
        "claude",
        "codex",
        "copilot",
        "gemini",
        "kimi",
        "opencode",
        "qwen",
        "vibe",
        "first.txt",
        "src/",
    ];
    assert_eq!(completed(&world, "PillionSend "), agents_and_files);
    assert_eq!(completed(&world, "Pillion send "), agents_and_files);
    assert_eq!(completed(&world, "PillionSend qwen s"), ["src/"]);
    assert_eq!(completed(&world, "PillionSend ."), [".hidden"]);
    assert_eq!(
        completed(&world, "PillionSend first.txt src/m"),
        ["src/main.rs"]
    );
    assert_eq!(completed(&world, "PillionSend no/such/"), [""; 0]);
    assert_eq!(completed(&world, "Pillion fo"), ["focus"]);
    assert_eq!(completed(&world, "PillionAccept "), [""; 0]);
    world.nvim.assert_no_errors();
}
