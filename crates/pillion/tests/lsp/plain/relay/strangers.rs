//! Who else comes to the socket of a proposal's owner, and what is left when an owner is gone.

use super::*;

#[test]
fn when_the_owner_dies_the_person_gets_a_message() {
    let mut world = World::new();
    let target = world.target("a.rs", "a\n");
    let proposal = shown_elsewhere(&mut world, &target, "b\n");
    let mut second = Second::of_same_editor(&world, &proposal);
    assert!(!second.diagnostics().is_empty());
    let arguments = second.actions()[0]["arguments"].clone();
    world.editor.child.kill().unwrap();
    let said = second.message();
    assert!(
        said.contains("a.proposed.rs can no longer be decided"),
        "{said}"
    );
    assert!(second.diagnostics().is_empty());
    assert!(second.actions().is_empty());
    let answer = second.execute("pillion.accept", arguments);
    assert!(
        answer["error"]["message"]
            .as_str()
            .unwrap()
            .contains("gone")
    );
    assert_eq!(fs::read_to_string(&target).unwrap(), "a\n");
}

#[test]
fn a_proposal_that_a_dead_process_left_behind_cannot_be_decided() {
    let sandbox = Sandbox::new();
    let folder = sandbox
        .home
        .runtime()
        .join("pillion/proposals/4294967294/1-1");
    fs::create_dir_all(&folder).unwrap();
    let path = folder.join("a.proposed.rs");
    fs::write(&path, "b\n").unwrap();
    let roots = json!([uri(&folder)]);
    let mut second = Second::connect(&sandbox, std::process::id(), roots, &uri(&path));
    second.did_open("b\n");
    let said = second.message();
    assert!(
        said.contains("a.proposed.rs cannot be decided here"),
        "{said}"
    );
    assert!(second.actions().is_empty());
    assert_eq!(served(&sandbox), [0; 0]);
}

/// Whatever is where the socket should be, nothing is sent to it.
#[test]
fn a_socket_that_was_replaced_is_not_used() {
    let mut world = World::new();
    let target = world.target("a.rs", "a\n");
    let proposal = shown_elsewhere(&mut world, &target, "b\n");
    let socket = socket(&world);
    let evil_path = world.sandbox.home.root().join("evil");
    let evil = UnixListener::bind(&evil_path).unwrap();
    evil.set_nonblocking(true).unwrap();
    let put_link = |socket: &Path| symlink(&evil_path, socket).unwrap();
    let put_file = |socket: &Path| fs::write(socket, "x").unwrap();
    for (put, why) in [
        (&put_link as &dyn Fn(&Path), "symbolic link"),
        (&put_file, "not a socket"),
        (&|_| {}, "cannot find"),
    ] {
        let _ = fs::remove_file(&socket);
        put(&socket);
        let mut second = Second::of_same_editor(&world, &proposal);
        let said = second.message();
        assert!(said.contains(why), "{said}");
        assert!(second.actions().is_empty());
    }
    assert!(evil.accept().is_err(), "nobody connected");
}

#[test]
fn a_folder_that_is_a_link_is_not_used() {
    let mut world = World::new();
    let target = world.target("a.rs", "a\n");
    let proposal = shown_elsewhere(&mut world, &target, "b\n");
    let own = socket(&world).parent().unwrap().to_owned();
    let planted = world.proposals().join("1");
    symlink(&own, &planted).unwrap();
    let path = planted.join("1-1").join(proposal.path.file_name().unwrap());
    let roots = json!([uri(&world.sandbox.home.home())]);
    let mut second = Second::connect(&world.sandbox, std::process::id(), roots, &uri(&path));
    second.did_open("b\n");
    let said = second.message();
    assert!(said.contains("symbolic link"), "{said}");
}

#[test]
fn unknown_clients_at_the_socket_neither_decide_nor_keep_others_away() {
    let mut world = World::new();
    let target = world.target("a.rs", "a\n");
    let proposal = shown_elsewhere(&mut world, &target, "b\n");
    let socket = socket(&world);
    let send = |message: Value| {
        let mut stream = UnixStream::connect(&socket).unwrap();
        let body = message.to_string();
        // One that is not wanted is cut off while it writes.
        let _ = write!(stream, "Content-Length: {}\r\n\r\n{body}", body.len());
        stream
    };
    let accept = json!({"command": "pillion.accept", "arguments": [1, 1]});
    let request = |id: u32, method: &str, params: &Value| json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params});
    // Without a word of who it is; and one that has not opened the proposal.
    let _unnamed = send(request(1, "workspace/executeCommand", &accept));
    let mut named = send(request(1, "initialize", &json!({"capabilities": {}})));
    let body = request(2, "workspace/executeCommand", &accept).to_string();
    let _ = write!(named, "Content-Length: {}\r\n\r\n{body}", body.len());
    let _wrong = send(request(1, "initialize", &json!({"capabilities": 5})));
    for garbage in [
        &b"\0\0\0\0"[..],
        b"Content-Length: 99999999999\r\n\r\n",
        b"GET / HTTP/1.1\r\n\r\n",
    ] {
        let _ = UnixStream::connect(&socket).unwrap().write_all(garbage);
    }
    assert!(world.agent.receives_no_outcome(Duration::from_secs(1)));
    let silent: Vec<_> = (0..30)
        .map(|_| UnixStream::connect(&socket).unwrap())
        .collect();
    let mut second = Second::of_same_editor(&world, &proposal);
    second.choose("Reject");
    assert_eq!(world.agent.outcome(), rejected(&target));
    drop(silent);
}

#[test]
fn hostile_names_reach_the_owner_as_they_are() {
    let mut world = World::new();
    for name in ["a b.rs", "100%.rs", "é%20\n;$(x).rs", "[id]#?.rs"] {
        let target = world.target(name, "a\n");
        let proposal = shown_elsewhere(&mut world, &target, "b\n");
        let mut second = Second::of_same_editor(&world, &proposal);
        let answer = second.choose("Accept");
        assert_eq!(answer["result"], Value::Null, "{answer}");
        assert_eq!(world.agent.outcome(), accepted(&target, "b\n"));
    }
}

#[test]
fn the_socket_is_private_and_goes_with_the_proposals() {
    use std::os::unix::fs::{FileTypeExt, PermissionsExt};
    let mut world = World::new();
    let target = world.target("a.rs", "a\n");
    assert!(!socket(&world).exists(), "only from the first proposal on");
    shown_elsewhere(&mut world, &target, "b\n");
    let socket = socket(&world);
    let found = socket.symlink_metadata().unwrap();
    assert!(found.file_type().is_socket());
    assert_eq!(found.permissions().mode() & 0o777, 0o600);
    let folder = socket.parent().unwrap().to_owned();
    assert_eq!(
        folder.metadata().unwrap().permissions().mode() & 0o777,
        0o700
    );
    world.editor.request("shutdown", Value::Null);
    assert!(!folder.exists());
}
