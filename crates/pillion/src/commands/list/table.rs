//! The companions as a table for people.

use std::path::Path;

use pillion_discovery::survey::Liveness;
use pillion_text::visible;

use super::facts::Facts;
use crate::paths;

/// Between two columns.
const GAP: usize = 2;

/// The workspace gets at least so many columns, even where lines then wrap.
const NARROWEST: usize = 16;

/// The column of the editors' names, and how much of them is shown.
const EDITOR: usize = 3;
const WIDEST_EDITOR: usize = 24;
const NARROWEST_EDITOR: usize = 8;

/// The table, with lines of at most `width` columns where that is possible: first the workspace gets
/// less room, then the editor's name.
pub fn table(listed: &[Facts], with_state: bool, home: Option<&Path>, width: usize) -> String {
    let mut header = vec![" ", "PORT", "PID", "EDITOR", "BY", "AGENTS", "DIFFS"];
    header.extend(with_state.then_some("STATE"));
    header.push("WORKSPACE");
    let header: Vec<String> = header.into_iter().map(str::to_owned).collect();
    let rows = listed.iter().map(|facts| row(facts, with_state, home));
    let mut lines: Vec<_> = std::iter::once(header).chain(rows).collect();
    let last = lines[0].len() - 1;
    let widest = |at: usize, lines: &[Vec<String>]| {
        let widths = lines.iter().map(|line| visible::width(&line[at]));
        widths.max().unwrap_or(0)
    };
    let mut widths: Vec<_> = (0..last).map(|at| widest(at, &lines)).collect();
    let taken = |widths: &[usize]| widths.iter().map(|width| width + GAP).sum::<usize>();
    let wanted = widest(last, &lines).min(NARROWEST);
    let over = (taken(&widths) + wanted).saturating_sub(width);
    let editor = widths[EDITOR].saturating_sub(over).max(NARROWEST_EDITOR);
    if editor < widths[EDITOR] {
        for line in &mut lines {
            line[EDITOR] = visible::head(&line[EDITOR], editor);
        }
        widths[EDITOR] = widest(EDITOR, &lines);
    }
    let room = width.saturating_sub(taken(&widths)).max(NARROWEST);
    let mut table = String::new();
    for line in &lines {
        for (cell, width) in line.iter().zip(&widths) {
            table.push_str(cell);
            table.extend(std::iter::repeat_n(' ', width - visible::width(cell) + GAP));
        }
        table.push_str(&visible::tail(&line[last], room));
        table.push('\n');
    }
    table
}

/// Each name once, in their order, with how many there are of it.
fn counted<'a>(names: impl IntoIterator<Item = &'a str>) -> String {
    let mut counts: Vec<(&str, usize)> = Vec::new();
    for name in names {
        match counts.iter_mut().find(|(known, _)| *known == name) {
            Some((_, count)) => *count += 1,
            None => counts.push((name, 1)),
        }
    }
    let counts = counts.into_iter().map(|(name, count)| match count {
        1 => name.to_owned(),
        _ => format!("{name}×{count}"),
    });
    counts.collect::<Vec<_>>().join(",")
}

fn row(facts: &Facts, with_state: bool, home: Option<&Path>) -> Vec<String> {
    let unknown = || "-".to_owned();
    let views = facts.views.iter().flatten();
    let views = counted(views.map(|view| view.display_name.as_str()));
    let editor = facts.editor.as_ref().map(|ide| ide.display_name.clone());
    let editor = Some(views).filter(|views| !views.is_empty()).or(editor);
    let agents = facts.agents.as_ref().map(|agents| match agents.len() {
        0 => "none".to_owned(),
        _ => {
            let review = facts.review.iter().map(|label| format!(", {label}"));
            counted(agents.iter().map(String::as_str)) + &review.collect::<String>()
        }
    });
    let roots = facts.workspace.iter().map(Path::new);
    let roots: Vec<_> = roots.map(|root| paths::shown(root, home)).collect();
    let mut cells = vec![
        if facts.current { "*" } else { " " }.to_owned(),
        facts.port.to_string(),
        facts.pid.map_or_else(unknown, |pid| pid.to_string()),
        editor.map_or_else(unknown, |name| {
            visible::head(&visible::one_line(&name), WIDEST_EDITOR)
        }),
        if facts.pillion { "pillion" } else { "other" }.to_owned(),
        visible::one_line(&agents.unwrap_or_else(unknown)),
        facts
            .pending_diffs
            .map_or_else(unknown, |count| count.to_string()),
    ];
    if with_state {
        let state = match facts.state {
            Liveness::Alive => "alive",
            Liveness::ProcessGone => "its process is gone",
            Liveness::NobodyListens => "nobody listens",
            Liveness::OutOfReach => "out of reach from here",
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
    use pillion_discovery::survey::Companion;
    use pillion_protocol::IdeInfo;

    use super::*;

    fn facts(port: u16, display_name: &str, roots: &[&str]) -> Facts {
        let companion = Companion {
            port,
            ide: Some(IdeInfo::new("x", display_name)),
            roots: roots.iter().map(Into::into).collect(),
            pids: vec![7],
            files: Vec::new(),
            state: None,
            is_silent: false,
            liveness: Liveness::ProcessGone,
        };
        Facts::of(&companion, None)
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

    #[test]
    fn where_there_is_no_room_for_both_the_editors_name_is_cut_too() {
        let listed = [
            facts(
                9,
                "A very long name of an editor",
                &["/work/a/long/way/to/it"],
            ),
            facts(10, "Kate", &["/w"]),
        ];
        let lines = |width| -> Vec<String> {
            let table = table(&listed, false, None, width);
            table.lines().map(str::to_owned).collect()
        };
        let rows = lines(75);
        assert!(rows[1].contains("  A very long name of …  "), "{rows:#?}");
        assert!(rows[1].ends_with("  …/long/way/to/it"), "{rows:#?}");
        assert!(rows.iter().all(|line| visible::width(line) <= 75));
        let rows = lines(60);
        assert!(rows[1].contains("  A very …  "), "{rows:#?}");
        assert!(rows[2].contains("  Kate  "), "{rows:#?}");
    }

    #[test]
    fn agents_of_one_kind_are_counted() {
        let agents = ["gemini", "qwen", "gemini", "gemini"].map(str::to_owned);
        let counted = |agents: &[String]| counted(agents.iter().map(String::as_str));
        assert_eq!(counted(&agents), "gemini×3,qwen");
        assert_eq!(counted(&agents[1..3]), "qwen,gemini");
    }
}
