//! Claude Code in `auto` mode as `pillion run` starts it: what its hooks ask in place of a diff of its own, in one process.

use pillion_testkit::kill_hub;

use super::run::{first_cell, notebook, propose_cell, run_in};
use crate::companion;

/// A notebook's cell: accepted, rejected with a reason, stopped with Esc. At last the hub is killed while the hook waits: Claude
/// Code says that the hook failed, and goes its own way, which in this mode is to write.
#[test]
#[ignore = "needs the real agents and Claude Code: cargo xtask test"]
fn claude_in_auto_mode_asks_about_cells_as_long_as_there_is_a_hub() {
    let scene = run_in("auto");
    let book = scene.home.file("n.ipynb", notebook("x = 1"));
    propose_cell(&scene, &book, "x = 2");
    scene.review.accept("n.ipynb");
    scene.claude.wait_for("n.ipynb is done");
    assert_eq!(first_cell(&book), "x = 2");
    scene.claude.wait_ready();
    propose_cell(&scene, &book, "x = 3");
    scene.review.reject_because("n.ipynb", "Two is enough.");
    scene.wait_asked("and says: Two is enough.");
    scene.claude.wait_ready();
    propose_cell(&scene, &book, "x = 4");
    scene.claude.pane().send_keys(["Escape"]);
    scene.wait_closed("n.ipynb");
    scene.claude.wait_ready();
    assert_eq!(first_cell(&book), "x = 2");
    scene.model.clear();

    propose_cell(&scene, &book, "x = 5");
    kill_hub(&scene.home);
    scene.claude.wait_for("hook failed");
    companion::wait_until("what it writes by itself", || {
        (first_cell(&book) == "x = 5").then_some(())
    });
}
