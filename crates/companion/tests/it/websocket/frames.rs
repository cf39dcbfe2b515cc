//! The clients that are let in, and the frames that are read.

use std::time::Duration;

use futures_util::SinkExt;
use pillion_protocol::claude::AUTHORIZATION_HEADER;
use pillion_protocol::{Dialect, Outcome};
use serde_json::json;
use tokio::io::AsyncWriteExt;
use tokio::time::timeout;
use tokio_tungstenite::tungstenite::Message;

use super::client::{Claude, close_code, dial, token};
use crate::support::TestCompanion;

#[tokio::test]
async fn nobody_comes_in_without_the_token_of_the_lock_file() {
    let test = TestCompanion::start();
    let own = token(&test);
    let gemini = test.token(Dialect::GeminiCli).expose().to_owned();
    for (wrong, status) in [
        (vec![], 401),
        (vec![(AUTHORIZATION_HEADER, "")], 401),
        (vec![(AUTHORIZATION_HEADER, &own[..own.len() - 1])], 401),
        (vec![(AUTHORIZATION_HEADER, gemini.as_str())], 401),
        (vec![("authorization", own.as_str())], 401),
        (
            vec![
                (AUTHORIZATION_HEADER, &own),
                ("origin", "https://evil.example"),
            ],
            403,
        ),
        (
            vec![(AUTHORIZATION_HEADER, &own), ("host", "evil.example")],
            403,
        ),
        (
            vec![(AUTHORIZATION_HEADER, &own), ("sec-websocket-version", "8")],
            426,
        ),
        (
            vec![(AUTHORIZATION_HEADER, &own), ("sec-websocket-key", "short")],
            400,
        ),
    ] {
        let refused = dial(&test, &wrong).await.map(drop);
        assert_eq!(refused, Err(status), "{wrong:?}");
    }
    let request = test
        .request("POST", "{}")
        .header("Authorization", &format!("Bearer {own}"));
    assert_eq!(request.send().await.status, 401, "it opens no other door");
    // opencode offers no subprotocol, and gets none.
    let (_, subprotocol) = dial(&test, &[(AUTHORIZATION_HEADER, &own)]).await.unwrap();
    assert_eq!(subprotocol, None);
    let offers = [
        (AUTHORIZATION_HEADER, own.as_str()),
        ("sec-websocket-protocol", "x, mcp"),
    ];
    let (_, subprotocol) = dial(&test, &offers).await.unwrap();
    assert_eq!(subprotocol.as_deref(), Some("mcp"));
}

#[tokio::test]
async fn frames_that_break_the_rules_end_their_own_connection_only() {
    let test = TestCompanion::start();
    let mut fine = Claude::connect(&test).await;
    let mut claude = Claude::connect(&test).await;
    claude
        .socket
        .send(Message::Binary(b"{}".as_slice().into()))
        .await
        .unwrap();
    assert_eq!(close_code(&mut claude).await, Some(1003));
    for (frame, code) in [
        (&b"\x81\x02{}"[..], 1002),                    // not masked
        (b"\x81\x81\0\0\0\0\xff", 1007),               // not UTF-8
        (b"\xc1\x82\0\0\0\0{}", 1002),                 // compressed
        (b"\x80\x82\0\0\0\0{}", 1002),                 // a continuation of nothing
        (b"\x81\xff\0\0\0\x01\0\0\0\0\0\0\0\0", 1009), // 4 GiB
    ] {
        let mut claude = Claude::connect(&test).await;
        let raw = claude.socket.get_mut();
        raw.write_all(frame).await.unwrap();
        assert_eq!(close_code(&mut claude).await, Some(code), "{frame:?}");
    }
    let ping = fine.request("ping", json!({})).await;
    fine.answer(ping).await;
}

#[tokio::test]
async fn a_message_may_come_in_pieces_and_be_as_long_as_a_file() {
    let mut test = TestCompanion::start();
    let mut claude = Claude::connect(&test).await;
    let raw = claude.socket.get_mut();
    let message = br#"{"jsonrpc":"2.0","id":77,"method":"ping"}"#;
    for (at, byte) in message.iter().enumerate() {
        let first = u8::from(at == 0);
        let last = if at + 1 == message.len() { 0x80 } else { 0 };
        raw.write_all(&[last | first, 0x81, 0, 0, 0, 0, *byte])
            .await
            .unwrap();
        // A ping may come in between.
        raw.write_all(&[0x89, 0x80, 0, 0, 0, 0]).await.unwrap();
    }
    claude.answer(77).await;
    let path = test.file("a.txt", "");
    let text = "0123456789\n".repeat(500_000);
    let open = claude.open(&path, &text, "t").await;
    let diff = test.editor.show().await;
    assert!(*diff.proposed == *text);
    let accepted = Outcome::accepted(text.clone());
    test.decide(&diff, accepted).await;
    let blocks = claude.blocks(open).await;
    assert!(blocks[1] == text);
}

#[tokio::test]
async fn a_client_that_pings_and_never_reads_is_not_read_either() {
    const FAR: usize = 64 << 20;
    let test = TestCompanion::start();
    let mut silent = Claude::connect(&test).await;
    let raw = silent.socket.get_mut();
    let mut ping = vec![0x89, 0x80 | 125, 0, 0, 0, 0];
    ping.extend([b'x'; 125]);
    let pings = ping.repeat(1000);
    // What the two systems hold is less than that.
    let flood = async {
        for _ in 0..FAR / pings.len() {
            raw.write_all(&pings).await.unwrap();
        }
    };
    let flooded = timeout(Duration::from_secs(3), flood).await;
    assert!(flooded.is_err(), "its pongs pile up");
    let mut fine = Claude::connect(&test).await;
    let ping = fine.request("ping", json!({})).await;
    fine.answer(ping).await;
}

#[tokio::test]
async fn a_client_that_never_reads_holds_up_nobody() {
    let mut test = TestCompanion::start();
    let mut silent = Claude::connect(&test).await;
    let call = json!({"jsonrpc": "2.0", "id": 1, "method": "tools/list"}).to_string();
    // Until its answers, and then its requests, have nowhere to go.
    let flood = async {
        loop {
            silent
                .socket
                .feed(Message::Text(call.as_str().into()))
                .await
                .unwrap();
        }
    };
    assert!(timeout(Duration::from_secs(3), flood).await.is_err());
    let mut claude = Claude::connect(&test).await;
    let path = test.file("a.txt", "one\n");
    let open = claude.open(&path, "two\n", "t").await;
    let diff = test.editor.show().await;
    let accepted = Outcome::accepted("two\n");
    test.decide(&diff, accepted).await;
    claude.blocks(open).await;
}
