//! The context that agents get: files, cursor, selection, roots.

use pillion_protocol::Dialect;
use pillion_testkit::{Home, VimVersion, discovery_files, each_vim};
use serde_json::Value;

use crate::world::{World, setup};

#[each_vim]
fn files_come_most_recently_focused_first(version: VimVersion) {
    let world = World::open(
        version,
        &[("a.txt", "a\n"), ("b b.txt", "b\n"), ("c%d#e.txt", "c\n")],
    );
    let mut gemini = world.gemini();
    world.vim.input(":next<CR>");
    world.active(&mut gemini, |file| file.path.ends_with("b b.txt"));
    world.vim.input(":next<CR>");
    let context = gemini.context(|context| {
        context.files().len() == 3
            && context
                .active_file()
                .is_some_and(|file| file.path.ends_with("c%d#e.txt"))
    });
    let names: Vec<_> = context
        .files()
        .iter()
        .map(|file| file.path.rsplit('/').next().unwrap().to_owned())
        .collect();
    assert_eq!(names, ["c%d#e.txt", "b b.txt", "a.txt"]);
    world.vim.input(":bdelete<CR>");
    gemini.context(|context| context.files().len() == 2);
    world.vim.assert_no_errors();
}

#[each_vim]
fn only_real_files_are_shown(version: VimVersion) {
    let world = World::open(version, &[("a.txt", "a\n")]);
    let mut gemini = world.gemini();
    for command in [
        "new",
        "help",
        "enew",
        "edit not-there.txt",
        "edit .",
        "setlocal buftype=nofile",
    ] {
        world.vim.command(command);
    }
    world.vim.command("edit a.txt");
    world.vim.input("j");
    let file = world.home.file("b.txt", "b\n");
    world.vim.command(&format!("split {}", file.display()));
    let context = gemini.context(|context| {
        context
            .active_file()
            .is_some_and(|file| file.path.ends_with("b.txt"))
    });
    assert_eq!(context.files().len(), 2, "{context:#?}");
}

#[each_vim]
fn a_selection_is_what_a_yank_takes(version: VimVersion) {
    let world = World::open(
        version,
        &[("a.txt", "one häß 👩‍👩‍👧‍👦 x\n\ttwo\tthree\nfour five\nlast\n")],
    );
    let mut gemini = world.gemini();
    for keys in [
        "wve",
        "Vj",
        "wwvj",
        "l\u{16}jl",
        "\u{16}jj$",
        "Gvgg",
        "viw",
        "jvj0",
        "ggv$",
        "VG",
    ] {
        world.vim.command("let @\" = ''");
        world.vim.input(&format!("<Esc>gg0{keys}y"));
        world.vim.wait_until(keys, "mode() == 'n' && @\" != ''");
        let yanked: String = world.vim.get("@\"");
        // The ending of the last line is not part of what is shown.
        let expected = yanked.strip_suffix('\n').unwrap_or(&yanked);
        world.vim.input("gv");
        world.active(&mut gemini, |file| {
            file.selected_text.as_deref() == Some(expected)
        });
        world.vim.input("<Esc>");
        world.active(&mut gemini, |file| file.selected_text.is_none());
    }
    world.vim.assert_no_errors();
}

#[each_vim]
fn neither_home_nor_the_machine_is_a_workspace(version: VimVersion) {
    let home = Home::new();
    let file = home.home().join("notes.txt");
    std::fs::write(&file, "text\n").unwrap();
    let folder = home.home();
    let world = World::with(version, home, &[], |setup| setup.cwd(folder).arg(file));
    world.wait_running();
    world.vim.wait_said("no workspace root");
    world.vim.command("cd /");
    world.vim.command(&format!(
        "tabnew | tcd {}",
        world.home.workspace().display()
    ));
    let wanted = world.home.workspace();
    let mut published = Value::Null;
    for _ in 0..1200 {
        let files = discovery_files(&world.home, Dialect::GeminiCli);
        let text = files
            .first()
            .and_then(|file| std::fs::read(file).ok())
            .unwrap_or_default();
        published = serde_json::from_slice(&text).unwrap_or_default();
        if published["workspacePath"] != "" {
            break;
        }
        std::thread::sleep(std::time::Duration::from_millis(50));
    }
    assert_eq!(published["workspacePath"], wanted.to_str().unwrap());
}

#[each_vim]
fn a_companion_that_dies_is_started_again(version: VimVersion) {
    let world = World::open(version, &[("a.txt", "one\n")]);
    let pid: u32 = world.vim.get("pillion#Status().pid");
    world.vim.command(&format!("call system('kill -9 {pid}')"));
    world.vim.wait_said("restarting in 1 s");
    world.vim.wait_until(
        "another one",
        &format!(
            "pillion#Status().running && pillion#Status().pid > 0 && pillion#Status().pid != {pid}"
        ),
    );
    world.vim.input(":Pillion stop<CR>");
    world.vim.wait_until("none", "!pillion#Status().running");
}

#[each_vim]
fn nothing_starts_without_the_program_but_a_hint(version: VimVersion) {
    let home = Home::new();
    let path = home.file("a.txt", "a\n");
    let tmux = pillion_testkit::Tmux::start();
    let vim = setup(version, &home)
        .vimrc("let g:pillion_command = ['no-such-program']")
        .arg(path)
        .in_tmux(&tmux);
    vim.wait_said("`no-such-program` was not found");
    vim.assert_no_errors();
}
