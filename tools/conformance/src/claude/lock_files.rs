//! The lock file: where it is, what it is called, what is in it, who can read it.

use pillion_protocol::Dialect;

use crate::check::checks;
use crate::fields::{
    ANYTHING, Kind, PATHS, TEXT, each, each_has, is_running, json_object, private_file,
    private_folder, regular_file, resolved,
};
use crate::rule::{Finding, Look, Problem, blocked, broken, shown};
use crate::target::TargetFile;
use crate::test_context::TestContext;

checks! {
    Discovery:
    Must "K1-file" => each(regular_file),
        "Lock files are regular files of this user, not links",
        "The owner of a link's target decides where the agent sends its proposals.";
    Must "K1-name" => each(known_name),
        "A lock file is called PORT.lock",
        "The agent takes the port from the name, and does not connect if it has another form.";
    Must "K1-folder" => in_place,
        "The lock file is in $CLAUDE_CONFIG_DIR/ide, by default ~/.claude/ide",
        "Older releases look nowhere else.";
    Must "K1-one" => one,
        "There is one lock file, not one in each of these folders",
        "Newer releases look in both, count two files as two companions, and connect to neither.";
    Must "K1-json" => each(json_object),
        "Lock files hold a JSON object",
        "The agent reads any other text as a list of folders, and uses another transport without a token.";
    Must "K1-pid" => each(living_pid),
        "`pid` is the number of a running process",
        "The agent deletes the file of a process that is gone.";
    Should "K1-pid-present" => each_has("pid", ANYTHING),
        "A lock file has a `pid`",
        "In a terminal of VS Code the agent connects only to a companion whose process is its ancestor.";
    Must "K1-folders" => each_has("workspaceFolders", PATHS),
        "`workspaceFolders` is a list of at least one path",
        "Without a folder the agent never connects.";
    Must "K1-resolved" => each(|file| resolved(file, &["K1-folders", "K1-json"])),
        "Every workspace folder exists and is absolute, with links resolved",
        "The agent compares its own folder, with links resolved, and finds no companion in a linked one.";
    Must "K1-transport" => each_has("transport", WEBSOCKET),
        "`transport` is `ws`",
        "Without it the agent asks for an event stream, and presents no token.";
    Must "K1-token" => each_has("authToken", TEXT),
        "`authToken` is a non-empty string",
        "Without it the agent dials without a token, as any other program on this machine could.";
    Should "K1-ideName" => each_has("ideName", TEXT),
        "`ideName` is a non-empty string",
        "The agent has no name to show for the companion, at its prompt and in /ide.";
    Should "K1-private-file" => each(private_file),
        "Only this user can read the token in a lock file",
        "Other users of this machine could read every proposal, and answer it.";
    Should "K1-private-folder" => each(private_folder),
        "Only this user can replace a lock file",
        "Other users of this machine could direct the agent to their own companion.";
}

const WEBSOCKET: Kind = ("\"ws\"", |value| value == "ws");

pub(super) fn known_name(file: &TargetFile) -> Result<Look, String> {
    let digits = file.name().strip_suffix(".lock").unwrap_or_default();
    match digits.parse::<u16>() {
        // The agent would dial the same port for `+80` and `080`, but others would not.
        Ok(port) if port > 0 && port.to_string() == digits => Ok(Look::Kept),
        _ => Err("its name is not PORT.lock".to_owned()),
    }
}

/// The files that the agent finds.
fn named(test: &TestContext) -> Result<Vec<&TargetFile>, Problem> {
    let files = test.target.discovery_files().iter();
    let named: Vec<_> = files.filter(|file| known_name(file).is_ok()).collect();
    match named.is_empty() {
        true => blocked(&["K1-name"], "there is no file of that name"),
        false => Ok(named),
    }
}

async fn in_place(test: &TestContext) -> Finding {
    let [specified, ..] = Dialect::ClaudeCode.places() else {
        return broken("there is no such place");
    };
    let mut files = named(test)?.into_iter();
    match files.find(|file| file.place == Some(specified)) {
        Some(file) => Ok(file.path.display().to_string()),
        None => {
            let folder = test.target.environment.directory(specified);
            broken(format!("there is none in {}", folder.display()))
        }
    }
}

async fn one(test: &TestContext) -> Finding {
    let files = named(test)?;
    let paths = files.iter().map(|file| file.path.display().to_string());
    let paths = paths.collect::<Vec<_>>().join(" and ");
    match files[..] {
        [_] => Ok(paths),
        _ => broken(paths),
    }
}

fn living_pid(file: &TargetFile) -> Result<Look, String> {
    match (file.field("pid"), file.pid()) {
        _ if file.content.is_err() => Ok(Look::Blocked(file.rows().json)),
        (None, _) => Ok(Look::NotAbout),
        (Some(_), Some(pid)) => is_running(pid),
        (Some(other), None) => Err(format!("`pid` is {}", shown(other))),
    }
}
