//! The conclusions from here about whoever wrote a file: in another container its processes, or its ports,
//! are not seen.

use std::path::Path;
use std::time::UNIX_EPOCH;

use pillion_protocol::discovery::Namespaces;
use pillion_system::namespaces;

/// The view from here of the part of a machine in which a file was written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Visibility {
    /// Its process ids mean the same processes.
    pub processes: bool,
    /// Its loopback is ours.
    pub ports: bool,
}

impl Visibility {
    /// Everything, as with a file that does not say where it was written.
    const FULL: Self = Self {
        processes: true,
        ports: true,
    };

    /// That of a file at `path` which says that it was written there.
    pub fn of(written: Option<&Namespaces>, path: &Path) -> Self {
        let own = namespaces::own();
        let (Some(written), Some(own)) = (written, own) else {
            return Self::FULL;
        };
        if written.boot != own.boot {
            // Before this machine was last started, it was perhaps this one, and nothing of then still lives.
            return if is_older_than_this_start(path) {
                Self::FULL
            } else {
                Self {
                    processes: false,
                    ports: false,
                }
            };
        }
        Self {
            processes: written.pid == own.pid,
            ports: written.net == own.net,
        }
    }
}

/// The namespaces of this process, as its files say them.
pub fn here() -> Option<Namespaces> {
    let own = namespaces::own()?;
    Some(Namespaces {
        boot: own.boot.clone(),
        pid: own.pid,
        net: own.net,
    })
}

fn is_older_than_this_start(path: &Path) -> bool {
    let written = path.symlink_metadata().and_then(|file| file.modified());
    let written = written
        .ok()
        .and_then(|it| it.duration_since(UNIX_EPOCH).ok());
    let (Some(written), Some(started)) = (written, namespaces::started_at()) else {
        return false;
    };
    written.as_secs() < started
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use std::fs::File;
    use std::time::Duration;

    use super::*;

    #[test]
    fn what_is_seen_of_another_part_of_a_machine() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("1.lock");
        let file = File::create(&path).unwrap();
        let own = here().unwrap();
        let visibility = |written: &Namespaces| {
            let Visibility { processes, ports } = Visibility::of(Some(written), &path);
            (processes, ports)
        };
        let other_pid = Namespaces {
            pid: 1,
            ..own.clone()
        };
        let other_net = Namespaces {
            net: 1,
            ..own.clone()
        };
        let both = Namespaces {
            pid: 1,
            ..other_net.clone()
        };
        let other_boot = Namespaces {
            boot: "x".to_owned(),
            ..own.clone()
        };
        assert_eq!(visibility(&own), (true, true));
        assert_eq!(visibility(&other_pid), (false, true));
        assert_eq!(visibility(&other_net), (true, false));
        assert_eq!(visibility(&both), (false, false));
        assert_eq!(visibility(&other_boot), (false, false));
        // Left from before the machine was started again.
        file.set_modified(UNIX_EPOCH + Duration::from_secs(1))
            .unwrap();
        assert_eq!(visibility(&other_boot), (true, true));
        assert_eq!(visibility(&other_pid), (false, true));
        assert_eq!(Visibility::of(None, &path), Visibility::FULL);
    }
}
