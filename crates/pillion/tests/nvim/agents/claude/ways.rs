//! Ways in which the real Claude Code works beside Neovim: connected by its own command, in permission modes
//! other than the default, and with a model that asks for problems itself.

use pillion_testkit::{ClaudeRelease, NvimVersion, each_claude_in_neovim};

use super::*;

/// The rule that brings diffs back in modes that show none.
const ASK: &str = r#"{"permissions":{"ask":["Edit","Write"]}}"#;

/// In a terminal that the person opened, which names no companion.
#[each_claude_in_neovim(all)]
fn in_a_terminal_inside_it_connects_when_asked_and_shows_diffs_by_an_ask_rule(
    release: ClaudeRelease,
    version: NvimVersion,
) {
    let scene = Scene::start(release, version, BEFORE, |nvim, _, home, _| {
        let settings = home.file("settings.json", ASK);
        let settings = settings.display();
        // "auto" is the mode that the newer one starts in.
        let mode = match release {
            ClaudeRelease::Native => "auto",
            ClaudeRelease::Node => "acceptEdits",
        };
        nvim.command("botright vertical 100split");
        nvim.command(&format!(
            "terminal claude --permission-mode {mode} --settings {settings}"
        ));
        nvim.input("i");
        let claude = Claude::attach(release, nvim.pane());
        claude.connect_by_command();
        claude
    });
    let new = scene.home.workspace().join("new.txt");
    scene.propose([Turn::write_file(&new, "eins\nzwei\n")], "new.txt is done");
    scene.nvim.input("<C-\\><C-n>:PillionDiffs<CR>");
    scene.wait_view();
    scene.nvim.input(":w<CR>");
    scene.claude.wait_for("new.txt is done");
    scene.wait_no_view();
    assert_eq!(fs::read_to_string(&new).unwrap(), "eins\nzwei\n");
    scene.nvim.assert_no_errors();
}

#[each_claude_in_neovim(all)]
fn in_another_pane_it_connects_when_asked_and_shows_diffs_in_plan_mode(
    release: ClaudeRelease,
    version: NvimVersion,
) {
    let scene = Scene::start(release, version, BEFORE, |_, tmux, home, model| {
        let how = ClaudeStart {
            name: "planning",
            mode: "plan",
            ..ClaudeStart::default()
        };
        let folder = home.workspace();
        let claude = Claude::start_with(release, tmux, home, model, &folder, &how);
        claude.connect_by_command();
        claude
    });
    scene.accept_new();
    scene.nvim.assert_no_errors();
}

/// The person is asked first.
#[each_claude_in_neovim(all)]
fn its_model_can_ask_for_the_problems_of_a_file_itself(
    release: ClaudeRelease,
    version: NvimVersion,
) {
    const TOOL: &str = "mcp__ide__getDiagnostics";
    let scene = Scene::found(release, version, "asking");
    scene.nvim.lua::<()>(
        "vim.diagnostic.set(vim.api.nvim_create_namespace('linter'), vim.fn.bufnr('poem.txt'), {
               { lnum = 1, col = 0, end_lnum = 1, end_col = 3, severity = 1, source = 'linter', message = 'no such number' } })",
        json!([]),
    );
    // The newer release offers it only after a search.
    let input = json!({ "query": format!("select:{TOOL}"), "max_results": 1 });
    let search = Turn::CallTool {
        name: "ToolSearch",
        input,
    };
    let search = (release == ClaudeRelease::Native).then_some(search);
    let input = json!({ "uri": format!("file://{}", scene.path().display()) });
    let call = Turn::CallTool { name: TOOL, input };
    scene.model.script(search);
    scene
        .model
        .script([call, Turn::say("I know what is wrong")]);
    scene.claude.prompt("what is wrong");
    scene.claude.allow();
    scene.claude.wait_for("I know what is wrong");
    let told = scene.model.last_main().expect("it was asked");
    assert_sent(&told, "no such number");
    scene.nvim.assert_no_errors();
}
