//! The changes that the real Claude Code has written without asking, looked at in Neovim.

use super::*;

const LINES: &str = "1\n2\n3\n4\n5\n6\n7\n8\n9\n10\n11\n12\n";

/// The file is open: its own buffer has the new text already, and is no text before.
#[test]
#[ignore = "in --all: needs the real agents, Claude Code and Neovim: cargo xtask test --all"]
fn what_was_written_without_asking_is_taken_back_in_neovim() {
    let (release, version) = (ClaudeRelease::Native, NvimVersion::V0_12);
    let scene = Scene::start(release, version, LINES, |_, tmux, home, model| {
        let own = [
            "--review",
            "asked",
            "claude",
            "--permission-mode",
            "bypassPermissions",
        ];
        let command = [&[PILLION, "run", "--require"][..], &own].concat();
        let settings = r#"{"skipDangerousModePermissionPrompt":true}"#;
        fs::create_dir_all(home.home().join(".claude")).unwrap();
        fs::write(home.home().join(".claude/settings.json"), settings).unwrap();
        let env = release.env(home.env(), model).with("IS_SANDBOX", "1");
        let size = Size::new(110, 45);
        let pane = tmux.spawn("agent", size, &env, &home.workspace(), &command);
        Claude::attach(release, pane)
    });
    let both = LINES
        .replace("2\n3", "two\n3")
        .replace("11\n12", "eleven\n12");
    scene.model.script([
        Turn::read_file(scene.path()),
        Turn::replace(scene.path(), "2\n3", "two\n3"),
        Turn::replace(scene.path(), "11\n12", "eleven\n12"),
        Turn::say("both are done"),
    ]);
    scene.claude.prompt("change it");
    scene.claude.wait_for("both are done");
    scene.claude.wait_ready();
    assert_eq!(scene.text(), both);
    scene.nvim.input(":PillionReview changes<CR>");
    scene.wait_view();
    let left = "vim.api.nvim_buf_get_lines(require('pillion.diff.pending').sorted()[1].left, 0, -1, false)";
    scene
        .nvim
        .wait_until("the text before", &format!("{left}[2] == '2'"));
    scene
        .nvim
        .input("gg:PillionNextHunk<CR>:PillionDropHunk<CR>");
    scene
        .nvim
        .wait_until("the old line", "vim.fn.getline(2) == '2'");
    scene.nvim.input(":w<CR>");
    scene.wait_no_view();
    let one = LINES.replace("11\n12", "eleven\n12");
    let started = std::time::Instant::now();
    while scene.text() != one && started.elapsed() < SOON {
        pillion_testkit::pause(started);
    }
    assert_eq!(scene.text(), one);
    scene.nvim.assert_no_errors();
}
