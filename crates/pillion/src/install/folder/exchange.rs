//! Puts one folder in another's place.

use std::io;
use std::path::Path;

/// Puts `new` in the place of `old`: in one step where the system can, which leaves the old one in
/// the place of the new, otherwise by renames that are taken back if one fails. `aside` is a free
/// name for the time between.
pub fn exchange(new: &Path, old: &Path, aside: &Path) -> io::Result<()> {
    if at_once(new, old) {
        return Ok(());
    }
    std::fs::rename(old, aside)?;
    let back = |error| {
        // The first rename worked, so this one does.
        let _ = std::fs::rename(aside, old);
        error
    };
    std::fs::rename(new, old).map_err(back)?;
    // Done; what is left of the old one is in nobody's way.
    let _ = std::fs::remove_dir_all(aside);
    Ok(())
}

#[cfg(target_os = "linux")]
fn at_once(new: &Path, old: &Path) -> bool {
    use rustix::fs::{CWD, RenameFlags, renameat_with};

    renameat_with(CWD, new, CWD, old, RenameFlags::EXCHANGE).is_ok()
}

#[cfg(not(target_os = "linux"))]
fn at_once(_: &Path, _: &Path) -> bool {
    false
}
