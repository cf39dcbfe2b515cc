//! `b`: the page of the same diffs in a browser, which ends with the review.

use std::net::TcpStream;
use std::time::Instant;

use pillion_testkit::{Env, SOON, pause};

use super::Review;

#[test]
#[ignore = "needs tmux: cargo xtask test"]
fn the_page_is_opened_from_the_review_and_ends_with_it() {
    let mut env = Env::default();
    // So that no browser is opened.
    env.set("SSH_CONNECTION", "10.0.0.1 40000 10.0.0.2 2222");
    let review = Review::usual_with(&env);
    review.pane.send_keys(["b"]);
    let said = review.pane.wait_for("opens once", SOON);
    let port = said.split("http://127.0.0.1:").nth(1).unwrap();
    let port: u16 = port.split('/').next().unwrap().parse().unwrap();
    assert!(
        said.contains(&format!("-p 2222 -L {port}:127.0.0.1:{port}")),
        "{said}"
    );
    TcpStream::connect(("127.0.0.1", port)).unwrap();
    let other = review.sandbox.run(["web", "--url"]).expect(0).stdout;
    assert!(
        other.starts_with(&format!("http://127.0.0.1:{port}/#")),
        "{other}"
    );
    review.pane.send_keys(["q"]);
    review.pane.wait_for("exit code 0", SOON);
    let started = Instant::now();
    while review.sandbox.run(["web", "--url"]).code == Some(0) {
        assert!(started.elapsed() < SOON, "it still runs");
        pause(started);
    }
}
