//! `pillion context`.

use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::time::Duration;

use pillion_discovery::Environment;
use pillion_discovery::survey::Companion;
use pillion_protocol::context::{MAX_FILES, MAX_SELECTION};
use pillion_protocol::{File, IdeContext};
use pillion_system::{Signals, spawn, stdio};
use pillion_text::stderr;
use pillion_text::visible;
use pillion_view::ask::GetContext;
use tokio::sync::mpsc::{self, UnboundedReceiver};
use tokio::task::spawn_blocking;
use tokio::time::{sleep, timeout};

use crate::args::Target;
use crate::choice;
use crate::commands::control_client;
use crate::failure::{Failure, Kind};
use crate::paths;

/// The time for which an empty context may stay the last word: what was focused just now is sent a little
/// later (C4.2).
const SECOND: Duration = Duration::from_millis(300);

/// The pause before a companion that is gone is looked for once more.
const RETRY: Duration = Duration::from_millis(300);

/// Show the context that an agent gets from here
///
/// Prints the open files, most recently focused first, with the cursor and the selection of the
/// active file (`*`), truncated as agents truncate them: 10 files, and 16384 characters of the
/// selection.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// Print the context again whenever it changes, until Ctrl-C; reconnects if the companion
    /// restarts
    #[arg(long)]
    follow: bool,

    /// Print `{workspaceState: {openFiles: [{path, timestamp, isActive, cursor, selectedText}],
    /// isTrusted}}`, with --follow one object per line; `{}` when nothing is known
    #[arg(long)]
    json: bool,

    #[command(flatten)]
    target: Target,
}

/// Each context that is shown, until the connection breaks.
type Contexts = UnboundedReceiver<anyhow::Result<IdeContext>>;

pub fn run(args: Args) -> anyhow::Result<()> {
    let companion = find(&args.target)?;
    let mut printer = Printer {
        is_json: args.json,
        editor: companion.display_name().to_owned(),
        home: Environment::current().home(),
        is_first: true,
        is_showing: false,
    };
    pillion_agent::runtime()?.block_on(async {
        let mut signals = Signals::install()?;
        let contexts = follow(&companion)?;
        tokio::select! {
            shown = show(contexts, &mut printer, &args) => shown,
            signal = signals.next() => match args.follow {
                // That is how following ends.
                true => Ok(()),
                false => Err(Failure::new(Kind::Signal(signal.number()), "interrupted").into()),
            },
            () = stdio::closed(), if args.follow => Ok(()),
        }
    })
}

fn find(target: &Target) -> anyhow::Result<Companion> {
    choice::of_pillion(&Environment::current(), target)
}

/// Asks again and again what is shown, from a thread of its own.
fn follow(companion: &Companion) -> anyhow::Result<Contexts> {
    let mut connection = control_client::connect(&Environment::current(), companion)?;
    let (sender, contexts) = mpsc::unbounded_channel();
    spawn("context", move || {
        let mut known = None;
        loop {
            let shown = connection.wait_for(GetContext { known });
            let shown = shown.map_err(control_client::failure);
            let is_over = shown.is_err();
            known = shown.as_ref().ok().map(|shown| shown.number);
            let context = shown.map(|shown| shown.context.as_seen_by_agent());
            if sender.send(context).is_err() || is_over {
                return;
            }
        }
    })?;
    Ok(contexts)
}

async fn next(contexts: &mut Contexts) -> anyhow::Result<IdeContext> {
    let lost = || Failure::new(Kind::NoCompanion, "the companion is not connected").into();
    contexts.recv().await.unwrap_or_else(|| Err(lost()))
}

async fn show(mut contexts: Contexts, printer: &mut Printer, args: &Args) -> anyhow::Result<()> {
    if !args.follow {
        let mut shown = next(&mut contexts).await?;
        if shown.files().is_empty() {
            let second = timeout(SECOND, next(&mut contexts)).await;
            shown = second.ok().and_then(Result::ok).unwrap_or(shown);
        }
        return Ok(printer.print(&shown)?);
    }
    loop {
        match next(&mut contexts).await {
            Ok(context) => printer.print(&context)?,
            Err(error) => {
                stderr::print(format_args!("note: {error}; waiting for it to come back."));
                // What it showed last is not so any more, and what it shows now is unknown.
                if std::mem::take(&mut printer.is_showing) {
                    printer.say("is not connected")?;
                }
                contexts = follow_again(&args.target).await;
                stderr::print("The companion is back.");
            }
        }
    }
}

/// Asks the companion that the same target means now, as soon as there is one.
async fn follow_again(target: &Target) -> Contexts {
    loop {
        sleep(RETRY).await;
        let target = target.clone();
        let found = spawn_blocking(move || find(&target).and_then(|it| follow(&it))).await;
        if let Ok(Ok(contexts)) = found {
            return contexts;
        }
    }
}

struct Printer {
    is_json: bool,
    editor: String,
    home: Option<PathBuf>,
    is_first: bool,
    /// True if the last context said anything.
    is_showing: bool,
}

impl Printer {
    fn print(&mut self, context: &IdeContext) -> io::Result<()> {
        self.is_showing = *context != IdeContext::default();
        let text = describe(context, &self.editor, self.home.as_deref());
        self.write(context, &text)
    }

    /// Prints how things are with the editor, from which no context came.
    fn say(&mut self, what: &str) -> io::Result<()> {
        let text = format!("{} {what}\n", visible::one_line(&self.editor));
        self.write(&IdeContext::default(), &text)
    }

    /// Writes a context, or what stands for it to people.
    fn write(&mut self, context: &IdeContext, text: &str) -> io::Result<()> {
        let mut out = io::stdout().lock();
        if self.is_json {
            let json = serde_json::to_string(context)?;
            writeln!(out, "{}", visible::json(&json))?;
        } else {
            if !std::mem::take(&mut self.is_first) {
                writeln!(out)?;
            }
            out.write_all(text.as_bytes())?;
        }
        out.flush()
    }
}

fn describe(context: &IdeContext, editor: &str, home: Option<&Path>) -> String {
    let files = context.files();
    let mut lines: Vec<_> = files
        .iter()
        .flat_map(|file| described(file, home))
        .collect();
    if files.is_empty() {
        lines.push(format!("no file is open in {}", visible::one_line(editor)));
    }
    if files.len() >= MAX_FILES {
        lines.push(format!("  (agents see {MAX_FILES} files at most)"));
    }
    let state = context.workspace_state.as_ref();
    if let Some(is_trusted) = state.and_then(|it| it.is_trusted) {
        let not = if is_trusted { "" } else { "not " };
        lines.push(format!("the editor reports this workspace as {not}trusted"));
    }
    lines.join("\n") + "\n"
}

fn described(file: &File, home: Option<&Path>) -> Vec<String> {
    let mark = if file.is_focused() { '*' } else { ' ' };
    let path = paths::shown(Path::new(&file.path), home);
    let cursor = file
        .cursor
        .map(|it| format!(":{}:{}", it.line, it.character));
    let mut lines = vec![format!("{mark} {path}{}", cursor.unwrap_or_default())];
    let selected = file.selected_text.as_deref().unwrap_or_default();
    let shown = selected.lines().map(visible::one_line);
    lines.extend(shown.map(|line| format!("    │ {line}")));
    // One short of the limit, where the next character would have taken two units.
    if selected.encode_utf16().count() + 1 >= MAX_SELECTION {
        lines.push(format!(
            "    (agents see {MAX_SELECTION} characters of a selection at most)"
        ));
    }
    lines
}

#[cfg(all(test, unix))]
mod tests {
    use pillion_protocol::{Cursor, WorkspaceState};

    use super::*;

    #[test]
    fn files_come_in_order_and_nothing_controls_the_terminal() {
        let file = File {
            cursor: Some(Cursor {
                line: 3,
                character: 7,
            }),
            selected_text: Some("a\u{1b}[2J\n\nb".to_owned()),
            ..File::focused("/home/a/x\u{9b}.rs", 2)
        };
        let files = vec![file, File::open("/tmp/y", 1)];
        let state = WorkspaceState {
            open_files: Some(files),
            is_trusted: Some(false),
        };
        let context = IdeContext {
            workspace_state: Some(state),
        };
        let text = describe(&context, "Neovim", Some(Path::new("/home/a")));
        assert_eq!(
            text,
            "* ~/x⟨U+009B⟩.rs:3:7\n    │ a␛[2J\n    │ \n    │ b\n  /tmp/y\n\
             the editor reports this workspace as not trusted\n"
        );
        let empty = describe(&IdeContext::default(), "Neo\u{7}vim", None);
        assert_eq!(empty, "no file is open in Neo␇vim\n");
    }

    #[test]
    fn where_agents_see_no_more_a_line_marks_it() {
        let said = |count: u64, selected: String| {
            let mut files: Vec<_> = (1..count)
                .map(|at| File::open(format!("/{at}"), at))
                .collect();
            files.push(File {
                selected_text: Some(selected),
                ..File::focused("/focused", count)
            });
            let context = IdeContext::for_agents(files, None);
            let text = describe(&context.as_seen_by_agent(), "X", None);
            ["10 files at most", "16384 characters"].map(|words| text.contains(words))
        };
        assert_eq!(said(9, "x".repeat(MAX_SELECTION - 2)), [false, false]);
        assert_eq!(said(10, String::new()), [true, false]);
        assert_eq!(said(99, "x".repeat(MAX_SELECTION)), [true, true]);
        assert_eq!(said(1, "x".repeat(MAX_SELECTION + 1)), [false, true]);
        // The last one would have taken two units.
        let emoji = format!("x{}", "😀".repeat(MAX_SELECTION));
        assert_eq!(said(1, emoji), [false, true]);
        // As it comes from a companion that does not cut.
        let state = WorkspaceState {
            open_files: Some(vec![File {
                selected_text: Some("x".repeat(MAX_SELECTION + 1)),
                ..File::focused("/a", 1)
            }]),
            is_trusted: None,
        };
        let context = IdeContext {
            workspace_state: Some(state),
        };
        let text = describe(&context.as_seen_by_agent(), "X", None);
        assert!(text.contains("... [TRUNCATED]\n    (agents see"), "{text}");
    }
}
