//! Texts that something between the agent and the editor may spoil: each must come back from an
//! acceptance byte for byte. Line ends are the agent's own matter (it makes them the file's).

use pillion_protocol::claude::tools::FILE_SAVED;

use super::client::{Client, with_client};
use super::diffs::{blocks_of, is_rejection, saved};
use super::scenario::accept_text;
use crate::check::checks;
use crate::rule::{Finding, blocked, broken};
use crate::test_context::TestContext;
use crate::texts::{JSON, LONG, MARKUP, UNICODE, difference, lines};

checks! {
    Texts:
    Must "K6-empty" => empty,
        "An empty text that is accepted comes back, or counts as rejected",
        "Without the second block the agent's own question stays.";
    Must "K6-no-newline" => comes_back("one\ntwo".into()),
        "A text without a final newline comes back",
        "The agent writes a newline that nobody saw.";
    Must "K6-newlines" => comes_back("one\n\n\n".into()),
        "A text that ends with several newlines comes back",
        "The agent writes the file without them.";
    Must "K6-spaces" => comes_back("\tone  \n    two\t\n \n".into()),
        "Tabs and trailing spaces come back",
        "The agent writes the file without them.";
    Must "K6-crlf" => comes_back("one\r\ntwo\r\n".into()),
        "Lines that end with CRLF come back, with CRLF or LF",
        "The agent writes lines run together, or two CRs before each LF.";
    Should "K6-crlf-kept" => crlf_kept,
        "CRLF in a new file comes back as CRLF",
        "The agent writes a new file as it comes back: with line endings other than those proposed.";
    Must "K6-mixed" => comes_back("one\r\ntwo\nthree\rfour\n\r\nfive\n".into()),
        "LF, CRLF and lone CR in one text come back, CRLF as CRLF or LF",
        "The agent writes lines that nobody saw.";
    Must "K6-cr" => comes_back("one\rtwo\nthree\r".into()),
        "Lone CR comes back",
        "The agent writes lines that nobody saw.";
    Must "K6-bom" => comes_back("\u{feff}one\ntwo\n".into()),
        "A byte order mark comes back",
        "The agent writes the file without it.";
    Must "K6-separators" => comes_back("one\u{2028}two\u{2029}three\u{85}four\n".into()),
        "U+2028, U+2029 and U+0085, which some programs treat as line endings, come back",
        "The agent writes lines that nobody saw.";
    Must "K6-unicode" => comes_back(UNICODE.into()),
        "Emoji, combining characters and characters outside the Basic Multilingual Plane come back",
        "The agent writes other characters.";
    Must "K6-nul" => comes_back("one\0two\n\u{1b}[31m\u{7f}\u{1}\n".into()),
        "NUL and other control characters come back",
        "The agent writes the file without them, or cut off.";
    Must "K6-json" => comes_back(JSON.into()),
        "A text that is itself JSON comes back",
        "The agent writes a part of it.";
    Must "K6-markup" => comes_back(MARKUP.into()),
        "Markup, escapes and placeholders come back",
        "The agent writes what they stand for.";
    Must "K6-long-line" => comes_back("a line without an end, \"\\\" ü ".repeat(180_000)),
        "A line of 5 MB comes back",
        "The agent writes a part of it.";
    Must "K6-5mb" => comes_back(lines(5_000_000)),
        "A text of 5 MB comes back",
        "The agent writes a part of it, or the connection ends.";
}

async fn empty(test: &TestContext) -> Finding {
    with_client(test, async |client: &mut Client<'_>| {
        let reply = accept_text(client, "").await?;
        match blocks_of(&reply).as_deref() {
            Some([FILE_SAVED, ""]) => Ok(FILE_SAVED.to_owned()),
            _ if is_rejection(&reply) => Ok(reply.shown()),
            _ => blocked(
                &["K5-accepted"],
                format!("it is answered with {}", reply.shown()),
            ),
        }
    })
    .await
}

/// The text that an acceptance of this one is answered with.
async fn accepted(test: &TestContext, text: &str, check: impl Fn(&str) -> Finding) -> Finding {
    with_client(test, async |client: &mut Client<'_>| {
        // A slow machine is not a flaw of the companion's.
        client.limit *= if text.len() > LONG { 8 } else { 1 };
        let reply = accept_text(client, text).await?;
        match saved(&reply) {
            Ok(saved) => check(saved),
            // What is not an acceptance at all is one rule's matter.
            Err(_) => blocked(
                &["K5-accepted"],
                format!("it is answered with {}", reply.shown()),
            ),
        }
    })
    .await
}

async fn comes_back(test: &TestContext, text: String) -> Finding {
    let normalised = |text: &str| text.replace("\r\n", "\n");
    accepted(test, &text, |saved| {
        match difference(&normalised(saved), &normalised(&text)) {
            None => Ok(format!("{} bytes", saved.len())),
            Some(difference) => broken(difference),
        }
    })
    .await
}

async fn crlf_kept(test: &TestContext) -> Finding {
    let text = "one\r\ntwo\r\nthree\r\n";
    let lf = text.replace("\r\n", "\n");
    accepted(test, text, |saved| match saved {
        _ if saved == text => Ok("CRLF".to_owned()),
        _ if saved == lf => broken("it comes back with LF"),
        _ => blocked(&["K6-crlf"], "another text comes back"),
    })
    .await
}
