//! Paths that something between an agent and an editor may mistake for others (C5.5, C5.9).

use std::path::{MAIN_SEPARATOR, MAIN_SEPARATOR_STR, Path};

use super::bench::Bench;
use super::check::{Check, check};
use super::probe::NoAnswer;
use super::rule::Group::Diffs;
use super::rule::Level::{Must, Should};
use super::rule::{Finding, broken, unchecked};

pub(super) const CHECKS: &[Check] = &[
    check(
        Diffs,
        Must,
        "C5.5-several",
        "Several views of one agent are open at once, each with its own text",
        |b| Box::pin(each_its_own(b, SEVERAL, false)),
    ),
    check(
        Diffs,
        Must,
        "C5.5-alike",
        "Paths that look alike, or match as patterns, are different files",
        |b| Box::pin(alike(b)),
    ),
    check(
        Diffs,
        Must,
        "C5.5-odd-path",
        "A path with spaces, quotes and the like is taken as it is",
        |b| Box::pin(each_its_own(b, &[ODD], false)),
    ),
    check(
        Diffs,
        Should,
        "C5.9-beside",
        "No file appears beside the proposed one while its view is open",
        |b| Box::pin(nothing_beside(b)),
    ),
];

const SEVERAL: &[&str] = &["NAME-one.txt", "NAME-two.txt"];

/// The last matches the one before it as a pattern, and the second has the first's base name.
const ALIKE: &[&str] = &["NAME.txt", "NAME/NAME.txt", "NAME-i.tsx", "NAME-[id].tsx"];

/// What shells and editors' command lines give a meaning to, as far as every system allows it in a
/// name. It is one word to nobody.
const ODD: &str = "NAME it's 100% #1 ${HOME} $(true) `true` %:p ü ; & [x] {a,b} ~.txt";

/// Opens a view for each, then closes them, from the first to the last or the other way round.
async fn each_its_own(bench: &Bench, names: &[&str], is_reversed: bool) -> Finding {
    let session = bench.deaf_session().await?;
    bench.has_views(&session).await?;
    let paths = paths(bench, names);
    for (number, path) in paths.iter().enumerate() {
        let why = match session.open_diff(path, &text(number)).await {
            Ok(reply) if !reply.is_error() => continue,
            Ok(reply) => reply.shown(),
            Err(NoAnswer(why)) => why,
        };
        let why = format!("{path:?} opens no view: {why}");
        return if number == 0 || names == SEVERAL {
            broken(why)
        } else {
            unchecked(format!("{why}; see C5.5-several"))
        };
    }
    let mut order: Vec<_> = paths.iter().enumerate().collect();
    if is_reversed {
        order.reverse();
    }
    for (number, path) in order {
        let reply = match session.close_diff(path, true).await {
            Ok(reply) => reply,
            Err(NoAnswer(why)) => return broken(format!("closeDiff of {path:?}: {why}")),
        };
        match reply.closed_content() {
            Ok(found) if found == text(number) => {}
            Ok(found) if (0..paths.len()).any(|other| found == text(other)) => {
                return broken(format!("closeDiff of {path:?} closes another view"));
            }
            Ok(_) => return unchecked("closeDiff does not give the text back; see C5.5"),
            Err(why) => return unchecked(format!("closeDiff of {path:?}: {why}; see C5.5-shape")),
        }
    }
    Ok(format!("{} views", paths.len()))
}

async fn alike(bench: &Bench) -> Finding {
    each_its_own(bench, ALIKE, false).await?;
    each_its_own(bench, ALIKE, true).await
}

fn text(number: usize) -> String {
    format!("text {number}\n")
}

/// New paths below the first root.
fn paths(bench: &Bench, names: &[&str]) -> Vec<String> {
    let unique = bench.new_path();
    let (folder, name) = unique.rsplit_once(MAIN_SEPARATOR).unwrap_or(("", &unique));
    let name = name.trim_end_matches(".txt");
    let path = |pattern: &&str| {
        let native = pattern.replace('/', MAIN_SEPARATOR_STR);
        format!("{folder}{MAIN_SEPARATOR}{}", native.replace("NAME", name))
    };
    names.iter().map(path).collect()
}

async fn nothing_beside(bench: &Bench) -> Finding {
    let session = bench.deaf_session().await?;
    let path = bench.open_view(&session, "text\n").await?;
    let path = Path::new(&path);
    let (Some(folder), Some(stem)) = (path.parent(), path.file_stem().and_then(|it| it.to_str()))
    else {
        return unchecked("there is no folder for new files");
    };
    let Ok(entries) = folder.read_dir() else {
        return unchecked(format!("{} cannot be read", folder.display()));
    };
    let names = entries.flatten().map(|entry| entry.file_name());
    let mut ours = names.filter(|name| name.to_string_lossy().contains(stem));
    match ours.next() {
        None => Ok("nothing".to_owned()),
        Some(name) => broken(format!("{name:?} is there")),
    }
}
