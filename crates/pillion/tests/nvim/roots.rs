//! The workspace roots: agents connect from the folders that Neovim works in (B23).

use pillion_protocol::Dialect;
use pillion_testkit::{Home, NvimSetup, NvimVersion, each_neovim, make_repository};
use serde_json::json;

use crate::world::{PILLION, World, setup};

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

#[each_neovim]
fn the_roots_are_the_working_folders_of_all_windows(version: NvimVersion) {
    let world = World::open(version, &[("a.txt", "a\n")]);
    let project = world.home.workspace();
    let [other, third, fourth] =
        ["other", "third", "fourth"].map(|name| world.home.other_workspace(name));
    wait_published(&world, &[&project]);
    world
        .nvim
        .command(&format!("tabnew | tcd {}", other.display()));
    wait_published(&world, &[&project, &other]);
    world
        .nvim
        .command(&format!("split | lcd {}", third.display()));
    wait_published(&world, &[&project, &other, &third]);
    world.nvim.command("close");
    wait_published(&world, &[&project, &other]);
    world.nvim.command("tabclose");
    wait_published(&world, &[&project]);
    world.nvim.command(&format!("cd {}", fourth.display()));
    wait_published(&world, &[&fourth]);
    world.nvim.assert_no_errors();
}

/// `.git` is a file in a work tree.
#[each_neovim]
fn the_repositories_of_open_files_are_roots_while_a_file_of_theirs_is_open(version: NvimVersion) {
    let home = Home::new();
    let project = home.workspace();
    let inner = project.join("src");
    std::fs::create_dir_all(inner.join("deep")).unwrap();
    std::fs::write(project.join(".git"), "gitdir: elsewhere").unwrap();
    let other = home.other_workspace("other");
    std::fs::create_dir_all(other.join(".hg")).unwrap();
    std::fs::create_dir_all(other.join("lib")).unwrap();
    std::fs::write(other.join("lib/b.txt"), "b\n").unwrap();
    let world = World::with(version, home, &[("src/deep/a.txt", "a\n")], |setup| {
        setup.cwd(&inner)
    });
    wait_published(&world, &[&inner, &project]);
    world
        .nvim
        .command(&format!("edit {}/lib/b.txt", other.display()));
    wait_published(&world, &[&inner, &project, &other]);
    world.nvim.command("bwipeout");
    wait_published(&world, &[&inner, &project]);
    // A folder that becomes a repository is the file's from then on.
    std::fs::create_dir(inner.join("deep/.jj")).unwrap();
    world.nvim.command("doautocmd <nomodeline> FocusGained");
    wait_published(&world, &[&inner, &inner.join("deep")]);
    world.nvim.assert_no_errors();
}

/// Agents would connect to neither of two.
#[each_neovim]
fn a_neovim_that_opens_a_file_of_another_ones_project_shares_its_companion(version: NvimVersion) {
    let home = Home::new();
    let project = home.workspace();
    let other = home.other_workspace("other");
    make_repository(&project);
    std::fs::write(other.join("b.txt"), "b\n").unwrap();
    let world = World::with(version, home, &[("a.txt", "a\n")], |setup| setup);
    let setup = setup(version, &world.home).cwd(&other);
    let second = setup.arg(other.join("b.txt")).headless();
    let port = "require('pillion.client').state.port";
    second.wait_until("Pillion running", &format!("{port} ~= nil"));
    let first: u16 = world.nvim.lua(&format!("return {port}"), json!([]));
    second.command(&format!("edit {}/a.txt", project.display()));
    // So does an agent in a terminal of the second one from now on.
    second.wait_until("one companion", &format!("{port} == {first}"));
    let variable = format!("vim.env.CLAUDE_CODE_SSE_PORT == '{first}'");
    second.wait_until("its variables", &variable);
    assert_eq!(pillion_testkit::lock_files(&world.home).len(), 1);
    wait_published(&world, &[&project, &other]);
    world.nvim.assert_no_errors();
    second.assert_no_errors();
}

#[each_neovim]
fn many_files_of_one_folder_displace_no_repository(version: NvimVersion) {
    let home = Home::new();
    let other = home.other_workspace("other");
    make_repository(&other);
    std::fs::write(other.join("b.txt"), "b\n").unwrap();
    let project = home.workspace();
    for number in 0..99 {
        std::fs::write(project.join(format!("a{number}")), "a\n").unwrap();
    }
    let world = World::with(version, home, &[("a.txt", "a\n")], |setup| setup);
    world
        .nvim
        .command(&format!("edit {}/b.txt", other.display()));
    wait_published(&world, &[&project, &other]);
    world
        .nvim
        .command("for n in range(99) | execute 'edit a' .. n | endfor");
    world.nvim.command("lua require('pillion.context').flush()");
    wait_published(&world, &[&project, &other]);
    let paths: Vec<String> = world.nvim.lua(
        "return require('pillion.context.recent').paths()",
        json!([]),
    );
    let newest = project.join("a98").display().to_string();
    let older = other.join("b.txt").display().to_string();
    assert_eq!(paths, [newest, older]);
    world.nvim.assert_no_errors();
}

/// The home folder is no workspace, not even if it is a repository.
#[each_neovim]
fn the_home_folder_and_the_whole_machine_are_no_roots(version: NvimVersion) {
    for cwd in ["home", "/"] {
        let home = Home::new();
        make_repository(&home.home());
        std::fs::create_dir(home.home().join("notes")).unwrap();
        std::fs::write(home.home().join("notes/b.txt"), "b\n").unwrap();
        let rc = home.home().join("rc");
        std::fs::write(&rc, "rc\n").unwrap();
        let cwd = if cwd == "home" {
            home.home()
        } else {
            cwd.into()
        };
        let world = World::with(version, home, &[], |setup| setup.cwd(cwd).arg(rc));
        world.wait_running();
        wait_published(&world, &[std::path::Path::new("")]);
        let notes = world.home.home().join("notes");
        world
            .nvim
            .command(&format!("edit {}/b.txt", notes.display()));
        wait_published(&world, &[&notes]);
        let project = world.home.workspace();
        make_repository(&project);
        let file = world.home.file("src/a.txt", "a\n");
        world.nvim.command(&format!("edit {}", file.display()));
        wait_published(&world, &[&project]);
        world.nvim.assert_no_errors();
    }
}

#[each_neovim]
fn where_there_is_no_root_starting_says_so_once(version: NvimVersion) {
    let home = Home::new();
    let cwd = home.home();
    let world = World::with(version, home, &[], |setup| setup.cwd(cwd));
    let said = "vim.api.nvim_exec('messages', true):find('no workspace root, so no agent connects', 1, true) ~= nil";
    world.nvim.input(":Pillion start<CR>");
    world.nvim.wait_until("the message", said);
    world.wait_running();
    world.nvim.input(":Pillion start<CR>:Pillion status<CR>");
    world.nvim.wait_until(
        "the status",
        "vim.api.nvim_exec('messages', true):find('no workspace root. Hint: :cd', 1, true) ~= nil",
    );
    assert_eq!(
        world
            .nvim
            .messages()
            .matches("so no agent connects")
            .count(),
        1
    );
    world
        .nvim
        .command(&format!("cd {}", world.home.workspace().display()));
    wait_published(&world, &[&world.home.workspace()]);
    world
        .nvim
        .wait_until("the root", "#require('pillion.client').state.roots == 1");
    world.nvim.command("messages clear | Pillion status");
    assert!(!world.nvim.messages().contains("no workspace root"));
}

#[each_neovim]
fn autochdir_does_not_move_the_root(version: NvimVersion) {
    let home = Home::new();
    let project = home.workspace();
    let other = home.other_workspace("other");
    std::fs::write(other.join("b.txt"), "b\n").unwrap();
    let world = World::with(version, home, &[("src/a.txt", "a\n")], |setup| {
        setup.init("vim.o.autochdir = true")
    });
    wait_published(&world, &[&project]);
    world
        .nvim
        .command(&format!("edit {}/b.txt", other.display()));
    world.nvim.wait_until(
        "the folder changed",
        "vim.fn.getcwd():find('other$') ~= nil",
    );
    world.nvim.command("split | lcd /");
    // The next change of the roots: nothing came in between.
    make_repository(&other);
    world.nvim.command("doautocmd <nomodeline> FocusGained");
    wait_published(&world, &[&project, &other]);
}

/// A real language server: it is at hand, and its discovery files are elsewhere.
#[each_neovim]
fn the_folders_of_language_servers_are_roots(version: NvimVersion) {
    let world = World::open(version, &[("a.txt", "a\n")]);
    let served = world.home.other_workspace("served");
    let project = world.home.workspace();
    let start = "local root, pillion = ...
             local id = vim.lsp.start_client({ name = 'other', root_dir = root, cmd = { pillion, 'lsp' },
               cmd_env = { TMPDIR = root, XDG_RUNTIME_DIR = root, QWEN_HOME = root } })
             vim.lsp.buf_attach_client(0, id)";
    world.nvim.lua::<()>(start, json!([served, PILLION]));
    let clients = "(vim.lsp.get_clients or vim.lsp.get_active_clients)()";
    world
        .nvim
        .wait_until("the server", &format!("#{clients} == 1"));
    world.nvim.command("doautocmd <nomodeline> CursorHold");
    wait_published(&world, &[&project, &served]);
    world
        .nvim
        .lua::<()>(&format!("vim.lsp.stop_client({clients}, true)"), json!([]));
    world
        .nvim
        .wait_until("no server", &format!("#{clients} == 0"));
    world.nvim.command("doautocmd <nomodeline> CursorHold");
    wait_published(&world, &[&project]);
}

/// Agents compare real paths.
#[each_neovim]
fn a_root_is_a_real_path(version: NvimVersion) {
    let home = Home::new();
    let link = home.root().join("link");
    std::os::unix::fs::symlink(home.workspace(), &link).expect("the home is ours");
    let world = World::with(version, home, &[("a.txt", "a\n")], |setup| setup.cwd(&link));
    wait_published(&world, &[&world.home.workspace()]);
}

#[each_neovim]
fn the_option_roots_decides_if_it_is_set(version: NvimVersion) {
    let home = Home::new();
    let other = home.other_workspace("other");
    let init = format!(
        "require('pillion').setup({{ roots = function() return {{ [[{}]], '/is/not/there' }} end }})",
        other.display()
    );
    let world = World::with(version, home, &[("a.txt", "a\n")], |setup| {
        setup.init(&init)
    });
    wait_published(&world, &[&other]);
    world.nvim.assert_no_errors();
}

#[each_neovim]
fn a_second_neovim_in_the_same_folder_shares_its_companion(version: NvimVersion) {
    let world = World::open(version, &[("a.txt", "a\n")]);
    let file = world.home.file("b.txt", "b\n");
    let second = NvimSetup::new(version, &world.home)
        .pillion(PILLION)
        .arg(file)
        .headless();
    second.wait_until(
        "Pillion running",
        "require('pillion.client').state.port ~= nil",
    );
    let port = "return require('pillion.client').state.port";
    let ports: [u16; 2] = [world.nvim.lua(port, json!([])), second.lua(port, json!([]))];
    assert_eq!(ports[0], ports[1]);
    // An agent sees what is open in both, and the file of the one that was used last in front.
    let mut agent = world.gemini();
    agent.context(|context| {
        let active = context
            .active_file()
            .is_some_and(|file| file.path.ends_with("b.txt"));
        active
            && context
                .files()
                .iter()
                .any(|file| file.path.ends_with("a.txt"))
    });
    assert_eq!(second.quit(), 0);
    agent.context(|context| {
        let active = context
            .active_file()
            .is_some_and(|file| file.path.ends_with("a.txt"));
        active && context.files().len() == 1
    });
    assert_eq!(world.nvim.quit(), 0);
}

/// Neovim lists it until it is gone.
#[each_neovim]
fn a_language_server_that_was_stopped_is_no_root(version: NvimVersion) {
    let home = Home::new();
    let other = home.other_workspace("other");
    let world = World::with(version, home, &[("a.txt", "a\n")], |setup| setup);
    let start = "local root, stopped = ..., false
            local id = vim.lsp.start_client({ name = 'stubborn', root_dir = root, cmd = function()
              return {
                request = function(_, _, callback) callback(nil, { capabilities = {} }) return true, 1 end,
                notify = function() return true end,
                is_closing = function() return stopped end,
                terminate = function() stopped = true end,
              }
            end })
            vim.lsp.buf_attach_client(0, id)
            server = id";
    world.nvim.lua::<()>(start, json!([other]));
    let folders = "#require('pillion.roots.servers').folders()";
    world
        .nvim
        .wait_until("its folder", &format!("{folders} == 1"));
    world.nvim.lua::<()>(
        "vim.lsp.get_client_by_id(server).rpc.terminate()",
        json!([]),
    );
    world
        .nvim
        .wait_until("listed", "vim.lsp.get_client_by_id(server) ~= nil");
    world
        .nvim
        .wait_until("no folder", &format!("{folders} == 0"));
}
