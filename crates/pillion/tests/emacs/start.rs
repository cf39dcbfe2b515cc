//! The start of the companion.

use pillion_testkit::{EmacsVersion, each_emacs};

use crate::world::World;

#[each_emacs]
fn it_starts_while_emacs_is_busy_for_longer_than_that_may_take(version: EmacsVersion) {
    let world = World::new(version);
    world.emacs.eval("(pillion-client-stop)");
    world
        .emacs
        .wait_until("none", "(eq pillion-client-phase 'stopped)");
    world
        .emacs
        .eval("(progn (pillion-client-start) (call-process \"sleep\" nil nil nil \"12\"))");
    world.wait_running();
}
