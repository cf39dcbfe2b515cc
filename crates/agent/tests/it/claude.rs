//! The client of Claude Code's protocol, against companions that work and others that do not.

mod stand_in;
#[path = "../../../pillion/tests/shared/texts.rs"]
mod texts;

use std::time::Duration;

use pillion_agent::claude::{Answer, Client, Update};
use pillion_agent::find::{Release, Situation, find};
use pillion_agent::{Address, ClientError};
use pillion_protocol::claude::tools::CLOSE_ALL_DIFF_TABS;
use pillion_protocol::diagnostics::Severity;
use pillion_protocol::{Dialect, Token};
use serde_json::{Value, json};
use tokio::time::timeout;

use self::stand_in::{Act, StandIn, answer, notification, usual};
use crate::accepting::Accepting;
use crate::server::SOON;

/// The time limit of those that are to give up.
const SHORT: Duration = Duration::from_millis(300);

async fn connected(companion: &StandIn) -> Client {
    let connecting = timeout(SOON, Client::connect(companion.address())).await;
    connecting.unwrap().unwrap().0
}

/// The error of a connection when the companion does so on `initialize`.
async fn refused(on_initialize: impl Fn(&Value) -> Act + Send + Sync + 'static) -> ClientError {
    let companion = StandIn::start(true, move |message| match message["method"].as_str() {
        Some("initialize") => on_initialize(message),
        _ => usual(message, |_, _| Vec::new()),
    })
    .await;
    let address = companion.address().with_timeouts(SHORT, SHORT);
    let connecting = timeout(SOON, Client::connect(address)).await;
    connecting.expect("it ends").expect_err("it fails")
}

#[tokio::test]
async fn every_text_comes_back_from_pillion_byte_for_byte() {
    let companion = Accepting::start();
    let environment = companion.environment();
    let finding = find(&Situation {
        release: Release::newest(Dialect::ClaudeCode),
        environment: &environment,
        current_dir: environment.current_dir(),
        chain: &[],
        in_container: false,
    });
    let address = finding.dials[0].address();
    let (client, mut updates) = Client::connect(address).await.unwrap();
    assert!(client.can_diff(), "{:?}", client.server());
    // The first may come before the file is focused.
    let open = loop {
        match timeout(SOON, updates.next()).await.unwrap() {
            Some(Update::Selection(selection)) => match selection.path {
                Some(path) => break path,
                None => continue,
            },
            other => panic!("the open file is told: {other:?}"),
        }
    };
    assert!(open.ends_with("open.md"));
    let path = environment.current_dir().join("new.txt");
    for (name, text) in texts::texts(20_000_000) {
        let answer = client.open_diff(path.to_str().unwrap(), &text, name).await;
        let Answer::Saved(saved) = answer.unwrap() else {
            panic!("{name} is not accepted")
        };
        texts::assert_same(&saved, &text, name, "that came back");
        // As the program does after each answer.
        client.close_tab(name).await.unwrap();
        client.close_tab(name).await.unwrap();
    }
    assert_eq!(client.get_diagnostics(None).await.unwrap(), []);
    let all = client.call(CLOSE_ALL_DIFF_TABS, json!({})).await;
    assert_eq!(all.unwrap(), ["CLOSED_0_DIFF_TABS"]);
    client.disconnect().await;
}

#[tokio::test]
async fn the_handshake_is_that_of_the_program() {
    let companion = StandIn::start(true, |message| usual(message, |_, _| Vec::new())).await;
    let client = connected(&companion).await;
    assert_eq!(client.server().name, "stand-in");
    assert_eq!(client.server().tools, ["openDiff"]);
    let [initialize] = &companion.heard("initialize")[..] else {
        panic!("it introduces itself once")
    };
    assert_eq!(initialize["params"]["protocolVersion"], "2025-11-25");
    assert_eq!(companion.heard("notifications/initialized").len(), 1);
    let connected = &companion.heard("ide_connected")[0];
    assert_eq!(connected["params"]["pid"], std::process::id());
    timeout(SOON, client.disconnect()).await.unwrap();
}

#[tokio::test]
async fn a_client_can_have_the_name_of_another() {
    let companion = StandIn::start(true, |message| usual(message, |_, _| Vec::new())).await;
    let client = Client::connect_as(companion.address(), "opencode").await;
    client.unwrap().0.disconnect().await;
    let initialize = &companion.heard("initialize")[0];
    assert_eq!(initialize["params"]["clientInfo"]["name"], "opencode");
}

#[tokio::test]
async fn a_decision_is_waited_for_and_is_whatever_the_companion_says() {
    let companion = StandIn::start(true, |message| {
        usual(message, |tool, arguments| {
            assert_eq!(tool, "openDiff");
            assert_eq!(arguments["old_file_path"], arguments["new_file_path"]);
            let contents = arguments["new_file_contents"].as_str().unwrap();
            match arguments["tab_name"].as_str().unwrap() {
                "yes" => vec!["FILE_SAVED".to_owned(), format!("{contents}!")],
                "no" => vec!["DIFF_REJECTED".to_owned(), "yes".to_owned()],
                "closed" => vec!["TAB_CLOSED".to_owned()],
                "odd" => vec!["FILE_SAVED".to_owned()],
                "never" => vec![],
                other => panic!("{other}"),
            }
        })
    })
    .await;
    let client = connected(&companion).await;
    let open = |name| client.open_diff("/a", "text", name);
    // One that is not answered holds up no other.
    let mut never = Box::pin(open("never"));
    assert!(timeout(SHORT, &mut never).await.is_err());
    assert_eq!(open("yes").await.unwrap(), Answer::Saved("text!".into()));
    assert_eq!(open("no").await.unwrap(), Answer::Rejected);
    assert_eq!(open("closed").await.unwrap(), Answer::TabClosed);
    let odd = open("odd").await.unwrap_err();
    assert!(matches!(odd, ClientError::Protocol(_)), "{odd:?}");
    assert!(timeout(SHORT, never).await.is_err());
}

#[tokio::test]
async fn everything_ends_with_the_connection() {
    let companion = StandIn::start(true, |message| {
        let tool = &message["params"]["name"];
        match tool.as_str() {
            Some("close_tab") => Act::Cut,
            _ => usual(message, |_, _| Vec::new()),
        }
    })
    .await;
    let connecting = Client::connect(companion.address()).await;
    let (client, mut updates) = connecting.unwrap();
    let (proposed, closed, told) = timeout(SOON, async {
        tokio::join!(
            client.open_diff("/a", "text", "x"),
            client.close_tab("x"),
            updates.next(),
        )
    })
    .await
    .unwrap();
    assert!(matches!(proposed, Err(ClientError::Lost)), "{proposed:?}");
    assert!(matches!(closed, Err(ClientError::Lost)), "{closed:?}");
    assert_eq!(told, None);
    let later = client.open_diff("/a", "text", "x").await;
    assert!(matches!(later, Err(ClientError::Lost)), "{later:?}");
}

#[tokio::test]
async fn a_tool_that_fails_says_why_and_one_that_is_silent_is_given_up() {
    let companion = StandIn::start(true, |message| match message["params"]["name"].as_str() {
        Some("close_tab") => {
            let content = json!([{"type": "text", "text": "no such tab"}]);
            Act::Send(vec![answer(
                message,
                &json!({"isError": true, "content": content}),
            )])
        }
        Some("closeAllDiffTabs") => {
            let error = json!({"code": -32601, "message": "no such tool"});
            let id = &message["id"];
            Act::Send(vec![json!({"id": id, "error": error}).to_string()])
        }
        _ => usual(message, |_, _| Vec::new()),
    })
    .await;
    let address = companion.address().with_timeouts(SOON, SHORT);
    let (client, _updates) = Client::connect(address).await.unwrap();
    let closed = client.close_tab("x").await.unwrap_err();
    assert_eq!(closed.to_string(), "no such tab");
    let all = client
        .call(CLOSE_ALL_DIFF_TABS, json!({}))
        .await
        .unwrap_err();
    assert!(all.to_string().contains("no such tool"), "{all}");
    let diagnostics = client.get_diagnostics(None).await.unwrap_err();
    assert!(matches!(diagnostics, ClientError::Silent(_)));
}

#[tokio::test]
async fn diagnostics_are_read() {
    let range = json!({"start": {"line": 1, "character": 2}, "end": {"line": 1, "character": 3}});
    let problem = json!({"message": "m", "severity": "Warning", "range": range, "code": 7});
    let companion = StandIn::start(true, move |message| {
        usual(message, |_, arguments| {
            let known = json!([{"uri": arguments["uri"], "diagnostics": [problem]}]);
            let unknown = "[]".to_owned();
            vec![if arguments["uri"].is_string() {
                known.to_string()
            } else {
                unknown
            }]
        })
    })
    .await;
    let client = connected(&companion).await;
    assert_eq!(client.get_diagnostics(None).await.unwrap(), []);
    let files = client.get_diagnostics(Some("file:///a")).await.unwrap();
    assert_eq!(files[0].uri, "file:///a");
    assert_eq!(files[0].diagnostics[0].severity, Severity::Warning);
    assert_eq!(files[0].diagnostics[0].range.start.line, 1);
}

#[tokio::test]
async fn what_the_companion_tells_comes_in_its_order_and_its_requests_are_answered() {
    let companion = StandIn::start(true, |message| match message["method"].as_str() {
        Some("notifications/initialized") => {
            let at = json!({"line": 3, "character": 0});
            let selection = json!({"start": at, "end": at, "isEmpty": true});
            let selected = json!({"text": "", "filePath": "/a", "selection": selection});
            Act::Send(vec![
                notification("selection_changed", &selected),
                "no JSON".to_owned(),
                json!({"id": "p", "method": "ping"}).to_string(),
                notification(
                    "at_mentioned",
                    &json!({"filePath": "/b", "lineStart": 0, "lineEnd": 2}),
                ),
            ])
        }
        _ => usual(message, |_, _| Vec::new()),
    })
    .await;
    let connecting = Client::connect(companion.address()).await;
    let (_client, mut updates) = connecting.unwrap();
    let Some(Update::Selection(selection)) = updates.next().await else {
        panic!("the selection comes first")
    };
    assert_eq!(selection.path.as_deref(), Some("/a"));
    assert_eq!(selection.range.start.line, 3);
    let Some(Update::Mention(mention)) = updates.next().await else {
        panic!("the mention comes next")
    };
    assert_eq!(
        (mention.path.as_str(), mention.lines()),
        ("/b", Some((0, 2)))
    );
    // A message without a method is the answer to the ping.
    let answered = || {
        let answers = companion.answers();
        answers
            .iter()
            .any(|answer| answer["id"] == "p" && answer["result"].is_object())
    };
    timeout(SOON, async {
        while !answered() {
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
    })
    .await
    .unwrap();
}

#[tokio::test]
async fn a_companion_that_is_none_is_told_from_one_that_refuses() {
    let companion = StandIn::start(true, |message| usual(message, |_, _| Vec::new())).await;
    for token in [None, Some(Token::from("another".to_owned()))] {
        let address = Address::new(companion.port).with_token(token);
        let error = Client::connect(address).await.unwrap_err();
        assert!(matches!(error, ClientError::Refused(401)), "{error:?}");
    }
    let unnamed = StandIn::start(false, |message| usual(message, |_, _| Vec::new())).await;
    let error = Client::connect(unnamed.address()).await.unwrap_err();
    assert!(matches!(error, ClientError::Protocol(_)), "{error:?}");
    let http = crate::server::Server::start(crate::server::usual).await;
    let address = http.address().with_timeouts(SHORT, SHORT);
    let error = Client::connect(address).await.unwrap_err();
    let is_none = matches!(error, ClientError::Silent(_) | ClientError::Protocol(_));
    assert!(is_none, "{error:?}");
    let nobody = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let port = nobody.local_addr().unwrap().port();
    drop(nobody);
    let error = Client::connect(Address::new(port)).await.unwrap_err();
    assert!(matches!(error, ClientError::Unreachable(_)), "{error:?}");
}

#[tokio::test]
async fn a_handshake_that_is_not_one_fails_and_ends() {
    let silent = refused(|_| Act::Send(Vec::new())).await;
    assert!(matches!(silent, ClientError::Silent(_)), "{silent:?}");
    let cut = refused(|_| Act::Cut).await;
    assert!(matches!(cut, ClientError::Unreachable(_)), "{cut:?}");
    let odd = |message: &Value| {
        let result = json!({"protocolVersion": "1999-01-01", "capabilities": {}});
        Act::Send(vec![answer(message, &result)])
    };
    let old = refused(odd).await;
    assert!(matches!(old, ClientError::Protocol(_)), "{old:?}");
    let others = refused(|_| Act::Send(vec![answer(&json!({"id": 77}), &json!({}))])).await;
    assert!(matches!(others, ClientError::Silent(_)), "{others:?}");
}

#[tokio::test]
async fn bytes_that_are_no_frames_end_the_connection() {
    for bytes in [
        vec![0xff; 20],
        // A text of more than a message may be.
        b"\x81\x7f\x00\x00\x00\x00\x7f\xff\xff\xff".to_vec(),
        // A text that is no Unicode.
        b"\x81\x02\xff\xff".to_vec(),
        // A masked frame, which no server sends.
        b"\x81\x81abcdx".to_vec(),
        b"HTTP/1.1 200 OK\r\n\r\n".repeat(10),
    ] {
        let shown = bytes.escape_ascii().to_string();
        let error = refused(move |_| Act::Raw(bytes.clone())).await;
        assert!(
            matches!(error, ClientError::Unreachable(_)),
            "{shown}: {error:?}"
        );
    }
}

#[tokio::test]
async fn many_values_are_no_message_and_a_binary_frame_is_none() {
    let many = format!("[{}0]", "0,".repeat(300_000));
    let many = refused(move |message| {
        let result = json!({"protocolVersion": "2025-11-25"});
        let text = answer(message, &result).replacen('{', &format!("{{\"x\":{many},"), 1);
        Act::Send(vec![text])
    })
    .await;
    assert!(matches!(many, ClientError::Silent(_)), "{many:?}");
    // {"id":1,…} as bytes.
    let binary = refused(|_| Act::Raw(b"\x82\x12{\"id\":1,\"result\":1}".to_vec())).await;
    let is_none = matches!(binary, ClientError::Silent(_) | ClientError::Unreachable(_));
    assert!(is_none, "{binary:?}");
}
