//! `:PillionSend` and `:PillionAdd` where an agent knows mentions, and where none does.

use pillion_testkit::{NvimVersion, each_neovim};
use serde_json::{Value, json};

use crate::send::{back_to_the_file, pasted};
use crate::standin::{StandIn, StandIns};
use crate::terminal;
use crate::world::World;

/// Agents as Pillion would tell of them, and answers as it would give them: `claude`, `none`, an `error`
/// as of an older program, or no answer at all (`silent`). Each question goes to `_G.asked`.
const PRETEND: &str = "local names, answers = ...
    local client = require('pillion.client')
    local pretended = {
      mentions = vim.tbl_filter(function(name) return name ~= 'gemini' end, names),
      agents = vim.tbl_map(function(name) return { name = name, displayName = name } end, names),
    }
    -- A status that comes later changes nothing.
    local told = client.state
    client.state = setmetatable({}, {
      __index = function(_, key) return pretended[key] or told[key] end,
      __newindex = told,
    })
    _G.asked = {}
    local request = client.request
    client.request = function(method, params, callback)
      if method ~= 'pillion/mention' then
        return request(method, params, callback)
      end
      table.insert(_G.asked, { method, params.uri:gsub('.*/project/', ''), params.lines or vim.NIL })
      local answer = answers[#_G.asked] or answers[#answers]
      vim.schedule(function()
        if answer == 'error' then
          callback({ code = -32601, message = 'unknown method' })
        elseif answer == 'none' then
          callback(nil, { agent = nil })
        elseif answer ~= 'silent' then
          callback(nil, { agent = { name = answer, displayName = 'Claude Code' } })
        end
      end)
      return true
    end";

fn pretend(world: &World, agents: &[&str], answers: &[&str]) {
    world.nvim.lua::<()>(PRETEND, json!([agents, answers]));
}

/// Waits until exactly this was asked: the end of the URI, and the lines.
#[track_caller]
fn asks(world: &World, wanted: &[(&str, Value)]) {
    let wanted: Vec<_> = wanted
        .iter()
        .map(|(uri, lines)| json!(["pillion/mention", uri, lines]))
        .collect();
    let same = "return vim.deep_equal(vim.json.decode(vim.json.encode(_G.asked)), (...))
        or nil";
    let same = same.replace("or nil", "and 1 or 0");
    let begun = std::time::Instant::now();
    while world.nvim.lua::<u8>(&same, json!([wanted])) == 0 {
        let asked: Value = world.nvim.lua("return _G.asked", json!([]));
        assert!(
            begun.elapsed() < pillion_testkit::SOON,
            "{asked}, not {wanted:?}"
        );
        std::thread::sleep(std::time::Duration::from_millis(10));
    }
}

fn lines(first: u32, last: u32) -> Value {
    json!({"first": first, "last": last})
}

/// A file open, and Claude Code's stand-in in a terminal beside it. The focus is on the file.
fn with_claude(version: NvimVersion) -> (World, StandIns, StandIn) {
    let (world, agents) = terminal::world(version, |setup| setup);
    world.nvim.command("Pillion run claude");
    let claude = agents.one("claude");
    back_to_the_file(&world);
    (world, agents, claude)
}

fn wait_typing(world: &World) {
    let typing = "vim.b.pillion_agent == 'claude' and vim.api.nvim_get_mode().mode == 't'";
    world
        .nvim
        .wait_until("typing in the agent's terminal", typing);
}

#[each_neovim]
fn what_is_sent_is_mentioned_where_an_agent_knows_mentions(version: NvimVersion) {
    let (world, _agents, claude) = with_claude(version);
    world.home.file("src/a b.rs", "1\n2\n3\n");
    for (keys, asked) in [
        (":PillionSend<CR>", vec![("first.txt", Value::Null)]),
        (":2,3PillionSend<CR>", vec![("first.txt", lines(1, 2))]),
        ("gg0lvj:PillionSend<CR>", vec![("first.txt", lines(0, 1))]),
        (
            "ggV:PillionSend claude<CR>",
            vec![("first.txt", lines(0, 0))],
        ),
        (
            ":PillionSend src/a\\ b.rs:2-3 first.txt<CR>",
            vec![("src/a%20b.rs", lines(1, 2)), ("first.txt", Value::Null)],
        ),
        (":PillionSend src<CR>", vec![("src/", Value::Null)]),
        (
            ":PillionAdd src/a\\ b.rs 2 3<CR>",
            vec![("src/a%20b.rs", lines(1, 2))],
        ),
        (
            ":PillionAdd ./src/../first.txt 2<CR>",
            vec![("first.txt", lines(1, 1))],
        ),
        (":Pillion add %<CR>", vec![("first.txt", Value::Null)]),
    ] {
        pretend(&world, &["gemini", "claude"], &["claude"]);
        world.nvim.input(keys);
        asks(&world, &asked);
        wait_typing(&world);
        back_to_the_file(&world);
    }
    assert_eq!(claude.typed(""), "", "nothing was pasted");
    world.nvim.assert_no_errors();
}

#[each_neovim]
fn what_cannot_be_mentioned_is_pasted(version: NvimVersion) {
    let (world, agents, claude) = with_claude(version);
    world.home.file("src/a b.rs", "1\n2\n3\n");
    let spaced = world.home.workspace().join("src/a b.rs");
    let spaced = spaced.to_str().unwrap();
    let two = format!("@\"{spaced}#L2-3\" @first.txt#L1 ");
    let before = claude.typed("").len();
    for (agents, answers, command, bytes) in [
        // An older program, one that takes no answer, and one whose agent went away.
        (vec!["claude"], vec!["error"], "PillionSend", "@first.txt "),
        (vec!["claude"], vec!["silent"], "PillionSend", "@first.txt "),
        (
            vec!["claude"],
            vec!["none"],
            "PillionSend src/a\\ b.rs:2-3 first.txt:1",
            two.as_str(),
        ),
        // It runs, and is not connected.
        (
            vec!["gemini"],
            vec!["claude"],
            "PillionAdd first.txt 2",
            "@first.txt#L2 ",
        ),
        // Nobody knows which of them is in the terminal.
        (
            vec!["claude", "claude"],
            vec!["claude"],
            "PillionSend",
            "@first.txt ",
        ),
        (
            vec!["opencode", "claude"],
            vec!["claude"],
            "PillionSend",
            "@first.txt ",
        ),
    ] {
        pretend(&world, &agents, &answers);
        let before = claude.typed("").len().max(before);
        world.nvim.command(command);
        assert_eq!(
            claude.typed_after(before, bytes),
            bytes,
            "{command} {agents:?} {answers:?}"
        );
        wait_typing(&world);
        back_to_the_file(&world);
    }
    // Claude Code would read what is on disk.
    pretend(&world, &["claude"], &["claude"]);
    world.nvim.input("ggx:1PillionSend<CR>");
    claude.typed(&format!("first.txt line 1 {}", pasted("ne\n")));
    wait_typing(&world);
    back_to_the_file(&world);
    world.nvim.command("silent undo");
    // The other agent gets it as ever.
    world.nvim.command("Pillion run gemini");
    let gemini = agents.one("gemini");
    back_to_the_file(&world);
    world.nvim.command("PillionSend");
    gemini.typed("@first.txt ");
    asks(&world, &[]);
    world.nvim.assert_no_errors();
}

#[each_neovim]
fn an_agent_that_runs_elsewhere_is_pointed_to_a_file_too(version: NvimVersion) {
    let (world, _agents) = terminal::world(version, |setup| setup);
    pretend(&world, &["claude", "claude"], &["claude"]);
    terminal::is_refused(
        &world,
        "PillionSend",
        "Pillion: mentioned in the prompt of Claude Code",
    );
    asks(&world, &[("first.txt", Value::Null)]);
    terminal::is_refused(
        &world,
        "PillionSend claude",
        "mentioned in the prompt of Claude Code",
    );
    terminal::is_refused(
        &world,
        "PillionSend gemini",
        "gemini is not running in a terminal",
    );
    world.nvim.input("ggx");
    terminal::is_refused(
        &world,
        "1PillionSend",
        "the buffer has unsaved changes. Hint: :w first",
    );
    world.nvim.command("silent undo");
    pretend(&world, &["claude"], &["claude", "none"]);
    terminal::is_refused(
        &world,
        "PillionSend first.txt:1 first.txt:2",
        "only 1 of 2 files were mentioned. Hint: try again",
    );
    pretend(&world, &["claude"], &["none"]);
    let hint = "no agent is running in a terminal. Hint: :Pillion run";
    terminal::is_refused(&world, "PillionSend", hint);
    pretend(&world, &[], &["claude"]);
    terminal::is_refused(&world, "PillionSend", hint);
    asks(&world, &[]);
    world.nvim.assert_no_errors();
}

#[each_neovim]
fn what_is_wrong_with_a_path_or_a_line_is_said_with_a_hint(version: NvimVersion) {
    let (world, _agents) = terminal::world(version, |setup| setup);
    world.home.file("src/a.rs", "1\n");
    pretend(&world, &["claude"], &["claude"]);
    for (command, message) in [
        (
            "PillionAdd",
            "a path is missing. Hint: :PillionAdd PATH [FROM TO]",
        ),
        (
            "1,2PillionAdd first.txt",
            "a path cannot have a range. Hint: :PillionAdd PATH 3 7",
        ),
        (
            "PillionAdd nothing.txt",
            "there is no file nothing.txt. Hint: escape spaces",
        ),
        (
            "PillionAdd first.txt 0",
            "0 is not a line number. Hint: :PillionAdd first.txt 3 7",
        ),
        (
            "PillionAdd first.txt 1 x",
            "x is not a line number. Hint: :PillionAdd first.txt 3 7",
        ),
        ("PillionAdd first.txt -1", "-1 is not a line number."),
        (
            "PillionAdd first.txt 3 2",
            "line 3 comes after line 2. Hint: :PillionAdd first.txt 2 3",
        ),
        (
            "PillionAdd first.txt 1 2 3",
            "too many words. Hint: escape spaces in a name with a backslash",
        ),
        ("PillionAdd src 1", "src is a folder: it has no lines"),
    ] {
        terminal::is_refused(&world, command, message);
    }
    asks(&world, &[]);
    let home = format!("PillionAdd {}", "~");
    let completed = |command: &str| -> Vec<String> {
        world.nvim.lua(
            "return vim.fn.getcompletion((...), 'cmdline')",
            json!([command]),
        )
    };
    assert_eq!(completed("PillionAdd f"), ["first.txt"]);
    assert_eq!(completed("PillionAdd src/"), ["src/a.rs"]);
    assert_eq!(completed("PillionAdd first.txt f"), Vec::<String>::new());
    std::fs::write(world.home.home().join("at home.txt"), "").unwrap();
    world.nvim.command(&format!("{home}/at\\ home.txt"));
    world.nvim.wait_until(
        "the file at home asked for",
        "#_G.asked == 1 and _G.asked[1][2]:find('at%%20home.txt$') ~= nil",
    );
    world.nvim.assert_no_errors();
}
