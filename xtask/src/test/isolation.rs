//! Tests without a network: in a namespace that has loopback only, where the system allows that.

use std::process::{Command, Stdio};
use std::sync::LazyLock;

/// The new namespace, with this user's rights in it, and then what is to run there.
const UNSHARE: [&str; 3] = ["--map-root-user", "--net", "--"];

/// For who is root, and has to stay that: package managers change users.
const UNSHARE_AS_ROOT: [&str; 2] = ["--net", "--"];

/// Loopback exists there, but is down.
const START_LOOPBACK: &str = "ip link set lo up";

/// True if namespaces can be made: on Linux, with `unshare` (util-linux) and `ip` (iproute2), unless
/// the system forbids it.
static IS_POSSIBLE: LazyLock<bool> = LazyLock::new(|| {
    let mut probe = Command::new("unshare");
    probe.args(UNSHARE).args(["sh", "-c", START_LOOPBACK]);
    let probe = probe.stdin(Stdio::null()).stderr(Stdio::null());
    cfg!(target_os = "linux") && probe.status().is_ok_and(|status| status.success())
});

/// The same command where only this machine can be reached; unchanged where that is impossible.
pub fn offline(command: Command) -> Command {
    if !*IS_POSSIBLE {
        return command;
    }
    within(&UNSHARE, command)
}

/// The same for root, with all of root's rights.
pub fn offline_as_root(command: Command) -> Command {
    within(&UNSHARE_AS_ROOT, command)
}

fn within(namespace: &[&str], command: Command) -> Command {
    let mut isolated = Command::new("unshare");
    let script = format!(r#"{START_LOOPBACK} && exec "$@""#);
    isolated
        .args(namespace)
        .args(["sh", "-c", &script, "sh"])
        .arg(command.get_program())
        .args(command.get_args());
    for (name, value) in command.get_envs() {
        match value {
            Some(value) => isolated.env(name, value),
            None => isolated.env_remove(name),
        };
    }
    if let Some(folder) = command.get_current_dir() {
        isolated.current_dir(folder);
    }
    isolated
}
