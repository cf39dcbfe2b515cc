//! The companion that a command talks to.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::Path;

use serde_json::Value;

use crate::sandbox::{Ran, Sandbox, Serve, ran};
use crate::vscode::{Person, VsCode};

fn companions(sandbox: &Sandbox) -> Vec<Value> {
    let out = sandbox.run(["list", "--json"]).expect(0).stdout;
    serde_json::from_str(&out).unwrap()
}

/// The port of the companion that got the file when it was focused from `folder`.
#[track_caller]
fn told(sandbox: &Sandbox, folder: &Path, args: &[&str]) -> u16 {
    let before = companions(sandbox);
    sandbox
        .run_in(folder, [&["focus"], args].concat())
        .expect(0);
    let mut after = companions(sandbox);
    after.retain(|companion| !before.contains(companion));
    assert_eq!(after.len(), 1, "{before:?} {after:?}");
    after[0]["port"].as_u64().unwrap().try_into().unwrap()
}

/// Runs it without a runtime directory: as below `su`, `docker exec` or cron.
fn run_without_runtime_dir(sandbox: &Sandbox, args: &[&str]) -> Ran {
    ran(sandbox.command(args).env_remove("XDG_RUNTIME_DIR"), b"")
}

#[test]
fn a_file_is_for_the_companion_whose_workspace_holds_it() {
    let sandbox = Sandbox::new();
    let home = &sandbox.home;
    let (project, other) = (home.workspace(), home.other_workspace("other"));
    let inner = project.join("inner");
    let files = [project.join("a.rs"), inner.join("b.rs"), other.join("c.rs")];
    let outside = home.home().join("outside");
    fs::create_dir(&inner).unwrap();
    for file in files.iter().chain([&outside]) {
        fs::write(file, "").unwrap();
    }
    let [a, b, c] = files.each_ref().map(|file| file.to_str().unwrap());
    let outside = outside.to_str().unwrap();
    let serve = |root: &Path| sandbox.serve(["--workspace", root.to_str().unwrap()]);
    let [of_project, of_inner, of_other] = [&project, &inner, &other].map(|root| serve(root));
    let [of_project, of_inner, of_other] = [&of_project, &of_inner, &of_other].map(Serve::port);

    for folder in [Path::new("/"), &project, &inner, &other] {
        let told = |file| told(&sandbox, folder, &[file]);
        assert_eq!(told(a), of_project, "{folder:?}");
        assert_eq!(told(b), of_inner, "{folder:?}");
        assert_eq!(told(c), of_other, "{folder:?}");
    }
    let told = |folder: &Path, args: &[&str]| told(&sandbox, folder, args);
    assert_eq!(told(&project, &["../other/c.rs:7:1"]), of_other);
    // In nobody's workspace: then the current folder says it.
    assert_eq!(told(&inner, &[outside]), of_inner);
    sandbox
        .run_in("/".as_ref(), ["focus", outside])
        .expect_error(
            3,
            "/outside or the current folder /; 3 others are running: for ",
            "--workspace",
        );
    // What is named otherwise counts more.
    let root = project.to_str().unwrap();
    assert_eq!(told(&other, &[c, "--workspace", root]), of_project);
    let port = of_inner.to_string();
    assert_eq!(told(&other, &[c, "--port", &port]), of_inner);
    // A link counts where it leads, and if that is nowhere, where it lies.
    let link = |target: &str, name: &str| {
        let link = project.join(name);
        symlink(target, &link).unwrap();
        link
    };
    let (inside, away) = (link(c, "inside"), link(outside, "away"));
    assert_eq!(told(&project, &[inside.to_str().unwrap()]), of_other);
    assert_eq!(told(&other, &[away.to_str().unwrap()]), of_project);
}

#[test]
fn of_equals_one_that_answers_is_taken() {
    let sandbox = Sandbox::new();
    let (_answers, hangs) = (sandbox.serve::<&str>([]), sandbox.serve::<&str>([]));
    hangs.signal("STOP");
    // On a machine that is busy enough none of them answers in time.
    let mut tries = (0..3).map(|_| sandbox.run(["diffs"]).code);
    let is_answered = tries.any(|code| code == Some(0));
    hangs.signal("CONT");
    assert!(is_answered);
}

#[test]
fn who_does_not_find_the_socket_of_a_companion_is_told_so() {
    let sandbox = Sandbox::new();
    let serve = sandbox.serve::<&str>([]);
    let out = run_without_runtime_dir(&sandbox, &["list", "--json"]).expect(0);
    let found: Vec<Value> = serde_json::from_str(&out.stdout).unwrap();
    assert_eq!(found.len(), 1, "{found:?}");
    assert_eq!(
        (&found[0]["port"], &found[0]["current"]),
        (&serve.port().into(), &true.into())
    );
    assert_eq!(found[0]["agents"], Value::Null, "it was not asked");
    for command in ["diffs", "context"] {
        let ran = run_without_runtime_dir(&sandbox, &[command]);
        ran.expect_error(3, "the socket of Pillion (port ", "XDG_RUNTIME_DIR");
    }
}

/// As where somebody was faster in a folder that all users share.
#[test]
fn who_cannot_use_the_folder_of_sockets_is_told_what_is_there() {
    let sandbox = Sandbox::new();
    let own = format!("pillion-{}", rustix::process::geteuid().as_raw());
    let folder = sandbox.home.tmp().join(own);
    symlink("/nonexistent", &folder).unwrap();
    let _serve = sandbox.serve_with::<&str>("XDG_RUNTIME_DIR", "", []);
    let ran = run_without_runtime_dir(&sandbox, &["diffs"]);
    ran.expect_error(3, "is a symbolic link", "remove it, or move it away");
}

#[test]
fn what_only_pillions_own_understand_is_not_said_to_be_for_nobody() {
    let sandbox = Sandbox::new();
    let vscode = VsCode::start(&sandbox.home, Person::Waits);
    let port = vscode.port().to_string();
    let error = format!("the companion of VS Code (port {port}) is not Pillion's");
    for args in [&["diffs"][..], &["diffs", "--port", &port]] {
        sandbox.run(args).expect_error(3, &error, "pillion serve");
    }
    let error = "no Pillion companion is running for /";
    let ran = sandbox.run_in("/".as_ref(), ["diffs"]);
    ran.expect_error(3, error, "pillion serve");
    // Pillion's own is taken although VS Code is this terminal's editor.
    let serve = sandbox.serve::<&str>([]);
    let file = sandbox.home.file("a.rs", "");
    let file = file.to_str().unwrap();
    assert_eq!(told(&sandbox, "/".as_ref(), &[file]), serve.port());
}
