//! The companions as a table for people.

use std::path::Path;

use super::facts::{Facts, State};
use crate::{tilde, visible};

/// Between two columns.
const GAP: usize = 2;

/// The workspace gets at least so many columns, even where lines then wrap.
const NARROWEST: usize = 16;

/// The table, with lines of at most `width` columns where that is possible.
pub fn table(listed: &[Facts], with_state: bool, home: Option<&Path>, width: usize) -> String {
    let mut header = vec![" ", "PORT", "PID", "EDITOR", "BY", "AGENTS", "DIFFS"];
    header.extend(with_state.then_some("STATE"));
    header.push("WORKSPACE");
    let header: Vec<String> = header.into_iter().map(str::to_owned).collect();
    let rows: Vec<_> = listed
        .iter()
        .map(|facts| row(facts, with_state, home))
        .collect();
    let lines = || std::iter::once(&header).chain(&rows);
    let last = header.len() - 1;
    let widths: Vec<_> = (0..last)
        .map(|at| {
            lines()
                .map(|line| visible::width(&line[at]))
                .max()
                .unwrap_or(0)
        })
        .collect();
    let before: usize = widths.iter().map(|width| width + GAP).sum();
    let room = width.saturating_sub(before).max(NARROWEST);
    let mut table = String::new();
    for line in lines() {
        for (cell, width) in line.iter().zip(&widths) {
            table.push_str(cell);
            table.extend(std::iter::repeat_n(' ', width - visible::width(cell) + GAP));
        }
        table.push_str(&visible::tail(&line[last], room));
        table.push('\n');
    }
    table
}

fn row(facts: &Facts, with_state: bool, home: Option<&Path>) -> Vec<String> {
    let unknown = || "-".to_owned();
    let editor = facts.editor.as_ref();
    let agents = facts.agents.as_ref().map(|agents| match agents.len() {
        0 => "none".to_owned(),
        _ => agents.join(","),
    });
    let roots: Vec<_> = facts
        .roots()
        .map(|root| tilde::shown(&root, home))
        .collect();
    let mut cells = vec![
        if facts.current { "*" } else { " " }.to_owned(),
        facts.port.to_string(),
        facts.pid.map_or_else(unknown, |pid| pid.to_string()),
        editor.map_or_else(unknown, |ide| {
            visible::head(&visible::one_line(&ide.display_name), 24)
        }),
        if facts.pillion { "pillion" } else { "other" }.to_owned(),
        visible::one_line(&agents.unwrap_or_else(unknown)),
        facts
            .pending_diffs
            .map_or_else(unknown, |count| count.to_string()),
    ];
    if with_state {
        let state = match facts.state {
            State::Alive => "alive",
            State::ProcessGone => "its process is gone",
            State::NobodyListens => "nobody listens",
        };
        cells.push(state.to_owned());
    }
    cells.push(if roots.is_empty() {
        unknown()
    } else {
        roots.join(", ")
    });
    cells
}

#[cfg(all(test, unix))]
mod tests {
    use pillion_discovery::survey::{Companion, Liveness};
    use pillion_protocol::IdeInfo;

    use super::*;

    fn facts(port: u16, display_name: &str, roots: &[&str]) -> Facts {
        Facts::of(&Companion {
            port,
            ide: Some(IdeInfo::new("x", display_name)),
            roots: roots.iter().map(Into::into).collect(),
            pids: vec![7],
            files: Vec::new(),
            state: None,
            liveness: Liveness::ProcessGone,
        })
    }

    #[test]
    fn columns_line_up_and_the_workspace_is_cut_to_the_terminal() {
        let home = Some(Path::new("/home/a"));
        let listed = [
            facts(9, "日本 Editor", &["/home/a/p", "/work/b c"]),
            facts(40000, "A very long name of an editor\n", &[]),
        ];
        let wide = table(&listed, true, home, usize::MAX);
        let expected = [
            "   PORT   PID  EDITOR                    BY     AGENTS  DIFFS  STATE                WORKSPACE",
            "   9      7    日本 Editor               other  -       -      its process is gone  ~/p, /work/b c",
            "   40000  7    A very long name of an …  other  -       -      its process is gone  -",
        ];
        assert_eq!(wide.lines().collect::<Vec<_>>(), expected);
        let narrow = table(
            &[facts(9, "X", &["/work/a/long/way/down/to/it"])],
            false,
            home,
            60,
        );
        let lines: Vec<_> = narrow.lines().collect();
        assert!(lines[1].ends_with("  …/way/down/to/it"), "{narrow}");
        assert!(
            lines.iter().all(|line| visible::width(line) <= 60),
            "{narrow}"
        );
    }
}
