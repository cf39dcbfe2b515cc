//! Texts that something between the agent and the editor may spoil: each must come back from an
//! acceptance byte for byte. Line ends are the agent's own matter (it makes them the file's).

use pillion_protocol::claude::tools::FILE_SAVED;

use super::client::Client;
use super::diffs::{is_rejection, saved};
use super::scenario::accept_text;
use crate::check::checks;
use crate::reply::ToolReply;
use crate::rule::{Finding, Problem, blocked, broken};
use crate::texts::{JSON, MARKUP, UNICODE, lines, same_bytes, time_factor};

checks! {
    Texts:
    Must "K6-empty" => empty in client,
        "An empty text that is accepted comes back, or counts as rejected",
        "Without the second block the agent's own question stays.";
    Must "K6-no-newline" => comes_back("one\ntwo".into()) in client,
        "A text without a final newline comes back",
        "The agent writes a newline that nobody saw.";
    Must "K6-newlines" => comes_back("one\n\n\n".into()) in client,
        "A text that ends with several newlines comes back",
        "The agent writes the file without them.";
    Must "K6-spaces" => comes_back("\tone  \n    two\t\n \n".into()) in client,
        "Tabs and trailing spaces come back",
        "The agent writes the file without them.";
    Must "K6-crlf" => comes_back("one\r\ntwo\r\n".into()) in client,
        "Lines that end with CRLF come back, with CRLF or LF",
        "The agent writes lines run together, or two CRs before each LF.";
    Should "K6-crlf-kept" => crlf_kept in client,
        "CRLF in a new file comes back as CRLF",
        "The agent writes a new file as it comes back: with line endings other than those proposed.";
    Must "K6-mixed" => comes_back("one\r\ntwo\nthree\rfour\n\r\nfive\n".into()) in client,
        "LF, CRLF and lone CR in one text come back, CRLF as CRLF or LF",
        "The agent writes lines that nobody saw.";
    Must "K6-cr" => comes_back("one\rtwo\nthree\r".into()) in client,
        "Lone CR comes back",
        "The agent writes lines that nobody saw.";
    Must "K6-bom" => comes_back("\u{feff}one\ntwo\n".into()) in client,
        "A byte order mark comes back",
        "The agent writes the file without it.";
    Must "K6-separators" => comes_back("one\u{2028}two\u{2029}three\u{85}four\n".into()) in client,
        "U+2028, U+2029 and U+0085, which some programs treat as line endings, come back",
        "The agent writes lines that nobody saw.";
    Must "K6-unicode" => comes_back(UNICODE.into()) in client,
        "Emoji, combining characters and characters outside the Basic Multilingual Plane come back",
        "The agent writes other characters.";
    Must "K6-nul" => comes_back("one\0two\n\u{1b}[31m\u{7f}\u{1}\n".into()) in client,
        "NUL and other control characters come back",
        "The agent writes the file without them, or cut off.";
    Must "K6-json" => comes_back(JSON.into()) in client,
        "A text that is itself JSON comes back",
        "The agent writes a part of it.";
    Must "K6-markup" => comes_back(MARKUP.into()) in client,
        "Markup, escapes and placeholders come back",
        "The agent writes what they stand for.";
    Must "K6-long-line" => comes_back("a line without an end, \"\\\" ü ".repeat(180_000)) in client,
        "A line of 5 MB comes back",
        "The agent writes a part of it.";
    Must "K6-5mb" => comes_back(lines(5_000_000)) in client,
        "A text of 5 MB comes back",
        "The agent writes a part of it, or the connection ends.";
}

/// The text that an answer accepts. That it is an acceptance at all is another rule's matter.
fn text_of(reply: &ToolReply) -> Result<&str, Problem> {
    saved(reply).map_err(|problem| problem.due_to(&["K5-accepted"]))
}

async fn empty(client: &mut Client<'_>) -> Finding {
    let reply = accept_text(client, "").await?;
    if is_rejection(&reply) {
        return Ok(reply.shown());
    }
    match text_of(&reply)? {
        "" => Ok(FILE_SAVED.to_owned()),
        _ => reply.wrong(),
    }
}

/// The text that an acceptance of this one is answered with.
async fn accepted(client: &mut Client<'_>, text: &str) -> Result<String, Problem> {
    client.limit *= time_factor(text);
    let reply = accept_text(client, text).await?;
    text_of(&reply).map(str::to_owned)
}

async fn comes_back(client: &mut Client<'_>, text: String) -> Finding {
    let saved = accepted(client, &text).await?;
    let normalised = |text: &str| text.replace("\r\n", "\n");
    same_bytes(&normalised(&saved), &normalised(&text))
}

async fn crlf_kept(client: &mut Client<'_>) -> Finding {
    let text = "one\r\ntwo\r\nthree\r\n";
    match accepted(client, text).await? {
        same if same == text => Ok("CRLF".to_owned()),
        lf if lf == text.replace("\r\n", "\n") => broken("it comes back with LF"),
        _ => blocked(&["K6-crlf"], "another text comes back"),
    }
}
