//! Paths that something between an agent and an editor may mistake for others (C5.5, C5.9).

use std::ffi::OsString;
use std::path::{MAIN_SEPARATOR, MAIN_SEPARATOR_STR, Path};

use crate::check::checks;
use crate::reply::ToolReply;
use crate::rule::{Finding, Otherwise, Problem, blocked, broken, cut, unchecked};
use crate::session::Session;
use crate::test_context::TestContext;

checks! {
    Diffs:
    Must "C5.5-several" => each_its_own(SEVERAL, false) in deaf_session,
        "One agent can have several views open at once, each with its own text";
    Must "C5.5-alike" => alike in deaf_session,
        "Similar paths, and paths that look like patterns, are different files";
    Must "C5.5-odd-path" => each_its_own(&[ODD], false) in deaf_session,
        "A path with spaces, quotes and other special characters is taken literally";
    Should "C5.9-beside" => nothing_beside in deaf_session,
        "No file appears next to the proposed one while its view is open";
}

const SEVERAL: &[&str] = &["NAME-one.txt", "NAME-two.txt"];

/// The second has the first's base name, the fourth matches the third as a pattern, and the last
/// starts with the one before it.
const ALIKE: &[&str] = &[
    "NAME.txt",
    "NAME/NAME.txt",
    "NAME-i.tsx",
    "NAME-[id].tsx",
    "NAME-b",
    "NAME-bc",
];

/// Two names where case counts.
const CASES: &[&str] = &["NAME-case.txt", "NAME-Case.txt"];

/// True if names in different case may be one file, as most file systems there have it.
const IGNORES_CASE: bool = cfg!(any(windows, target_os = "macos"));

/// A name of characters to which shells and editors' command lines give a meaning, as far as every system allows it.
/// No program reads it as one word.
const ODD: &str = "NAME it's 100% #1 ${HOME} $(true) `true` %:p ü ; & [x] {a,b} ~.txt";

/// Opens a view for each, then closes them, from the first to the last or the other way round.
async fn each_its_own(session: &mut Session<'_>, names: &[&str], is_reversed: bool) -> Finding {
    session.has_views().await?;
    let paths = paths(session.test, names);
    // Companions that never have two views at once, whatever their paths.
    let others: &[&str] = match paths.len() {
        1 => &[],
        _ => &["C5.5-several"],
    };
    for (number, path) in paths.iter().enumerate() {
        let opened = session.open_diff(path, &text(number)).await;
        let opened = opened.and_then(ToolReply::success);
        let what = format_args!("{path:?} opens no view");
        match number {
            0 => opened.or_broken(what)?,
            _ => opened.or_blocked(others, what)?,
        };
    }
    let mut order: Vec<_> = paths.iter().enumerate().collect();
    if is_reversed {
        order.reverse();
    }
    for (number, path) in order {
        let found = match session.closed_text(path).await {
            Err(Problem::Blocked { why, .. }) if paths.len() > 1 => {
                let by = &["C5.5-several", "C5.2-open", "C5.4-suppress", "C5.5-shape"];
                return blocked(by, why);
            }
            found => found?,
        };
        if found != text(number) {
            let is_others = (0..paths.len()).any(|other| found == text(other));
            let why = match is_others {
                true => format!("closeDiff of {path:?} closes another view"),
                false => format!("closeDiff of {path:?} returns {:?}", cut(&found)),
            };
            return blocked(others, why);
        }
    }
    Ok(format!("{} views", paths.len()))
}

async fn alike(session: &mut Session<'_>) -> Finding {
    let mut alike = ALIKE.to_vec();
    if !IGNORES_CASE {
        alike.extend(CASES);
    }
    each_its_own(session, &alike, false).await?;
    let seen = each_its_own(session, &alike, true).await?;
    not_mistaken(session).await?;
    Ok(seen)
}

/// Checks that closing a path that only looks like that of a view does not close the view.
async fn not_mistaken(session: &mut Session<'_>) -> Result<(), Problem> {
    let path = session.open_view(&text(0)).await?;
    for other in lookalikes(&path) {
        // Whether it fails as it should is another rule's matter.
        let reply = session.close_diff(&other, true).await?;
        if reply.closed_content().is_ok_and(|found| found == text(0)) {
            return broken(format!(
                "closeDiff of {other:?} closes the view of {path:?}"
            ));
        }
    }
    let reply = session.close_diff(&path, true).await?;
    if reply.is_error() && !session.test.accepts_itself().await {
        return broken(format!(
            "after closeDiff of paths like {path:?} its own view is gone"
        ));
    }
    Ok(())
}

/// Paths of other files than this one: what it starts with and what starts with it, the same name
/// elsewhere, its folder, and its name in capitals.
fn lookalikes(path: &str) -> Vec<String> {
    let (folder, name) = split(path);
    let stem = name.trim_end_matches(".txt");
    let other = |name: &str| format!("{folder}{MAIN_SEPARATOR}{name}");
    let mut lookalikes = vec![
        other(stem),
        other(&name[..name.len() - 1]),
        other(&format!("{name}.orig")),
        other(&format!("{stem}{MAIN_SEPARATOR}{name}")),
        folder.to_owned(),
    ];
    if !IGNORES_CASE {
        lookalikes.push(other(&name.to_uppercase()));
        lookalikes.push(path.to_uppercase());
    }
    lookalikes
}

fn text(number: usize) -> String {
    format!("text {number}\n")
}

/// The folder and the name in it.
fn split(path: &str) -> (&str, &str) {
    path.rsplit_once(MAIN_SEPARATOR).unwrap_or(("", path))
}

/// New paths below the first root.
fn paths(test: &TestContext, names: &[&str]) -> Vec<String> {
    let unique = test.names.path();
    let (folder, name) = split(&unique);
    let name = name.trim_end_matches(".txt");
    let path = |pattern: &&str| {
        let native = pattern.replace('/', MAIN_SEPARATOR_STR);
        format!("{folder}{MAIN_SEPARATOR}{}", native.replace("NAME", name))
    };
    names.iter().map(path).collect()
}

async fn nothing_beside(session: &mut Session<'_>) -> Finding {
    let path = session.open_view("text\n").await?;
    let (folder, name) = split(&path);
    let stem = name.trim_end_matches(".txt");
    let Ok(entries) = Path::new(folder).read_dir() else {
        return unchecked(format!("{folder} cannot be read"));
    };
    let mut names = entries.flatten().map(|entry| entry.file_name());
    // The file itself is another rule's matter.
    let is_beside = |it: &OsString| *it != *name && it.to_string_lossy().contains(stem);
    match names.find(is_beside) {
        None => Ok("nothing".to_owned()),
        Some(name) => broken(format!("{name:?} is there")),
    }
}
