//! A stand-in for the command: runs the review against a script, to be replaced.

mod review;

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use pillion_companion::{CloseReason, Diff, DiffId, Editor, Reply, Status};
use pillion_protocol::{Dialect, File, IdeContext, Outcome, WorkspaceState};

#[derive(Clone)]
struct Log(PathBuf);

impl Log {
    fn line(&self, text: String) {
        use std::io::Write;
        if let Ok(mut file) = std::fs::OpenOptions::new()
            .append(true)
            .create(true)
            .open(&self.0)
        {
            let _ = writeln!(file, "{text}");
        }
    }
}

impl review::Companion for Log {
    fn resolve_diff(&self, id: DiffId, outcome: Outcome) {
        self.line(format!("resolve {id} {outcome:?}"));
    }
    fn focus(&self, file: File) {
        self.line(format!("focus {file:?}"));
    }
}

/// Arguments: `LOG ROOT STEP...`; steps `open:AGENT:ID:PATH:PROPOSAL`, `close:ID`, `sleep:MS`,
/// `agents:N`.
fn main() -> anyhow::Result<()> {
    let mut args = std::env::args().skip(1);
    let log = Log(args.next().unwrap_or_default().into());
    let root: PathBuf = args.next().unwrap_or_default().into();
    let steps: Vec<String> = args.collect();
    let (front, review) = review::channel();
    let mut editor = front.clone();
    let shown = log.clone();
    let first = root.join("src/app.ts").display().to_string();
    std::thread::spawn(move || {
        for step in steps {
            let parts: Vec<_> = step.split(':').collect();
            match parts[..] {
                ["open", agent, id, path, proposal] => {
                    let log = shown.clone();
                    let diff = Diff {
                        id: DiffId(id.parse().unwrap_or(0)),
                        agent: if agent == "gemini" {
                            Dialect::GeminiCli
                        } else {
                            Dialect::QwenCode
                        },
                        path: path.into(),
                        proposed: Arc::from(std::fs::read_to_string(proposal).unwrap_or_default()),
                    };
                    let start = std::time::Instant::now();
                    let reply = Reply::new(move |result| {
                        log.line(format!("shown {result:?} {:?}", start.elapsed()))
                    });
                    editor.open_diff(diff, reply);
                }
                ["close", id] => {
                    let log = shown.clone();
                    let reply = Reply::new(move |result| log.line(format!("closed {result:?}")));
                    editor.close_diff(
                        DiffId(id.parse().unwrap_or(0)),
                        CloseReason::ClosedByAgent,
                        reply,
                    );
                }
                ["sleep", ms] => std::thread::sleep(Duration::from_millis(ms.parse().unwrap_or(0))),
                ["stop"] => editor.stop(),
                ["interrupt"] => editor.interrupt(),
                ["notice", text] => editor.notice(text),
                ["agents", n] => editor.status_changed(Status {
                    agents: Dialect::ALL
                        .into_iter()
                        .take(n.parse().unwrap_or(0))
                        .collect(),
                    context: IdeContext {
                        workspace_state: Some(WorkspaceState {
                            open_files: Some(vec![
                                File::focused(first.clone(), 1),
                                File::open("/w/b", 0),
                            ]),
                            is_trusted: None,
                        }),
                    },
                    warnings: Vec::new(),
                }),
                _ => {}
            }
        }
    });
    let theme = match std::env::var("THEME").as_deref() {
        Ok("light") => review::ThemeChoice::Light,
        Ok("dark") => review::ThemeChoice::Dark,
        _ => review::ThemeChoice::Auto,
    };
    let options = review::Options {
        roots: vec![root],
        theme,
        watch: true,
        hints: vec!["export GEMINI_CLI_IDE_SERVER_PORT=41234".to_owned()],
    };
    let result = review.run(log, options);
    if let Err(error) = &result
        && let Some(reason) = error.downcast_ref::<review::NoTerminal>()
    {
        anyhow::bail!("{reason}\nHint: {}", reason.hint());
    }
    result
}
