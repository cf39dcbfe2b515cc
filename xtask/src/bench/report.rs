//! The tables, what was to be reached, and all as JSON.

use std::time::Duration;

use pillion_testkit::NvimVersion;
use serde_json::{Map, Value, json};

use super::commands::Figure as CommandFigure;
use super::decisions::{Figure as DecisionFigure, Pair};
use super::editors::Figure as EditorFigure;
use super::figures::{self, DEBOUNCE_MS, Figure};
use super::text::SIZES;
use super::turns::{Figure as TurnFigure, QUIET};
use super::watching::{self, Figure as WatchFigure};

/// Something to reach: at most `limit`.
struct Target {
    what: String,
    unit: &'static str,
    limit: f64,
    value: Option<f64>,
}

/// The companion's report for people.
pub fn companion(figures: &[Figure], idle: Duration) -> String {
    let mut out = String::from(
        "| | unit | pillion | floor | reference | pillion ÷ floor |\n\
         | --- | --- | ---: | ---: | ---: | ---: |\n",
    );
    for figure in figures {
        let [pillion, floor, reference] = figure.values.map(cell);
        let ratio = cell(figure.ratio());
        let Figure { name, unit, .. } = figure;
        out += &format!("| {name} | {unit} | {pillion} | {floor} | {reference} | {ratio} |\n");
    }
    out += &format!(
        "\nFloor: axum, which reads the body and answers what it always answers. Reference: the \
         official MCP SDK for TypeScript with express. The client is Node's fetch for all three, \
         timed from JSON.stringify to the last byte of the answer. Pillion and the floor take turns call \
         by call; the reference comes after them, because its runtime goes on working after an answer. \
         From context times, the {DEBOUNCE_MS} ms are taken off that a change waits for the next \
         one. The reference's binary is Node alone.\n\n\
         | to reach | at most | pillion | |\n\
         | --- | ---: | ---: | --- |\n",
    );
    for target in targets(figures, idle) {
        let reached = match target.is_reached() {
            Some(true) => "reached",
            Some(false) => "NOT reached",
            None => "not measured here",
        };
        let (what, unit, value) = (&target.what, target.unit, cell(target.value));
        let limit = cell(Some(target.limit));
        out += &format!("| {what} | {limit} {unit} | {value} | {reached} |\n");
    }
    out
}

/// The companion's report for programs.
pub fn companion_json(figures: &[Figure], idle: Duration) -> Map<String, Value> {
    let targets = targets(figures, idle);
    let targets = targets.iter().map(|target| {
        json!({"what": target.what, "unit": target.unit, "limit": target.limit,
            "value": target.value, "isReached": target.is_reached()})
    });
    let targets: Vec<_> = targets.collect();
    let figures = figures.iter().map(|Figure { name, unit, values }| {
        let [pillion, floor, reference] = values;
        json!({"name": name, "unit": unit,
            "pillion": pillion, "floor": floor, "reference": reference})
    });
    let figures: Vec<_> = figures.collect();
    let parts = [("figures", figures), ("targets", targets)];
    let parts = parts.map(|(name, rows)| (name.to_owned(), Value::Array(rows)));
    parts.into_iter().collect()
}

/// The report of decisions for people.
pub fn decisions(figures: &[DecisionFigure]) -> String {
    let mut out = String::from(
        "| openDiff to the decision | HTTP, ms | its floor | HTTP ÷ floor | WebSocket, ms | its floor | WebSocket ÷ floor |\n\
         | --- | ---: | ---: | ---: | ---: | ---: | ---: |\n",
    );
    for DecisionFigure {
        name,
        http,
        websocket,
    } in figures
    {
        let cells = |pair: &Pair| {
            let values = [pair.pillion, pair.floor, pair.ratio()];
            values.map(|value| cell(Some(value))).join(" | ")
        };
        out += &format!("| {name} | {} | {} |\n", cells(http), cells(websocket));
    }
    out + "\nA front end that accepts at once takes the person's place. Timed from JSON.stringify until the client has \
         the whole text of the decision: over HTTP the notification `ide/diffAccepted`, over the WebSocket the \
         answer to `openDiff`. The floor sends the same text for whatever comes: axum over HTTP, \
         tokio-tungstenite over the WebSocket. All four take turns call by call.\n"
}

/// The report of decisions for programs.
pub fn decisions_json(figures: &[DecisionFigure]) -> Map<String, Value> {
    let pair = |pair: &Pair| json!({"pillion": pair.pillion, "floor": pair.floor});
    let figures = figures.iter().map(|figure| {
        json!({"name": figure.name, "unit": "ms", "http": pair(&figure.http),
            "websocket": pair(&figure.websocket)})
    });
    let decisions = ("decisions".to_owned(), figures.collect());
    [decisions].into_iter().collect()
}

/// The commands' report for people.
pub fn commands(figures: &[CommandFigure]) -> String {
    let mut out =
        String::from("| | p50 ms | p99 ms | to reach | |\n| --- | ---: | ---: | ---: | --- |\n");
    for figure in figures {
        let [p50, p99] = [figure.p50, figure.p99].map(|value| cell(Some(value)));
        let limit = figure
            .limit
            .map(|limit| format!("at most {}", cell(Some(limit))));
        let limit = limit.unwrap_or_default();
        let verdict = verdict(figure.is_reached());
        let name = figure.name;
        out += &format!("| {name} | {p50} | {p99} | {limit} | {verdict} |\n");
    }
    out
}

/// The commands' report for programs.
pub fn commands_json(figures: &[CommandFigure]) -> Map<String, Value> {
    let figures = figures.iter().map(|figure| {
        json!({"name": figure.name, "unit": "ms", "p50": figure.p50, "p99": figure.p99,
            "limit": figure.limit, "isReached": figure.is_reached()})
    });
    let commands = ("commands".to_owned(), figures.collect());
    [commands].into_iter().collect()
}

fn verdict(is_reached: Option<bool>) -> &'static str {
    match is_reached {
        None => "",
        Some(true) => "reached",
        Some(false) => "NOT reached",
    }
}

/// The editors' report for people.
pub fn editors(figures: &[EditorFigure]) -> String {
    let names = NvimVersion::ALL.map(|version| format!("Neovim {}", version.name()));
    let mut out = format!(
        "| | unit | {} | to reach | |\n| --- | --- |{} ---: | --- |\n",
        names.join(" | "),
        " ---: |".repeat(names.len()),
    );
    for figure in figures {
        let mut cells: Vec<_> = figure
            .values
            .iter()
            .map(|value| cell(Some(*value)))
            .collect();
        // What no Neovim has a part in has one value.
        cells.resize(names.len(), String::new());
        let verdict = verdict(figure.is_reached());
        let limit = figure
            .limit
            .map(|limit| format!("at most {}", cell(Some(limit))));
        let (name, unit, cells) = (&figure.name, figure.unit, cells.join(" | "));
        let limit = limit.unwrap_or_default();
        out += &format!("| {name} | {unit} | {cells} | {limit} | {verdict} |\n");
    }
    out
}

/// The editors' report for programs.
pub fn editors_json(figures: &[EditorFigure]) -> Map<String, Value> {
    let figures = figures.iter().map(|figure| {
        json!({"name": figure.name, "unit": figure.unit, "values": figure.values,
            "limit": figure.limit, "isReached": figure.is_reached()})
    });
    let editors = ("editors".to_owned(), figures.collect());
    [editors].into_iter().collect()
}

/// The report of watching for people.
pub fn watching(figures: &[WatchFigure]) -> String {
    let mut out = String::from(
        "| processor time | git alone, ms | git beside it, ms | pillion, ms | to reach | |\n\
         | --- | ---: | ---: | ---: | ---: | --- |\n",
    );
    for figure in figures {
        let [alone, beside] = [0, 1].map(|at| cell(figure.git.map(|git| git[at])));
        let (pillion, limit) = (cell(Some(figure.pillion)), cell(Some(figure.limit)));
        let (name, verdict) = (figure.name, verdict(Some(figure.is_reached())));
        out +=
            &format!("| {name} | {alone} | {beside} | {pillion} | at most {limit} | {verdict} |\n");
    }
    let (folders, files) = (watching::FOLDERS, watching::FOLDERS * watching::FILES);
    out + &format!(
        "\n{files} files in {folders} folders are checked out at a time; the middle of all rounds. git goes \
         from branch to branch in the repository that the review watches, and in its twin that \
         nobody watches.\n"
    )
}

/// The report of watching for programs.
pub fn watching_json(figures: &[WatchFigure]) -> Map<String, Value> {
    let figures = figures.iter().map(|figure| {
        json!({"name": figure.name, "unit": "ms", "git": figure.git, "pillion": figure.pillion,
            "limit": figure.limit, "isReached": figure.is_reached()})
    });
    let watching = ("watching".to_owned(), figures.collect());
    [watching].into_iter().collect()
}

/// The report of turns for people.
pub fn turns(figures: &[TurnFigure]) -> String {
    let mut out = String::from(
        "| files | git status, ms | start of a turn, ms | to reach | quiet call, ms | to reach | | first call, ms | first look, ms |\n\
         | ---: | ---: | ---: | ---: | ---: | ---: | --- | ---: | ---: |\n",
    );
    for figure in figures {
        let TurnFigure { size, .. } = figure;
        let [git, begin, limit, call, first, quiet, of_quiet] = [
            figure.git_status,
            figure.begin,
            size.limit,
            figure.call,
            figure.first,
            figure.quiet,
            QUIET,
        ]
        .map(|it| cell(Some(it)));
        let (files, verdict) = (size.files, verdict(Some(figure.is_reached())));
        out += &format!(
            "| {files} | {git} | {begin} | at most {limit} | {quiet} | at most {of_quiet} | {verdict} | {call} | {first} |\n"
        );
    }
    out + "\nThe middle of all rounds, in work trees with 30 changed and 5 untracked files; `git status` shows all untracked ones. A \
           call is a shell command that changes nothing: what is looked at before and after it; a quiet one is not the first of \
           its turn. Nobody waits for the first look, when an agent connects.\n"
}

/// The report of turns for programs.
pub fn turns_json(figures: &[TurnFigure]) -> Map<String, Value> {
    let figures = figures.iter().map(|it| {
        json!({"files": it.size.files, "unit": "ms", "gitStatus": it.git_status, "first": it.first,
            "begin": it.begin, "call": it.call, "quiet": it.quiet, "limit": it.size.limit, "isReached": it.is_reached()})
    });
    let turns = ("turns".to_owned(), figures.collect());
    [turns].into_iter().collect()
}

impl Target {
    fn is_reached(&self) -> Option<bool> {
        self.value.map(|value| value <= self.limit)
    }
}

/// The targets that were to be reached.
fn targets(figures: &[Figure], idle: Duration) -> Vec<Target> {
    let find = |name: &str| figures.iter().find(|figure| figure.name == name);
    let mut targets = Vec::new();
    for (tool, limit) in [("openDiff", 1.1), ("closeDiff", 1.15)] {
        targets.extend(SIZES.map(|size| {
            let name = figures::diff_name(tool, size, "p50");
            Target {
                value: find(&name).and_then(Figure::ratio),
                what: name,
                unit: "× floor",
                limit,
            }
        }));
    }
    let absolute = [
        (figures::READY.to_owned(), "ms", 10.0),
        (figures::MEMORY_IDLE.to_owned(), "MB", 12.0),
        (figures::MEMORY_AFTER_DIFFS.to_owned(), "MB", 16.0),
        (figures::MEMORY_100_SESSIONS.to_owned(), "MB", 18.0),
        (figures::context_name(100, "p50"), "ms", 20.0),
        // What the kernel's own accounting of processes can tell from nothing: one tick.
        (figures::idle_name(idle), "ms", 10.0),
    ];
    targets.extend(absolute.map(|(name, unit, limit)| Target {
        value: find(&name).and_then(|figure| figure.values[0]),
        what: name,
        unit,
        limit,
    }));
    targets
}

/// Three digits are what a second run would confirm at best.
fn cell(value: Option<f64>) -> String {
    match value {
        None => "–".to_owned(),
        Some(value) if value == 0.0 || value.abs() >= 100.0 => format!("{value:.0}"),
        Some(value) if value.abs() >= 10.0 => format!("{value:.1}"),
        Some(value) => format!("{value:.2}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn figure(name: String, pillion: f64) -> Figure {
        let values = [Some(pillion), Some(2.0), None];
        Figure {
            name,
            unit: "ms",
            values,
        }
    }

    #[test]
    fn what_is_missing_is_shown_as_missing() {
        let table = companion(&[figure("row".to_owned(), 1.234)], Duration::ZERO);
        assert!(
            table.contains("| row | ms | 1.23 | 2.00 | – | 0.62 |"),
            "{table}"
        );
        assert!(table.contains("not measured here"), "{table}");
    }

    #[test]
    fn each_transport_is_beside_its_own_floor() {
        let pair = |pillion, floor| Pair { pillion, floor };
        let table = decisions(&[DecisionFigure {
            name: "1 KB, p50".to_owned(),
            http: pair(3.0, 2.0),
            websocket: pair(1.0, 0.5),
        }]);
        let row = "| 1 KB, p50 | 3.00 | 2.00 | 1.50 | 1.00 | 0.50 | 2.00 |";
        assert!(table.contains(row), "{table}");
    }

    #[test]
    fn targets_find_their_figures() {
        let idle = Duration::from_secs(60);
        let names = ["openDiff", "closeDiff"]
            .map(|tool| SIZES.map(|size| figures::diff_name(tool, size, "p50")));
        let others = [
            figures::READY.to_owned(),
            figures::MEMORY_IDLE.to_owned(),
            figures::MEMORY_AFTER_DIFFS.to_owned(),
            figures::MEMORY_100_SESSIONS.to_owned(),
            figures::context_name(100, "p50"),
            figures::idle_name(idle),
        ];
        let figures: Vec<_> = names
            .into_iter()
            .flatten()
            .chain(others)
            .map(|name| figure(name, 2.26))
            .collect();
        let reached = targets(&figures, idle);
        let reached: Vec<_> = reached.iter().map(Target::is_reached).collect();
        // 1.13 times the floor is too much for openDiff, and not for closeDiff.
        assert_eq!(reached[..4], [Some(false); 4]);
        assert_eq!(reached[4..], [Some(true); 10]);
    }
}
