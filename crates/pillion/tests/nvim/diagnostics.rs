//! The problems that Neovim shows, as Pillion gets them (`pillion/diagnostics`).

use pillion_testkit::{NvimVersion, each_neovim};
use serde_json::{Value, json};

use crate::world::World;

const TEXT: &str = "one\n\té😀 two\nthree\n";

/// Puts these diagnostics on a buffer, as a linter does: columns in bytes.
const SET: &str = "local name, list = ...
    local namespace = vim.api.nvim_create_namespace(name)
    vim.diagnostic.set(namespace, vim.fn.bufnr(name), list)";

/// The answer to Pillion when an agent asks for this.
fn answer(world: &World, uri: Option<&str>) -> Value {
    let ask = "local answer = require('pillion.diagnostics').answer({ uri = (...) or nil })
        -- As it goes over the wire.
        return vim.json.decode(vim.json.encode(answer))";
    let arguments = uri.map_or_else(|| json!([false]), |uri| json!([uri]));
    world.nvim.lua::<Value>(ask, arguments)["files"].clone()
}

fn world(version: NvimVersion, name: &str) -> (World, String) {
    let world = World::open(version, &[(name, TEXT)]);
    let path = world.home.workspace().join(name);
    (world, format!("file://{}", path.to_str().unwrap()))
}

fn range(from: (u32, u32), to: (u32, u32)) -> Value {
    let place = |(line, character)| json!({"line": line, "character": character});
    json!({"start": place(from), "end": place(to)})
}

#[each_neovim]
fn they_have_the_columns_of_agents_and_come_worst_first(version: NvimVersion) {
    let (world, uri) = world(version, "a.txt");
    world.nvim.lua::<()>(SET, json!(["a.txt", [
        {"lnum": 0, "col": 0, "end_lnum": 0, "end_col": 3, "severity": 4, "message": "a hint"},
        {"lnum": 1, "col": 3, "end_lnum": 1, "end_col": 7, "severity": 1, "message": "an\nerror",
         "source": "tsc", "user_data": {"lsp": {"code": 2304}}},
        {"lnum": 1, "col": 5, "end_lnum": 9, "end_col": 99, "severity": 2, "message": "inside",
         "user_data": {"lsp": {"code": "W1"}}},
    ]]));
    let expected = json!([{"uri": uri, "diagnostics": [
        {"range": range((1, 2), (1, 4)), "severity": 1, "message": "an\nerror", "source": "tsc", "code": 2304},
        {"range": range((1, 2), (9, 99)), "severity": 2, "message": "inside", "code": "W1"},
        {"range": range((0, 0), (0, 3)), "severity": 4, "message": "a hint"},
    ]}]);
    assert_eq!(answer(&world, Some(&uri)), expected);
    assert_eq!(answer(&world, None), expected);
    world.nvim.assert_no_errors();
}

/// Agents put the path behind `file://` as it is, and other programs encode it.
#[each_neovim]
fn a_file_is_found_by_any_spelling_and_named_as_asked(version: NvimVersion) {
    let (world, uri) = world(version, "a b%25.txt");
    world.nvim.lua::<()>(
        SET.replace("vim.fn.bufnr(name)", "0").as_str(),
        json!(["x", [{"lnum": 0, "col": 0, "message": "wrong", "severity": 1}]]),
    );
    let link = world.home.workspace().join("link.txt");
    std::os::unix::fs::symlink(world.home.workspace().join("a b%25.txt"), &link).unwrap();
    let encoded = uri.replace('%', "%25").replace(' ', "%20");
    let link = format!("file://{}", link.to_str().unwrap());
    for asked in [&uri, &encoded, &link] {
        let files = answer(&world, Some(asked));
        assert_eq!(files[0]["uri"], json!(asked));
        assert_eq!(files[0]["diagnostics"][0]["message"], "wrong");
    }
    assert_eq!(answer(&world, None)[0]["uri"], json!(encoded));
    for nothing in ["file:///no/such/file", "untitled:1", "", "file://", "%"] {
        assert_eq!(answer(&world, Some(nothing)), json!([]), "{nothing}");
    }
}

#[each_neovim]
fn what_is_no_file_has_none_and_there_are_never_more_than_a_thousand(version: NvimVersion) {
    let (world, uri) = world(version, "a.txt");
    let many = "local buf, count = ...
            local list = {}
            for number = 1, count do
              list[number] = { lnum = number % 3, col = 0, message = 'm' .. number, severity = number % 4 + 1 }
            end
            local namespace = vim.api.nvim_create_namespace('many')
            vim.diagnostic.set(namespace, buf, list)";
    world
        .nvim
        .command("new | setlocal buftype=nofile | file scratch.txt");
    world.nvim.lua::<()>(many, json!([0, 10]));
    assert_eq!(answer(&world, None), json!([]));
    world.nvim.command("wincmd p");
    world.nvim.lua::<()>(many, json!([0, 5000]));
    let files = answer(&world, Some(&uri));
    let list = files[0]["diagnostics"].as_array().unwrap();
    assert_eq!(list.len(), 1000);
    assert!(
        list.iter().all(|one| one["severity"] == 1),
        "the worst are kept"
    );
}
