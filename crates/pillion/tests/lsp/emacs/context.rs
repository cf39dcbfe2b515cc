//! The context that agents are sent.

use pillion_protocol::Dialect;
use pillion_testkit::{
    EmacsVersion, TestAgent, discovery_file, discovery_files, each_emacs_client,
};

use super::scene::{BEFORE, Client, Scene};

#[each_emacs_client]
fn agents_hear_of_files_and_of_the_cursor_and_of_what_is_selected(
    client: Client,
    version: EmacsVersion,
) {
    let scene = Scene::start(client, version, BEFORE);
    let Scene {
        emacs, home, path, ..
    } = &scene;
    scene.wait("a companion", || !scene.companions().is_empty());
    let files = discovery_files(home, Dialect::GeminiCli);
    let info = discovery_file(&files[0]).ide_info;
    let name = info.map(|info| info.display_name);
    assert_eq!(name.as_deref(), Some("Emacs"));

    let mut gemini = TestAgent::find(home, Dialect::GeminiCli);
    emacs.input("<C-n><C-e>");
    gemini.context(|context| {
        let file = context
            .active_file()
            .filter(|file| path.to_str() == Some(&file.path));
        let cursor = file.and_then(|file| file.cursor);
        cursor.is_some_and(|cursor| (cursor.line, cursor.character) == (2, 4))
    });

    emacs.input("<C-a><C-SPC><C-n><C-n>");
    emacs.wait_until("a region", "(and (region-active-p) (eobp))");
    if client == Client::Eglot {
        // It sends a region when it requests code actions.
        emacs.command("eglot-code-actions");
    }
    gemini.context(|context| {
        let file = context.active_file();
        file.is_some_and(|file| file.selected_text.as_deref() == Some("two\nthree\n"))
    });

    // Of another mode.
    let name = if client == Client::Eglot {
        "other.conf"
    } else {
        "other.js"
    };
    let other = home.file(name, "x = 1\n");
    emacs.input(&format!("<C-x><C-f>{name}<RET>"));
    gemini.context(|context| {
        let file = context.active_file();
        file.is_some_and(|file| other.to_str() == Some(&file.path)) && context.files().len() == 2
    });
    assert_eq!(scene.companions().len(), 1);
}
