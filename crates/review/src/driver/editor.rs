//! The reviewer's own editor, which has the terminal while it runs. The loop goes on meanwhile, and answers
//! agents; threads wait for the editor and for the disk of its copy.
//!
//! It gets the terminal only once the copy was written and its program was found on `PATH`.

use std::convert::Infallible;
use std::io;
use std::path::PathBuf;
use std::sync::{Arc, OnceLock};
use std::time::{Duration, Instant};

use crossbeam_channel::{Receiver, RecvTimeoutError, bounded};
use pillion_system::{SearchPath, spawn, time_limit};
use pillion_text::visible;
use pillion_view::{CloseReason, DiffId, ProposalKey, Proposed, Reply, Stale, Tell};

use super::{DISK_TIMEOUT, Driver, place};
use crate::app::{Edit, Event};
use crate::edit;
use crate::keyboard::Keyboard;
use crate::{Copied, Ended, Input};

/// The time that the reviewer's editor may take to end when the review has to.
const EDITOR_GRACE: Duration = Duration::from_millis(500);

/// The interval at which the reviewer's copy is checked for what was saved in it.
const SAVES_INTERVAL: Duration = Duration::from_millis(100);

/// The reviewer's editor, from the key on.
pub struct Running {
    /// The proposal that is edited: a newer one may take its place meanwhile.
    proposal: ProposalKey,
    /// Once its copy is written. From then on the editor has the terminal.
    session: Option<edit::Session>,
    /// Known once it runs.
    process: Arc<OnceLock<u32>>,
}

impl Driver {
    /// Takes a view away, with what the reviewer's editor saved of it until now.
    pub(super) fn close(
        &mut self,
        id: DiffId,
        reason: CloseReason,
        closed: Reply<String>,
    ) -> io::Result<()> {
        let running = self.editor.as_ref().filter(|it| it.proposal.id == id);
        let running = running.filter(|it| self.app.views.current(it.proposal).is_ok());
        let edited = running.and_then(|it| Some((it.proposal, it.session.as_ref()?.draft())));
        let Some((proposal, draft)) = edited else {
            return self.update(Event::Closed { id, reason, closed });
        };
        let sender = self.sender.clone();
        let then = move |edit| drop(sender.send(Input::Closing(proposal, edit, reason, closed)));
        time_limit::start(DISK_TIMEOUT, move || draft.read(), then)
    }

    /// Tells what stands in a view, with what the reviewer's editor saved of it until now.
    pub(super) fn tell(&self, proposal: ProposalKey, told: Reply<String>) -> io::Result<()> {
        let standing = match self.app.views.current(proposal) {
            Ok(view) => view.standing_text(),
            Err(stale) => {
                told.failed(stale.to_string());
                return Ok(());
            }
        };
        let running = self.editor.as_ref().filter(|it| it.proposal == proposal);
        let Some(draft) = running.and_then(|it| Some(it.session.as_ref()?.draft())) else {
            told.done(standing);
            return Ok(());
        };
        let then = |edit| match edit {
            Some(Edit::Text(text)) => told.done(text),
            _ => told.done(standing),
        };
        time_limit::start(DISK_TIMEOUT, move || draft.read(), then)
    }

    /// Starts the reviewer's editor, as soon as there is a copy for it. The loop goes on meanwhile,
    /// and answers agents.
    pub(super) fn edit(
        &mut self,
        proposal: ProposalKey,
        path: PathBuf,
        text: Option<String>,
        line: usize,
    ) -> io::Result<()> {
        let variable = |name: &str| std::env::var_os(name);
        let command = match edit::EditorCommand::new(variable("VISUAL"), variable("EDITOR")) {
            Ok(command) => command,
            Err(reason) => return self.update(Event::Edited(proposal.id, Edit::Failed(reason))),
        };
        self.editor = Some(Running {
            proposal,
            session: None,
            process: Arc::default(),
        });
        let name = visible::one_line(&path.file_name().unwrap_or_default().to_string_lossy());
        let silent = format!("cannot start {}: a disk did not respond", command.name());
        let (sender, unfinished) = (self.sender.clone(), self.unfinished.clone());
        let prepare = move || {
            let command = command.located(&SearchPath::of(variable));
            let session = match text {
                Some(text) => edit::Session::new(&path, text, unfinished)
                    .map_err(|error| format!("cannot write a copy to edit: {error}"))?,
                None => edit::Session::of_file(path, unfinished),
            };
            Ok(Copied {
                session,
                command,
                line,
                name,
            })
        };
        let then = move |copied: Option<_>| {
            let _ = sender.send(Input::Copied(copied.unwrap_or(Err(silent))));
        };
        time_limit::start(DISK_TIMEOUT, prepare, then)
    }

    pub(super) fn on_copy(&mut self, copied: Result<Copied, String>) -> io::Result<()> {
        let Some(running) = &mut self.editor else {
            return Ok(());
        };
        let proposal = running.proposal;
        // What was typed meanwhile is neither for the editor nor about what stands here now.
        Keyboard::discard();
        let copied = copied.and_then(|copied| {
            let current = self.app.views.current(proposal);
            current.map_err(|stale| stale.to_string()).map(|_| copied)
        });
        let Copied {
            session,
            command,
            line,
            name,
        } = match copied {
            Ok(copied) => copied,
            Err(reason) => {
                self.editor = None;
                self.keyboard.go_on();
                return self.update(Event::Edited(proposal.id, Edit::Failed(reason)));
            }
        };
        let (draft, saved) = (session.draft(), session.draft());
        running.session = Some(session);
        let process = Arc::clone(&running.process);
        if let Some(screen) = self.face.screen() {
            screen.lend(&format!("Editing {name} in {}…", command.name()))?;
        }
        let (running, is_over) = bounded::<Infallible>(0);
        let (sender, mut saves) = (self.sender.clone(), edit::Saves::of(saved));
        spawn("saves", move || {
            while is_over.recv_timeout(SAVES_INTERVAL) == Err(RecvTimeoutError::Timeout) {
                if let Some(edit) = saves.next() {
                    let _ = sender.send(Input::Saved(proposal, edit));
                }
            }
        })?;
        let sender = self.sender.clone();
        spawn("editor", move || {
            let ended = draft.start(&command, line).map(|mut child| {
                let _ = process.set(child.id());
                let status = child.wait();
                (status, read(draft))
            });
            let _ = (sender.send(Input::EditorEnded(ended)), running);
        })
    }

    pub(super) fn on_editor_end(&mut self, ended: Result<Ended, String>) -> io::Result<()> {
        let Some(Running {
            proposal,
            session: Some(mut session),
            ..
        }) = self.editor.take()
        else {
            return Ok(());
        };
        // First of all: the terminal may be gone.
        if let Ok((_, edit)) = &ended {
            self.keep_saved(proposal, edit);
        }
        let now = self.app.views.current(proposal).map(|_| ());
        let edit = match ended {
            Ok((status, edit)) => session.finish_for(status, edit, now),
            Err(reason) => Edit::Failed(reason),
        };
        match &edit {
            Edit::Kept(place) | Edit::Lost(place) => self.final_messages.push(place.clone()),
            Edit::Text(text)
            | Edit::Late {
                text: Some(text), ..
            } => {
                self.drafts.put(proposal.id, session, text.clone());
            }
            _ => {}
        }
        if let Edit::Text(_) | Edit::Unchanged | Edit::Late { .. } = &edit {
            self.journal.tell_again(proposal);
        }
        if let Some(screen) = self.face.screen() {
            screen.take()?;
        }
        self.notifier.forget();
        Keyboard::discard();
        self.resize()?;
        self.update(Event::Edited(proposal.id, edit))?;
        self.keyboard.go_on();
        Ok(())
    }

    /// The reviewer's editor has saved a text.
    pub(super) fn on_save(&self, proposal: ProposalKey, edit: &Edit) {
        let running = self.editor.as_ref();
        if running.is_some_and(|running| running.proposal == proposal) {
            self.keep_saved(proposal, edit);
        }
    }

    /// Has the companion keep what stands in the copy of a proposal, as a draft for that or for the newer one in its place.
    fn keep_saved(&self, proposal: ProposalKey, edit: &Edit) {
        let Some(view) = self.app.views.find(proposal.id) else {
            return;
        };
        let draft = match edit {
            Edit::Text(text) => Some(text.clone()),
            Edit::Unchanged if !view.is_comparing() => view.proposal.draft(),
            _ => return,
        };
        let key = view.key();
        self.companion.tell(Tell::Draft { key, text: draft });
    }

    /// The session of the reviewer's editor, if it has the terminal.
    pub(super) fn edited(&self) -> Option<&edit::Session> {
        self.editor.as_ref()?.session.as_ref()
    }

    /// Takes in the text that it had saved of a view that is to be closed.
    pub(super) fn closing(
        &mut self,
        proposal: ProposalKey,
        edit: Option<Edit>,
        reason: CloseReason,
        closed: Reply<String>,
    ) -> io::Result<()> {
        let id = proposal.id;
        if let Err(stale @ Stale::Replaced) = self.app.views.current(proposal) {
            closed.failed(stale.to_string());
            return Ok(());
        }
        if let Some(Edit::Text(text)) = edit {
            self.update(Event::Saved(id, text))?;
        }
        self.update(Event::Closed { id, reason, closed })
    }

    /// Asks it to end.
    pub(super) fn end_editor(&self) {
        let running = self.editor.as_ref();
        if let Some(process) = running.and_then(|running| running.process.get()) {
            end(*process);
        }
    }

    /// Lets the reviewer's editor give the terminal back, and keeps what was saved in it.
    pub(super) fn await_editor(&mut self, inputs: &Receiver<Input>) {
        let Some(Running {
            proposal,
            session: Some(mut session),
            ..
        }) = self.editor.take()
        else {
            return;
        };
        let mut has_ended = false;
        let deadline = Instant::now() + EDITOR_GRACE;
        while let Ok(input) =
            inputs.recv_timeout(deadline.saturating_duration_since(Instant::now()))
        {
            if matches!(input, Input::EditorEnded(_)) {
                has_ended = true;
                break;
            }
            self.final_messages.extend(place(input));
        }
        let edit = read(session.draft());
        self.keep_saved(proposal, &edit);
        let place = match edit {
            Edit::Text(_) | Edit::Failed(_) => session.keep("the review ended while you edited"),
            Edit::Lost(reason) => session.leave(reason),
            _ if has_ended => return,
            _ => {
                let file = session.stay();
                let file = file.display();
                format!("the review ended, and your editor still runs: it saves in {file}")
            }
        };
        self.final_messages.push(place);
    }
}

/// The outcome of editing a draft until now, as far as its disk answers. Blocking.
fn read(draft: Arc<edit::Draft>) -> Edit {
    let silent = draft.lost("its disk did not respond");
    time_limit::run(DISK_TIMEOUT, move || draft.read()).unwrap_or(silent)
}

/// Asks a process to end.
fn end(process: u32) {
    #[cfg(unix)]
    if let Some(process) = i32::try_from(process)
        .ok()
        .and_then(rustix::process::Pid::from_raw)
    {
        let _ = rustix::process::kill_process(process, rustix::process::Signal::TERM);
    }
    #[cfg(not(unix))]
    let _ = process;
}
