//! The temporary directory, beside what Node says (C2.2).

use std::process::Command;

use pillion_discovery::Environment;

#[test]
#[ignore = "needs Node: cargo xtask test"]
fn tmpdir_is_the_same_as_in_node() {
    let values = [
        "",
        "/a",
        "/a/",
        "/a//",
        "/",
        "//",
        "relative/",
        "/ä b\n/",
        " ",
    ];
    let mut environments = vec![Vec::new()];
    for name in ["TMPDIR", "TMP", "TEMP"] {
        environments.extend(values.map(|value| vec![(name, value)]));
    }
    environments.extend([
        vec![("TMPDIR", ""), ("TMP", "/b/"), ("TEMP", "/c")],
        vec![("TMPDIR", ""), ("TMP", ""), ("TEMP", "/c/")],
        vec![("TMPDIR", "/a"), ("TMP", "/b"), ("TEMP", "/c")],
        vec![("TMP", "/b"), ("TEMP", "/c")],
    ]);
    for pairs in environments {
        let output = Command::new("node")
            .args(["-e", "process.stdout.write(require('os').tmpdir())"])
            .env_remove("TMPDIR")
            .env_remove("TMP")
            .env_remove("TEMP")
            .envs(pairs.iter().copied())
            .output()
            .unwrap();
        assert!(output.status.success(), "{output:?}");
        let node = String::from_utf8(output.stdout).unwrap();
        let ours = Environment::from_pairs(pairs.iter().copied()).tmpdir();
        assert_eq!(ours.to_str(), Some(node.as_str()), "{pairs:?}");
    }
}
