//! Programs that speak to Vim's server, or as Vim to Pillion, as an agent's shell can: what they type, call and say decides nothing.

use std::thread::sleep;

use pillion_testkit::{IN_THE_PERSONS_NAME, VimSetup, VimVersion, each_vim, vim_command};
use pillion_text::fingerprint;
use pillion_view::HELD;
use serde_json::json;

use crate::review::{PROPOSED, Review};

/// The person's maps.
const VIMRC: &str = "nnoremap ,a :PillionAccept<CR>\nnnoremap ,b <Cmd>PillionAccept<CR>\nnmap ,c ,a\nnnoremap ,d :w<CR>";

/// A Vim that listens, and what asks it. Debian's older one cannot listen.
fn served() -> (Review, VimSetup) {
    let mut client = None;
    let review = Review::set_up(VimVersion::V9_2, |setup| {
        let setup = setup.vimrc(VIMRC).server();
        client = Some(setup.clone());
        setup
    });
    (review, client.expect("it was set up"))
}

#[test]
#[ignore = "needs Vim: cargo xtask test"]
fn what_the_server_is_asked_to_type_or_to_call_decides_nothing_in_vim_9_2() {
    let (mut review, client) = served();
    review.propose(PROPOSED);
    let typed = "only what you type for this diff decides";
    let others = "another program types or calls this";
    let mut refused = |how, what: &str, said| {
        review.vim().command("messages clear");
        client.by_client(&[how, what]);
        review.vim().wait_said(said);
        review.is_pending(what);
        sleep(HELD);
    };
    for (how, what, said) in [
        ("--remote-send", ":PillionAccept<CR>", typed),
        ("--remote-send", ":PillionReject<CR>", typed),
        ("--remote-send", ":w<CR>", "type :w in it"),
        ("--remote-expr", "execute('PillionAccept')", typed),
        ("--remote-expr", "execute('PillionReject')", typed),
    ] {
        refused(how, what, said);
    }
    for (name, words) in IN_THE_PERSONS_NAME {
        let command = vim_command(name, words);
        refused("--remote-send", &format!(":{command}<CR>"), others);
        refused(
            "--remote-expr",
            &format!("execute('{command}', '')"),
            others,
        );
    }
    // Begun by one, and completed by the other.
    review.vim().command("messages clear");
    client.by_client(&["--remote-send", ":PillionAccept"]);
    let is_begun = "getcmdline() ==# 'PillionAccept'";
    review.vim().wait_until("a command line", is_begun);
    review.vim().input("<CR>");
    review.vim().wait_said(typed);
    review.vim().command("messages clear");
    review.vim().input_until(":", "mode() ==# 'c'");
    client.by_client(&["--remote-send", "PillionAccept<CR>"]);
    review.vim().wait_said(typed);
    review.is_pending("a command line");
}

#[test]
#[ignore = "needs Vim: cargo xtask test"]
fn in_a_vim_9_2_that_listens_the_person_decides() {
    let (mut review, _) = served();
    for keys in [":w<CR>", ":PillionAccept<CR>", ",a", ",b", ",c", ",d", "ZZ"] {
        review.propose(PROPOSED);
        review.vim().input(keys);
        review.is_accepted(PROPOSED);
    }
    review.vim().command("messages clear");
    let [.., (send, _)] = IN_THE_PERSONS_NAME;
    review
        .vim()
        .input(&format!(":{}<CR>", vim_command(send, "")));
    review.vim().wait_said("note");
}

/// Vim's terminals and jobs have open what Vim has.
#[each_vim]
fn what_is_said_as_vim_in_a_terminal_decides_nothing(version: VimVersion) {
    // It opens nothing, and writes into all that Vim has had since it was set up.
    const SAYS: &str = "for fd in /proc/$$/fd/*; do \
        n=${fd##*/}; [ $n -gt 2 ] || continue; \
        readlink $fd | grep -qxFf before || cat said >&$n; \
        done 2>errors; echo done >done";
    const BEFORE: &str = "call system('readlink /proc/$PPID/fd/* >before')";
    let mut review = Review::with(version, BEFORE);
    let seen = json!({"drawnMs": 5000, "typed": true, "pausesMs": [3000], "hunks": [0, 1]});
    let accept = json!({"id": 1, "revision": 1, "decision": "accept", "seen": seen});
    let methods = [
        ("pillion/decide", accept),
        ("shutdown", json!(null)),
        ("exit", json!(null)),
    ];
    let said = methods.map(|(method, params)| {
        let message = json!({"jsonrpc": "2.0", "id": 9000, "method": method, "params": params});
        let text = message.to_string();
        format!("Content-Length: {}\r\n\r\n{text}", text.len())
    });
    review.world.home.file("said", said.concat());
    review.propose(PROPOSED);
    for start in ["term_start", "job_start"] {
        let start = format!("call {start}(['bash', '-c', '{SAYS}'])");
        review.vim().command(&start);
        let is_done = "filereadable('done') && delete('done') == 0";
        review.vim().wait_until("all said", is_done);
        review.is_pending(&start);
    }
    review
        .vim()
        .command("execute bufwinnr('^pillion://') 'wincmd w'");
    review.vim().input(":PillionAccept<CR>");
    review.is_accepted(PROPOSED);
}

/// What one of these has read is missing for Vim: pieces of two messages are none.
#[each_vim]
fn what_another_program_has_read_of_a_message_is_missed(version: VimVersion) {
    const MISSED: &str = "another program has read a part of what was said to Vim";
    let review = Review::new(version);
    let head = |text: &str| format!("Content-Length: {}\r\nContent-Sum: ", text.len());
    let summed = |text: &str| {
        format!(
            "{}{}\r\n\r\n{text}",
            head(text),
            fingerprint::hash(text.as_bytes())
        )
    };
    let (one, other) = (r#"{"a": "é", "b": 1}"#, r#"{"a": "è", "b": 2}"#);
    let spliced = summed(one).replace("b\": 1}", "b\": 2}");
    let whole = summed(one) + &summed(other);
    let unsummed = format!("Content-Length: {}\r\n\r\n{one}", one.len());
    let torn = format!("{}\r\n\r\n{one}", head(one));
    let (begun, rest) = whole.split_at(30);
    for (is_summed, pieces, expected) in [
        (true, vec![&*whole], "2"),
        (true, vec![begun, rest], "2"),
        (true, vec![&*spliced], MISSED),
        (true, vec![&*unsummed], MISSED),
        (true, vec![&*torn], MISSED),
        (true, vec![rest], "a message without Content-Length"),
        (false, vec![&*unsummed], "1"),
        (false, vec![&*spliced], "1"),
    ] {
        let pieces = json!(pieces);
        let lines = json!([
            "try",
            format!(
                "let g:reader = pillion#framing#Reader({})",
                u8::from(is_summed)
            ),
            "let g:read = 0",
            format!("for piece in json_decode('{pieces}')"),
            "let g:read += len(pillion#framing#Read(g:reader, piece))",
            "endfor",
            "echo g:read",
            "catch",
            "echo v:exception",
            "endtry",
        ]);
        let said = review.vim().get::<String>(&format!("execute({lines})"));
        assert!(said.ends_with(expected), "{pieces}: {said}");
    }
}
