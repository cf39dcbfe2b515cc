//! `pillion web`, without a browser: who is let in, and what comes of what a page asks.

use std::fs;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
#[cfg(target_os = "linux")]
use std::os::unix::fs::PermissionsExt;
#[cfg(target_os = "linux")]
use std::path::Path;
use std::process::{Child, Stdio};
use std::time::{Duration, Instant};

use crossbeam_channel::{Receiver, unbounded};
use pillion_protocol::Dialect;
use pillion_testkit::{SOON, TestAgent, kill_all_of, pause};
use pillion_view::LOOK;
use serde_json::{Value, json};

use crate::diff::pending;
use crate::hook::{Hook, edit};
use crate::sandbox::{Sandbox, ended, signal};

/// A person's pause between two decisions, longer than that of a held key.
const RELEASED: Duration = Duration::from_millis(200);

/// The facts of somebody who has looked for long enough.
fn looked() -> Value {
    json!({"drawnMs": 5000, "typed": true, "pausesMs": [5000]})
}

/// What a browser has that was let in: the cookie, and the key that the page keeps.
#[derive(Debug, Default)]
struct Secrets {
    cookie: String,
    key: String,
}

impl Secrets {
    /// Those of this answer: its head and its body.
    fn new(head: &str, body: &str) -> Self {
        let cookie = { head.lines() }.find_map(|line| line.strip_prefix("set-cookie: "));
        let cookie = cookie.unwrap();
        for part in ["HttpOnly", "SameSite=Strict", "Path=/"] {
            let part = part.to_ascii_lowercase();
            assert!(cookie.to_ascii_lowercase().contains(&part), "{cookie}");
        }
        let body: Value = serde_json::from_str(body).unwrap();
        Self {
            cookie: cookie.split(';').next().unwrap().to_owned(),
            key: body["key"].as_str().unwrap().to_owned(),
        }
    }

    fn headers(&self) -> [(&str, &str); 2] {
        [("Cookie", &self.cookie), ("X-Pillion-Key", &self.key)]
    }
}

struct Web {
    sandbox: Sandbox,
    child: Child,
    address: String,
    secrets: Secrets,
    events: Option<TcpStream>,
}

/// An answer: its status, its head and its body.
struct Answer {
    status: u16,
    head: String,
    body: String,
}

impl Answer {
    fn json(&self) -> Value {
        serde_json::from_str(&self.body)
            .unwrap_or_else(|_| panic!("{} {:?}", self.status, self.body))
    }

    #[track_caller]
    fn expect(self, status: u16) -> Self {
        assert_eq!(self.status, status, "{}\n{}", self.head, self.body);
        self
    }
}

/// The connection over which a tab hears events.
fn listen(port: &str, Secrets { cookie, key }: &Secrets, name: &str) -> TcpStream {
    let mut stream = TcpStream::connect(format!("127.0.0.1:{port}")).unwrap();
    let head = format!(
        "GET /events?tab={name} HTTP/1.1\r\nHost: localhost:{port}\r\nCookie: {cookie}\r\nX-Pillion-Key: {key}\r\n\r\n"
    );
    stream.write_all(head.as_bytes()).unwrap();
    stream
}

/// One request over a connection of its own.
fn request(port: &str, method: &str, path: &str, headers: &[(&str, &str)], body: &str) -> Answer {
    let mut stream = TcpStream::connect(format!("127.0.0.1:{port}")).unwrap();
    let mut head = format!("{method} {path} HTTP/1.1\r\nConnection: close\r\n");
    if headers.iter().all(|(name, _)| *name != "Host") {
        head += &format!("Host: 127.0.0.1:{port}\r\n");
    }
    for (name, value) in headers {
        head += &format!("{name}: {value}\r\n");
    }
    if method != "GET" && headers.iter().all(|(name, _)| *name != "Content-Length") {
        head += &format!("Content-Length: {}\r\n", body.len());
    }
    // Whoever is refused early closes.
    let _ = stream.write_all(format!("{head}\r\n{body}").as_bytes());
    let mut answer = Vec::new();
    let _ = stream.read_to_end(&mut answer);
    let answer = String::from_utf8_lossy(&answer);
    let (head, body) = answer.split_once("\r\n\r\n").unwrap_or((&answer, ""));
    let status = head.split(' ').nth(1).and_then(|it| it.parse().ok());
    Answer {
        status: status.unwrap_or_default(),
        head: head.to_ascii_lowercase(),
        body: body.to_owned(),
    }
}

impl Web {
    /// The page, opened by whoever has its token.
    fn new() -> Self {
        let mut web = Self::closed(Sandbox::new());
        web.secrets = web.open();
        web
    }

    fn closed(sandbox: Sandbox) -> Self {
        let (child, address) = start(&sandbox);
        let secrets = Secrets::default();
        let events = None;
        Self {
            sandbox,
            child,
            address,
            secrets,
            events,
        }
    }

    fn port(&self) -> &str {
        let port = self.address.strip_prefix("http://127.0.0.1:").unwrap();
        port.split('/').next().unwrap()
    }

    fn token(&self) -> String {
        let (_, token) = self.address.split_once('#').unwrap();
        json!({"token": token}).to_string()
    }

    /// Trades the token for the secrets.
    fn open(&self) -> Secrets {
        let answer = self.bare("POST", "/session", &[JSON], &self.token());
        let answer = answer.expect(200);
        Secrets::new(&answer.head, &answer.body)
    }

    fn bare(&self, method: &str, path: &str, headers: &[(&str, &str)], body: &str) -> Answer {
        request(self.port(), method, path, headers, body)
    }

    fn get(&self, path: &str) -> Answer {
        let [cookie, key] = self.secrets.headers();
        self.bare("GET", path, &[cookie, key, TAB], "")
    }

    fn post(&self, path: &str, body: &Value) -> Answer {
        let [cookie, key] = self.secrets.headers();
        self.bare("POST", path, &[cookie, key, TAB, JSON], &body.to_string())
    }

    /// The events of a tab from now on, as `name data`.
    fn tab(&mut self, name: &str) -> Receiver<(String, Value)> {
        let stream = listen(self.port(), &self.secrets, name);
        let (told, events) = unbounded();
        let lines = BufReader::new(stream.try_clone().unwrap()).lines();
        std::thread::spawn(move || {
            let mut name = String::new();
            for line in lines.map_while(Result::ok) {
                if let Some(event) = line.strip_prefix("event: ") {
                    event.clone_into(&mut name);
                } else if let Some(data) = line.strip_prefix("data: ") {
                    let data = serde_json::from_str(data).unwrap();
                    if told.send((name.clone(), data)).is_err() {
                        return;
                    }
                }
            }
        });
        self.events = Some(stream);
        next(&events, "all", |_| true);
        events
    }

    /// The browser closes all tabs.
    fn close_tabs(&mut self) {
        if let Some(stream) = self.events.take() {
            stream.shutdown(std::net::Shutdown::Both).unwrap();
        }
    }

    /// A `pillion diff` of a file, once a tab shows it.
    fn propose(
        &self,
        events: &Receiver<(String, Value)>,
        file: &str,
        text: &str,
    ) -> (Child, Value) {
        let args = ["diff", "--json", file];
        let mut child = self
            .sandbox
            .command(args)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        child
            .stdin
            .take()
            .unwrap()
            .write_all(text.as_bytes())
            .unwrap();
        let diff = next(events, "diff", |diff| {
            diff["shown"] == file && diff["isComparing"] == false
        });
        (child, diff)
    }

    fn see_all(&self, diff: &Value) {
        let lines = [0, 1_000_000];
        let seen = json!({"g": diff["g"], "left": [lines], "right": [lines]});
        let path = format!("/diffs/{}/seen", diff["id"]);
        assert_eq!(self.post(&path, &seen).expect(200).json()["unseen"], 0);
    }

    fn decide(&self, diff: &Value, more: Value) -> Answer {
        let mut body = json!({"g": diff["g"], "revision": diff["revision"], "seen": looked()});
        for (name, value) in more.as_object().unwrap() {
            body[name] = value.clone();
        }
        self.post(&format!("/diffs/{}/decide", diff["id"]), &body)
    }
}

impl Drop for Web {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
        kill_all_of(&self.sandbox.home);
    }
}

const JSON: (&str, &str) = ("Content-Type", "application/json");
const TAB: (&str, &str) = ("X-Pillion-Tab", "one");

/// Starts a page; it and its address.
fn start(sandbox: &Sandbox) -> (Child, String) {
    let mut web = sandbox.command(["web", "--no-open"]);
    let mut child = web
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut address = String::new();
    BufReader::new(child.stdout.as_mut().unwrap())
        .read_line(&mut address)
        .unwrap();
    assert!(address.starts_with("http://127.0.0.1:"), "{address}");
    (child, address.trim_end().to_owned())
}

/// The next event of this name that is as it should be.
#[track_caller]
fn next(events: &Receiver<(String, Value)>, name: &str, is_it: impl Fn(&Value) -> bool) -> Value {
    let until = Instant::now() + SOON;
    loop {
        let (found, data) = events.recv_deadline(until).expect("it comes");
        if found == name && is_it(&data) {
            return data;
        }
    }
}

fn answer(child: Child) -> (Option<i32>, Value) {
    let output = child.wait_with_output().unwrap();
    let said = String::from_utf8_lossy(&output.stderr);
    let json = serde_json::from_slice(&output.stdout).unwrap_or_else(|_| panic!("{said}"));
    (output.status.code(), json)
}

#[test]
fn the_door_of_the_page_lets_in_its_own_page_and_nobody_else() {
    let web = Web::closed(Sandbox::new());
    let page = web.bare("GET", "/", &[], "").expect(200);
    for header in [
        "cache-control:",
        "x-content-type-options: nosniff",
        "referrer-policy: no-referrer",
        "cross-origin-opener-policy: same-origin",
        "cross-origin-resource-policy: same-origin",
        "require-trusted-types-for 'script'; trusted-types 'none'",
        "frame-ancestors 'none'",
    ] {
        assert!(page.head.contains(header), "{header}: {}", page.head);
    }
    assert!(!page.head.contains("unsafe"), "{}", page.head);
    let tag = page
        .head
        .lines()
        .find_map(|line| line.strip_prefix("etag: "))
        .unwrap();
    web.bare("GET", "/", &[("If-None-Match", tag)], "")
        .expect(304);
    // Under other names of loopback and other ports, as a forwarded one; and navigated to from a file.
    for header in [
        ("Host", "localhost:9000"),
        ("Host", "[::1]"),
        ("Sec-Fetch-Site", "cross-site"),
    ] {
        web.bare("GET", "/", &[header], "").expect(200);
    }
    for host in ["evil.test", "127.0.0.1.evil.test:80", "10.0.0.1", ""] {
        web.bare("GET", "/", &[("Host", host)], "").expect(421);
        web.bare("POST", "/session", &[("Host", host), JSON], &web.token())
            .expect(421);
    }
    let (own, port) = (format!("http://127.0.0.1:{}", web.port()), web.port());
    for header in [
        ("Origin", "http://evil.test"),
        ("Origin", "null"),
        ("Origin", "http://localhost:1"),
        ("Origin", &own.replace("http:", "https:")),
        ("Sec-Fetch-Site", "cross-site"),
        ("Sec-Fetch-Site", "same-site"),
    ] {
        web.bare("POST", "/session", &[header, JSON], &web.token())
            .expect(403);
    }
    for path in [
        "/events?tab=one",
        "/history",
        "/turns",
        "/diffs/1/rows?g=1",
        "/search?q=a",
        "/nothing",
    ] {
        web.bare("GET", path, &[TAB], "").expect(401);
        web.bare(
            "GET",
            path,
            &[TAB, ("Cookie", &format!("pillion-{port}=0"))],
            "",
        )
        .expect(401);
    }
    let guess = json!({"token": "0".repeat(48)}).to_string();
    web.bare("POST", "/session", &[JSON], &guess).expect(403);
    let opened = web.bare("POST", "/session", &[JSON, ("Origin", &own)], &web.token());
    let opened = opened.expect(200);
    web.bare("POST", "/session", &[JSON], &web.token())
        .expect(403);
    let secrets = Secrets::new(&opened.head, &opened.body);
    let [cookie, key] = secrets.headers();
    web.bare("GET", "/history", &[cookie, key, TAB], "")
        .expect(200);
    // Whoever else listens on this host gets the cookie, and a page of another port may have had the key.
    for one in [cookie, key] {
        web.bare("GET", "/history", &[one, TAB], "").expect(401);
    }
    // What a form can send is refused, and so is a tab without a name.
    let form = ("Content-Type", "text/plain");
    web.bare("POST", "/sendNotes", &[cookie, key, TAB, form], "{}")
        .expect(415);
    web.bare("POST", "/sendNotes", &[cookie, key, JSON], "{}")
        .expect(400);
    web.bare("GET", "/history", &[cookie, key], "").expect(400);
    web.bare(
        "GET",
        "/history",
        &[cookie, key, TAB, ("Origin", "http://evil.test")],
        "",
    )
    .expect(403);
    web.bare("PUT", "/history", &[cookie, key, TAB, JSON], "{}")
        .expect(405);
    web.bare("GET", "/nothing", &[cookie, key, TAB], "")
        .expect(404);
    web.bare("POST", "/diffs/1/undo", &[cookie, key, TAB, JSON], "{")
        .expect(400);
    web.bare(
        "POST",
        "/diffs/1/undo",
        &[cookie, key, TAB, JSON],
        "{\"g\":1}",
    )
    .expect(404);
    let long = ("Content-Length", "67108865");
    web.bare("POST", "/sendNotes", &[cookie, key, TAB, JSON, long], "{}")
        .expect(413);
}

#[cfg(target_os = "linux")]
#[test]
fn the_program_of_another_user_is_not_let_in_with_the_persons_secrets() {
    use std::os::unix::process::CommandExt;

    // Nobody else can become another user.
    if !rustix::process::geteuid().is_root() {
        return;
    }
    let web = Web::new();
    let asks = |user: u32| {
        let [(_, cookie), (_, key)] = web.secrets.headers();
        let head = format!(
            "GET /history HTTP/1.1\\r\\nHost: localhost\\r\\nConnection: close\\r\\nCookie: {cookie}\\r\\nX-Pillion-Key: {key}\\r\\nX-Pillion-Tab: one\\r\\n\\r\\n"
        );
        let dial = format!(
            "exec 3<>/dev/tcp/127.0.0.1/{}; printf '{head}' >&3; cat <&3",
            web.port()
        );
        let mut shell = std::process::Command::new("bash");
        let output = shell
            .args(["-c", &dial])
            .uid(user)
            .current_dir("/")
            .output();
        String::from_utf8_lossy(&output.unwrap().stdout).into_owned()
    };
    let (own, other) = (asks(0), asks(65534));
    assert!(own.starts_with("HTTP/1.1 200"), "{own}");
    assert!(other.starts_with("HTTP/1.1 403"), "{other}");
    assert!(other.contains("another user asks this"), "{other}");
}

#[test]
fn silent_connections_keep_nobody_out_of_the_page() {
    let web = Web::new();
    let silent: Vec<_> = (0..100)
        .map(|_| TcpStream::connect(format!("127.0.0.1:{}", web.port())).unwrap())
        .collect();
    let started = Instant::now();
    while web.get("/history").status != 200 {
        assert!(started.elapsed() < SOON);
        pause(started);
    }
    drop(silent);
}

#[test]
fn in_the_page_a_hunk_is_left_out_and_a_text_edited_and_accepted_as_it_stands() {
    let mut web = Web::new();
    let events = web.tab("one");
    let lines: Vec<_> = (1..=60).map(|line| format!("line {line}\n")).collect();
    let path = web.sandbox.home.file("a.txt", lines.concat());
    let proposed = lines.concat().replace("line 3\n", "line <three>\u{202e}\n");
    let proposed = proposed
        .replace("line 30\n", "")
        .replace("line 60\n", "line sixty\n");
    let (asking, diff) = web.propose(&events, "a.txt", &proposed);
    assert_eq!(
        (&diff["agent"], &diff["does"], &diff["removed"]),
        (&json!("Pillion"), &json!("proposes"), &json!(3))
    );
    let rows = web
        .get("/diffs/1/rows?g=2&layout=split&from=0&to=9")
        .expect(200)
        .json();
    assert_eq!(rows["total"], 19, "{rows}");
    assert_eq!(rows["hunks"], json!([[2, 3], [10, 11], [18, 19]]));
    let changed = &rows["rows"][2]["changed"];
    assert_eq!(changed["right"]["text"], "line <three>⟨U+202E⟩", "{rows}");
    assert_eq!(changed["right"]["replaced"], json!([[12, 20]]));
    assert_eq!(
        rows["rows"][6],
        json!({"fold": {"left": 6, "right": 6, "lines": 20, "gap": 3}})
    );
    let unfolded = web
        .get("/diffs/1/rows?g=2&layout=split&from=6&to=8&unfold=3.1.0")
        .json();
    assert_eq!(unfolded["rows"][0]["same"]["right"]["text"], "line 7");
    let colours = web
        .get("/diffs/1/colours?g=2&left=0-5&right=0-5")
        .expect(200)
        .json();
    assert_eq!(colours["g"], 2);
    let text = web
        .get("/diffs/1/text?g=2&hunk=2&side=after")
        .expect(200)
        .json();
    assert_eq!(text["text"], "line sixty\n");
    // Nobody has seen anything yet.
    let unseen = web
        .decide(&diff, json!({"decision": "accept"}))
        .expect(200)
        .json();
    assert_eq!(
        (&unseen["settled"], &unseen["asks"]),
        (&json!(false), &json!(true)),
        "{unseen}"
    );
    let said = unseen["message"].as_str().unwrap();
    assert!(
        said.starts_with("3 of 3 changes have not been on the screen"),
        "{said}"
    );
    // One hunk is left out, another edited.
    let toggled = web
        .post("/diffs/1/toggle", &json!({"g": 2, "hunk": 1}))
        .expect(200)
        .json();
    assert_eq!(toggled["g"], 3);
    let stale = web
        .post("/diffs/1/toggle", &json!({"g": 2, "hunk": 0}))
        .expect(409)
        .json();
    assert_eq!(
        (&stale["code"], &stale["now"]["g"]),
        (&json!("stale"), &json!(3))
    );
    let edit = json!({"g": 3, "hunk": 2, "text": "line 60, mine\nand one more"});
    web.post("/diffs/1/edit", &edit).expect(200);
    let diff = next(&events, "diff", |it| {
        it["isComparing"] == false && it["added"] == 3
    });
    let undone = web
        .post("/diffs/1/undo", &json!({"g": diff["g"]}))
        .expect(200)
        .json();
    assert_eq!(undone["message"], "your edit was undone · Z redoes it");
    let redone = web
        .post("/diffs/1/redo", &json!({"g": undone["g"]}))
        .expect(200)
        .json();
    let note = json!({"g": redone["g"], "lines": [2, 3], "text": "why three?"});
    web.post("/diffs/1/note", &note).expect(200);
    let diff = next(&events, "diff", |it| {
        it["remarks"][0]["text"] == "why three?"
    });
    assert_eq!(diff["remarks"][0]["place"], "line 3");
    let found = web.get("/search?q=MINE").json();
    assert_eq!(found["hits"], json!([]), "it has capitals");
    let found = web.get("/search?q=mine").json();
    assert_eq!(found["hits"][0]["at"], json!([9, 13]), "{found}");
    web.see_all(&diff);
    // The other tab has seen nothing of that.
    let [cookie, key] = web.secrets.headers();
    let other = [cookie, key, ("X-Pillion-Tab", "two"), JSON];
    let body = json!({"g": diff["g"], "revision": 1, "decision": "accept", "seen": looked()});
    let unseen = web
        .bare("POST", "/diffs/1/decide", &other, &body.to_string())
        .json();
    assert_eq!(unseen["settled"], false, "{unseen}");
    // What comes sooner is taken for a key that is held down.
    std::thread::sleep(RELEASED);
    let ruled = web
        .decide(&diff, json!({"decision": "accept"}))
        .expect(200)
        .json();
    assert_eq!(ruled["settled"], true, "{ruled}");
    let gone = next(&events, "gone", |_| true);
    assert!(
        gone["words"]
            .as_str()
            .unwrap()
            .starts_with("accepted a.txt"),
        "{gone}"
    );
    let late = web.decide(&diff, json!({"decision": "reject"}));
    assert_eq!(late.expect(404).json()["code"], "notPending");
    let (code, answer) = answer(asking);
    let expected = lines.concat().replace("line 3\n", "line <three>\u{202e}\n");
    let expected = expected.replace("line 60\n", "line 60, mine\nand one more");
    assert_eq!((code, &answer["content"]), (Some(0), &json!(expected)));
    assert_eq!(answer["notes"][0]["text"], "why three?");
    assert_eq!(fs::read_to_string(path).unwrap(), lines.concat(), "C5.9");
}

#[test]
fn a_rejection_in_the_page_says_why_and_drops_edits_only_if_that_is_meant() {
    let mut web = Web::new();
    let events = web.tab("one");
    let (asking, diff) = web.propose(&events, "new.txt", "a\n");
    web.see_all(&diff);
    let edit = json!({"g": diff["g"], "text": "mine\n"});
    web.post("/diffs/1/edit", &edit).expect(200);
    let diff = next(&events, "diff", |it| {
        it["isComparing"] == false && it["g"] != diff["g"]
    });
    let reject = json!({"decision": "reject", "reason": "use the table"});
    let asked = web.decide(&diff, reject.clone()).expect(200).json();
    assert_eq!(
        (&asked["code"], &asked["asks"]),
        (&json!("dropsEdits"), &json!(true)),
        "{asked}"
    );
    let mut answers = looked();
    answers["answers"] = json!(true);
    let mut meant = reject;
    meant["seen"] = answers;
    let ruled = web.decide(&diff, meant).expect(200).json();
    assert_eq!(ruled["settled"], true, "{ruled}");
    let (code, answer) = answer(asking);
    assert_eq!(
        (code, &answer["notes"][0]["text"]),
        (Some(1), &json!("use the table"))
    );
}

#[test]
fn only_what_is_typed_for_a_diff_that_was_looked_at_decides_in_the_page() {
    let mut web = Web::new();
    let events = web.tab("one");
    let (asking, diff) = web.propose(&events, "new.txt", "a\n");
    web.see_all(&diff);
    for (code, how) in [
        ("notTyped", json!({"typed": false})),
        ("notSeen", json!({"drawnMs": null})),
        ("tooSoon", json!({"drawnMs": 300})),
        ("held", json!({"pausesMs": [30, 30, 30]})),
    ] {
        for decision in ["accept", "reject"] {
            std::thread::sleep(RELEASED);
            let mut seen = looked();
            seen.as_object_mut()
                .unwrap()
                .extend(how.as_object().unwrap().clone());
            let more = json!({"decision": decision, "seen": seen});
            let ruled = web.decide(&diff, more).expect(200).json();
            assert_eq!(
                (&ruled["code"], &ruled["settled"]),
                (&json!(code), &json!(false)),
                "{ruled}"
            );
        }
    }
    // A key that was held down is released once it was not pressed for so long.
    std::thread::sleep(LOOK);
    let ruled = web.decide(&diff, json!({"decision": "accept"}));
    let ruled = ruled.expect(200).json();
    assert_eq!(ruled["settled"], true, "{ruled}");
    assert_eq!(answer(asking).0, Some(0));
}

#[test]
fn a_page_that_nobody_has_open_keeps_nothing_waiting_and_closing_it_rejects_nothing() {
    let mut web = Web::new();
    let refused = web.sandbox.run_with_input(["diff", "new.txt"], b"a\n");
    assert!(
        refused.stderr.contains("the page is open in no browser"),
        "{}",
        refused.report()
    );
    let events = web.tab("one");
    let (asking, diff) = web.propose(&events, "new.txt", "a\n");
    web.close_tabs();
    let started = Instant::now();
    // Nothing that comes now is shown there; and before long such a page is no view at all.
    while !web
        .sandbox
        .run_with_input(["diff", "other.txt"], b"a\n")
        .stderr
        .contains("no editor shows changes here")
    {
        assert!(started.elapsed() < SOON);
    }
    assert_eq!(
        pending(&web.sandbox, 1)[0]["path"],
        json!(web.sandbox.home.workspace().join("new.txt"))
    );
    let _events = web.tab("one");
    web.see_all(&diff);
    web.decide(&diff, json!({"decision": "accept"})).expect(200);
    assert_eq!(answer(asking).1["content"], "a\n");
}

#[test]
fn where_no_tab_is_open_a_hook_goes_on_as_if_there_were_no_page() {
    let web = Web::closed(Sandbox::new());
    let sandbox = &web.sandbox;
    let path = sandbox.home.file("a.txt", "two\n");
    let call = edit(sandbox, &path, "two", "zwei");
    // The first waits for a tab for a while, the second finds that there is none.
    for _ in 0..2 {
        let said = Hook::call(sandbox, &["claude"], &call).answer();
        let told = said.output["systemMessage"].as_str();
        let told = told.unwrap_or_else(|| panic!("{said:?}"));
        assert!(told.contains("page that is open here shows"), "{told}");
        assert_eq!(said.decision().0, "", "{said:?}");
    }
    let strict = Hook::call(sandbox, &["claude", "--strict"], &call).answer();
    assert!(strict.is_blocked(), "{strict:?}");
}

/// The page, below no process of this test: its port and the token of its address.
fn start_apart(sandbox: &Sandbox) -> (String, String) {
    let script = "\"$0\" web --no-open >../address 2>&1 &";
    let mut shell = std::process::Command::new("/bin/sh");
    shell
        .args(["-c", script])
        .arg(env!("CARGO_BIN_EXE_pillion"))
        .env_clear();
    shell
        .envs(sandbox.home.env().iter())
        .current_dir(sandbox.home.workspace());
    assert!(shell.status().unwrap().success());
    let file = sandbox.home.workspace().join("../address");
    let started = Instant::now();
    let address = loop {
        let text = fs::read_to_string(&file).unwrap_or_default();
        if text.ends_with('\n') {
            break text.trim_end().to_owned();
        }
        assert!(started.elapsed() < SOON, "{text}");
        pause(started);
    };
    let (page, token) = address.split_once("/#").unwrap();
    let port = page.strip_prefix("http://127.0.0.1:").unwrap();
    (port.to_owned(), json!({"token": token}).to_string())
}

/// Asks once more over a connection that stays open, and returns the status.
fn ask_again(stream: &mut TcpStream, secrets: &Secrets) -> String {
    let Secrets { cookie, key } = secrets;
    let head = format!(
        "GET /history HTTP/1.1\r\nHost: localhost\r\nCookie: {cookie}\r\nX-Pillion-Key: {key}\r\nX-Pillion-Tab: one\r\n\r\n"
    );
    stream.write_all(head.as_bytes()).unwrap();
    let mut answer = BufReader::new(stream);
    let mut lines = Vec::new();
    while lines.last().is_none_or(|line: &String| line != "\r\n") {
        let mut line = String::new();
        assert_ne!(answer.read_line(&mut line).unwrap(), 0, "{lines:?}");
        lines.push(line);
    }
    let mut length = { lines.iter() }.filter_map(|it| it.strip_prefix("content-length: "));
    let length = length.next().unwrap().trim_end().parse().unwrap();
    answer.read_exact(&mut vec![0; length]).unwrap();
    lines[0].split(' ').nth(1).unwrap().to_owned()
}

#[test]
fn a_connection_from_before_its_agent_was_known_is_no_way_in() {
    let sandbox = Sandbox::new();
    let (port, token) = start_apart(&sandbox);
    let opened = request(&port, "POST", "/session", &[JSON], &token).expect(200);
    let secrets = Secrets::new(&opened.head, &opened.body);
    let mut stream = TcpStream::connect(format!("127.0.0.1:{port}")).unwrap();
    assert_eq!(ask_again(&mut stream, &secrets), "200");
    // This process is the agent.
    let agent = TestAgent::find(&sandbox.home, Dialect::GeminiCli);
    assert_eq!(ask_again(&mut stream, &secrets), "403");
    drop(agent);
    kill_all_of(&sandbox.home);
}

#[test]
fn the_events_of_a_browser_end_once_it_turns_out_to_be_an_agents() {
    let sandbox = Sandbox::new();
    let (port, token) = start_apart(&sandbox);
    let opened = request(&port, "POST", "/session", &[JSON], &token).expect(200);
    let secrets = Secrets::new(&opened.head, &opened.body);
    let mut events = listen(&port, &secrets, "one");
    events.set_read_timeout(Some(SOON)).unwrap();
    let mut heard = String::new();
    let mut buffer = [0; 4096];
    while !heard.contains("event: all") {
        let count = events.read(&mut buffer).unwrap();
        heard.push_str(&String::from_utf8_lossy(&buffer[..count]));
        assert_ne!(count, 0, "{heard}");
    }
    // This process is the agent.
    let agent = TestAgent::find(&sandbox.home, Dialect::GeminiCli);
    let path = sandbox.home.file("secret.txt", "one\n");
    let proposing = agent.proposing(path.to_str().unwrap(), "two\n");
    events.read_to_string(&mut heard).unwrap();
    assert!(!heard.contains("secret.txt"), "{heard}");
    drop((proposing, agent));
    kill_all_of(&sandbox.home);
}

#[test]
fn what_an_agent_has_started_sees_nothing_of_the_page() {
    let sandbox = Sandbox::new();
    let (port, body) = start_apart(&sandbox);
    let (port, body) = (&*port, &*body);
    let agent = TestAgent::find(&sandbox.home, Dialect::GeminiCli);
    // This process is the agent.
    let refused = request(port, "POST", "/session", &[JSON], body)
        .expect(403)
        .json();
    assert_eq!(refused["code"], "byAgent");
    let said = refused["message"].as_str().unwrap();
    assert!(
        said.contains("was started by Gemini CLI") && said.contains("from the desktop"),
        "{said}"
    );
    // The token is as good as before for the person.
    let dial = format!(
        "exec 3<>/dev/tcp/127.0.0.1/{port}; printf 'POST /session HTTP/1.1\\r\\nHost: localhost\\r\\nConnection: close\\r\\nContent-Type: application/json\\r\\nContent-Length: {}\\r\\n\\r\\n%s' '{body}' >&3; cat <&3",
        body.len()
    );
    let opened = sandbox.home.run_as_person(&["bash", "-c", &dial]);
    let (head, body) = { opened.stdout.split_once("\r\n\r\n") }
        .unwrap_or_else(|| panic!("{}{}", opened.stdout, opened.stderr));
    let secrets = Secrets::new(head, body);
    let [cookie, key] = secrets.headers();
    for path in ["/history", "/turns", "/events?tab=one"] {
        let refused = request(port, "GET", path, &[cookie, key, TAB], "").expect(403);
        assert_eq!(refused.json()["code"], "byAgent", "{path}");
    }
    drop(agent);
    kill_all_of(&sandbox.home);
}

#[test]
fn what_was_written_is_looked_at_and_taken_back_in_the_page() {
    let mut web = Web::new();
    let home = &web.sandbox.home;
    let path = home.file("a.txt", "before\n");
    let turn = home.agents_turn("change it", |root| {
        fs::write(root.join("a.txt"), "after\n").unwrap();
    });
    let events = web.tab("one");
    let list = web.get("/turns").expect(200).json();
    let change = list["turns"][0]["changes"][0].clone();
    assert_eq!(change["id"], format!("{turn}.1"), "{list}");
    let look = format!("/turns/{turn}.1/look");
    assert_eq!(web.post(&look, &json!({})).expect(200).json()["done"], true);
    let diff = next(&events, "diff", |it| {
        it["written"] == change["id"] && it["isComparing"] == false
    });
    assert_eq!(diff["does"], "has written");
    // A row that has just come under the key is not meant.
    let row = |ms: u64| json!({"revision": change["revision"], "restedMs": ms, "isChosen": true});
    let back = format!("/turns/{turn}.1/takeBack");
    assert_eq!(web.post(&back, &row(0)).json()["done"], false);
    assert_eq!(fs::read_to_string(&path).unwrap(), "after\n");
    let done = web.post(&back, &row(5000)).expect(200).json();
    assert_eq!(done["done"], true, "{done}");
    assert_eq!(fs::read_to_string(&path).unwrap(), "before\n");
    next(&events, "gone", |it| it["id"] == diff["id"]);
    let done = web.post("/turns/-/undo", &json!({})).expect(200).json();
    assert_eq!(done["done"], true, "{done}");
    assert_eq!(fs::read_to_string(&path).unwrap(), "after\n");
    // What was decided is listed, and read.
    let history = web.get("/history").expect(200).json();
    assert_eq!(history["items"][0]["shown"], "a.txt", "{history}");
    let item = web.get("/history/0").expect(200).json();
    let lines = item["lines"].to_string();
    assert!(
        lines.contains("-before") && lines.contains("+after"),
        "{item}"
    );
    web.get("/history/7").expect(404);
    // Nobody is here who could do this, and it says so.
    for (path, body) in [
        ("/sendNotes", json!({})),
        ("/review", json!({"choice": "always"})),
    ] {
        let done = web.post(path, &body).expect(200).json();
        assert_eq!(done["done"], false, "{path}: {done}");
        assert!(
            done["message"].as_str().is_some_and(|it| it.contains(' ')),
            "{path}: {done}"
        );
    }
    let stage = format!("/turns/{turn}.1/stage");
    let staged = web.post(&stage, &json!({})).expect(200).json();
    assert!(
        staged["message"]
            .as_str()
            .is_some_and(|it| it.contains("is not staged")),
        "{staged}"
    );
}

/// As in the terminal's list.
#[test]
fn words_on_a_row_of_the_list_are_kept_and_go_with_what_is_decided_there() {
    let mut web = Web::new();
    let home = &web.sandbox.home;
    for name in ["a.txt", "b.txt"] {
        home.file(name, "before\n");
    }
    let turn = home.agents_turn("change them", |folder| {
        for name in ["a.txt", "b.txt"] {
            fs::write(folder.join(name), "after\n").unwrap();
        }
    });
    let events = web.tab("one");
    let on = |row: &str| format!("/turns/{turn}{row}");
    let revision = |row: usize| {
        let list = web.get("/turns").expect(200).json();
        list["turns"][0]["changes"][row]["revision"].clone()
    };
    let first = revision(0);
    for (row, words) in [
        (".1", json!({"n": 2, "note": "why a"})),
        (".1", json!({"n": 1, "note": "older"})),
        (".1", json!({"n": 1, "reason": "not so"})),
        (".2", json!({"n": 3, "note": "why\u{202e} b"})),
    ] {
        let said = web.post(&format!("{}/words", on(row)), &words).expect(200);
        let is_hidden = said.json()["hidden"].is_string();
        assert_eq!(is_hidden, row == ".2");
    }
    next(&events, "words", |it| it["id"] == format!("{turn}.2"));
    let words = |web: &Web| web.get("/turns").expect(200).json()["words"].clone();
    let both = json!({"note": "why a", "reason": "not so"});
    assert_eq!(words(&web)[format!("{turn}.1")], both);
    // What is refused takes none along.
    let keep = |row: &str, revision: &Value| {
        let body = json!({"revision": revision, "restedMs": 5000, "isChosen": true});
        web.post(&format!("{}/keep", on(row)), &body)
            .expect(200)
            .json()
    };
    assert_eq!(keep(".1", &json!("another"))["done"], false);
    assert_eq!(words(&web)[format!("{turn}.1")], both);
    assert_eq!(keep(".1", &first)["done"], true);
    // A reason is one for taking it back, and stays.
    let left = json!({"note": "", "reason": "not so"});
    assert_eq!(words(&web)[format!("{turn}.1")], left);
    // In a diff, too.
    let look = web.post(&format!("{}/look", on(".2")), &json!({}));
    assert_eq!(look.expect(200).json()["done"], true);
    let diff = next(&events, "diff", |it| {
        it["written"] == format!("{turn}.2") && it["isComparing"] == false
    });
    web.see_all(&diff);
    let ruled = web.decide(&diff, json!({"decision": "accept"})).expect(200);
    assert_eq!(ruled.json()["settled"], true);
    assert_eq!(words(&web)[format!("{turn}.2")], json!(null));
    let said = [(".1", "why a"), (".2", "why\u{202e} b")];
    let said = said.map(|(row, text)| (format!("{turn}{row}"), text.to_owned()));
    assert_eq!(web.sandbox.home.said_of(turn), said);
}

/// A page that is loaded again is another tab in the place of the former one.
#[test]
fn what_a_tab_has_seen_goes_to_the_one_in_its_place_and_to_no_other() {
    let mut web = Web::new();
    let one = web.tab("one");
    let (asking, diff) = web.propose(&one, "new.txt", "a\n");
    web.see_all(&diff);
    for (name, former, unseen) in [
        ("two", "two", 1),
        ("three", "one", 0),
        ("four", "one", 1),
        ("five", "", 1),
        ("six", "three", 0),
    ] {
        let events = web.tab(&format!("{name}&former={former}"));
        let body = json!({"ignore": false});
        web.post(&format!("/diffs/{}/whitespace", diff["id"]), &body)
            .expect(200);
        let now = next(&events, "diff", |it| it["id"] == diff["id"]);
        assert_eq!(now["seen"]["unseen"], unseen, "{name} after {former:?}");
    }
    web.decide(&diff, json!({"decision": "reject"})).expect(200);
    asking.wait_with_output().unwrap();
}

/// The page's end takes the file along, whichever way the browser was opened.
#[test]
#[cfg(target_os = "linux")]
fn what_leads_a_browser_to_the_page_is_gone_with_the_page() {
    let sandbox = Sandbox::new();
    let home = &sandbox.home;
    let (bin, opened) = (home.home().join("bin"), home.home().join("opened"));
    fs::create_dir(&bin).unwrap();
    let opener = bin.join("xdg-open");
    let script = format!("#!/bin/sh\necho \"$1\" >> {}\n", opened.display());
    fs::write(&opener, script).unwrap();
    fs::set_permissions(&opener, fs::Permissions::from_mode(0o700)).unwrap();
    let path = format!("{}:/usr/bin:/bin", bin.display());
    for end in ["TERM", "INT"] {
        let _ = fs::remove_file(&opened);
        let files = |count: usize| -> Vec<String> {
            let started = Instant::now();
            loop {
                let text = fs::read_to_string(&opened).unwrap_or_default();
                if text.matches('\n').count() == count {
                    return text.lines().map(str::to_owned).collect();
                }
                assert!(started.elapsed() < SOON, "{text}");
                pause(started);
            }
        };
        let mut web = sandbox.command(["web"]);
        web.env("PATH", &path);
        let mut child = web.stdout(Stdio::piped()).spawn().unwrap();
        files(1);
        // Another one is opened where the page runs.
        sandbox.run(["web"]).expect(0);
        for file in files(2) {
            let metadata = fs::metadata(&file).unwrap();
            assert_eq!(metadata.permissions().mode() & 0o777, 0o600, "{file}");
        }
        signal(&child, end);
        assert_eq!(ended(&mut child), Some(0));
        for file in files(2) {
            assert!(!fs::exists(&file).unwrap(), "{file}");
            assert!(!Path::new(&file).parent().unwrap().exists(), "{file}");
        }
    }
    kill_all_of(home);
}

#[test]
fn a_second_page_is_another_address_of_the_first_and_the_next_one_has_its_port() {
    let web = Web::closed(Sandbox::new());
    let other = web.sandbox.run(["web", "--url"]).expect(0).stdout;
    assert_eq!(other.split('#').next(), web.address.split('#').next());
    assert_ne!(other.trim_end(), web.address);
    let picture = web.sandbox.run(["web", "--qr"]).expect(0).stdout;
    let rows: Vec<_> = picture.lines().skip(1).collect();
    // Black is drawn, and a margin of white is about it; a pipe gets no colours.
    let is_margin = |row: &&str| row.trim().is_empty() && row.chars().count() >= 29;
    assert!(rows.len() > 15 && is_margin(&rows[0]), "{picture}");
    assert!(rows[2].starts_with("    █▀▀▀▀▀█ "), "{picture}");
    let again = web.sandbox.run(["web", "--no-open"]).expect(0).stdout;
    assert_eq!(again.split('#').next(), web.address.split('#').next());
    let port = web.port().to_owned();
    let sandbox = &web.sandbox;
    signal(&web.child, "TERM");
    let started = Instant::now();
    while sandbox.run(["web", "--url"]).code == Some(0) {
        assert!(started.elapsed() < SOON);
        pause(started);
    }
    let none = sandbox.run(["web", "--url"]);
    none.expect_error(1, "no page of this workspace runs", "starts one");
    let (mut child, address) = start(sandbox);
    assert!(
        address.starts_with(&format!("http://127.0.0.1:{port}/#")),
        "{address}"
    );
    child.kill().unwrap();
    child.wait().unwrap();
}

#[test]
fn ctrl_c_leaves_the_page_as_the_key_does_in_the_review() {
    let mut web = Web::new();
    let events = web.tab("one");
    let (asking, _) = web.propose(&events, "new.txt", "a\n");
    signal(&web.child, "INT");
    let mut said = String::new();
    let mut stderr = BufReader::new(web.child.stderr.take().unwrap());
    stderr.read_line(&mut said).unwrap();
    assert!(
        said.contains("1 pending diff") && said.contains("Ctrl-C again leaves"),
        "{said}"
    );
    assert!(web.child.try_wait().unwrap().is_none());
    signal(&web.child, "INT");
    next(&events, "end", |_| true);
    assert_eq!(ended(&mut web.child), Some(0));
    let output = asking.wait_with_output().unwrap();
    assert_ne!(output.status.code(), Some(0));
}
