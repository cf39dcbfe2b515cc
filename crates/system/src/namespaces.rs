//! The part of the machine that a process sees. In a container of its own it sees no other processes, and perhaps
//! another loopback, and yet the same files.

use std::sync::OnceLock;

/// The identifiers that tell parts of machines apart. None of it says anything about the machine to people.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Namespaces {
    /// The running kernel: another machine's is another, and the next start's, too.
    pub boot: String,
    /// The processes that are seen.
    pub pid: u64,
    /// The network, and with it loopback.
    pub net: u64,
}

/// Those of this process; none where the system has none, or hides them.
pub fn own() -> Option<&'static Namespaces> {
    static OWN: OnceLock<Option<Namespaces>> = OnceLock::new();
    OWN.get_or_init(system::own).as_ref()
}

/// Returns true if every process of the machine is seen from here. Unknown counts as yes: most systems
/// have no namespaces.
pub fn sees_all_processes() -> bool {
    own().is_none_or(|own| own.pid == system::FIRST_PID_NAMESPACE)
}

/// Returns true if a process that is seen from here calls itself `pid` in a namespace of its own.
pub fn is_anyones_own(pid: u32) -> bool {
    system::is_anyones_own(pid)
}

/// The time when this machine was started, in seconds since 1970.
pub fn started_at() -> Option<u64> {
    system::started_at()
}

#[cfg(target_os = "linux")]
mod system {
    use std::fs;

    use super::Namespaces;
    use crate::process::inner_pid;

    /// The kernel gives it to the first namespace.
    pub const FIRST_PID_NAMESPACE: u64 = 0xEFFF_FFFC;

    pub fn own() -> Option<Namespaces> {
        let boot = fs::read_to_string("/proc/sys/kernel/random/boot_id").ok()?;
        Some(Namespaces {
            boot: boot.trim().to_owned(),
            pid: inode("pid")?,
            net: inode("net")?,
        })
    }

    /// `pid:[4026531836]`
    fn inode(kind: &str) -> Option<u64> {
        let link = fs::read_link(format!("/proc/self/ns/{kind}")).ok()?;
        let text = link.to_str()?.strip_prefix(kind)?;
        text.strip_prefix(":[")?.strip_suffix(']')?.parse().ok()
    }

    pub fn is_anyones_own(pid: u32) -> bool {
        crate::process::all().into_iter().any(|seen| {
            let status = fs::read_to_string(format!("/proc/{seen}/status"));
            status.is_ok_and(|status| inner_pid(&status) == Some(pid))
        })
    }

    pub fn started_at() -> Option<u64> {
        let stat = fs::read_to_string("/proc/stat").ok()?;
        let mut lines = stat.lines();
        let time = lines.find_map(|line| line.strip_prefix("btime "))?;
        time.trim().parse().ok()
    }

    #[cfg(test)]
    mod tests {
        use super::*;

        #[test]
        fn only_who_is_in_a_namespace_of_its_own_has_an_inner_number() {
            for (status, expected) in [
                ("Name:\tx\nNSpid:\t7\n", None),
                ("NSpid:\t900\t7\nNSsid:\t1\t2\n", Some(7)),
                ("NSpid:\t900\t70\t3\n", Some(3)),
                ("Name:\tx\n", None),
                ("NSpid:\t900\tx\n", None),
            ] {
                assert_eq!(inner_pid(status), expected, "{status:?}");
            }
        }

        #[test]
        fn this_process_has_namespaces_and_the_machine_a_start() {
            let own = own().unwrap();
            assert!(own.boot.len() > 30 && own.pid > 0 && own.net > 0, "{own:?}");
            assert!(started_at().unwrap() > 1_500_000_000);
        }
    }
}

#[cfg(not(target_os = "linux"))]
mod system {
    use super::Namespaces;

    pub const FIRST_PID_NAMESPACE: u64 = 0;

    pub fn own() -> Option<Namespaces> {
        None
    }

    pub fn is_anyones_own(_: u32) -> bool {
        false
    }

    pub fn started_at() -> Option<u64> {
        None
    }
}
