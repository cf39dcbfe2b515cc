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
    /// The proposal that is edited: a newer one may take its place meanwhile. None if it is the words that are being typed.
    proposal: Option<ProposalKey>,
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
        let running = self.editor.as_ref();
        let edited = running.and_then(|it| Some((it.proposal?, it.session.as_ref()?.draft())));
        let edited = edited
            .filter(|(proposal, _)| proposal.id == id && self.app.views.current(*proposal).is_ok());
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
        let running = self.editor.as_ref();
        let running = running.filter(|it| it.proposal == Some(proposal));
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
        proposal: Option<ProposalKey>,
        path: PathBuf,
        text: Option<String>,
        line: usize,
    ) -> io::Result<()> {
        let variable = |name: &str| std::env::var_os(name);
        let command = match edit::EditorCommand::new(variable("VISUAL"), variable("EDITOR")) {
            Ok(command) => command,
            Err(reason) => return self.update(ended(proposal, Edit::Failed(reason))),
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
        let Some(proposal) = self.editor.as_ref().map(|running| running.proposal) else {
            return Ok(());
        };
        // What was typed meanwhile is neither for the editor nor about what stands here now.
        Keyboard::discard();
        let current = self.is_current(proposal);
        let copied = copied.and_then(|copied| {
            let current = current.map_err(|stale| stale.to_string());
            current.map(|()| copied)
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
                return self.update(ended(proposal, Edit::Failed(reason)));
            }
        };
        let (draft, saved) = (session.draft(), session.draft());
        let Some(running) = &mut self.editor else {
            return Ok(());
        };
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
            self.keep_saved(proposal, edit)?;
        }
        let now = self.is_current(proposal);
        let mut edit = match ended {
            Ok((status, edit)) => session.finish_for(status, edit, now),
            Err(reason) => Edit::Failed(reason),
        };
        if let (None, Edit::Text(text)) = (proposal, &edit) {
            match self.app.takes_words(text) {
                true => session.settle(text.clone()),
                false => edit = Edit::Kept(session.keep("notes cannot be as long as this")),
            }
        }
        match (&edit, proposal) {
            (Edit::Kept(place) | Edit::Lost(place), _) => self.final_messages.push(place.clone()),
            (
                Edit::Text(text)
                | Edit::Late {
                    text: Some(text), ..
                },
                Some(proposal),
            ) => {
                self.drafts.put(proposal.id, session, text.clone());
            }
            _ => {}
        }
        if let (Edit::Text(_) | Edit::Unchanged | Edit::Late { .. }, Some(proposal)) =
            (&edit, proposal)
        {
            self.journal.tell_again(proposal);
        }
        if let Some(screen) = self.face.screen() {
            screen.take()?;
        }
        self.notifier.forget();
        Keyboard::discard();
        self.resize()?;
        self.update(self::ended(proposal, edit))?;
        self.keyboard.go_on();
        Ok(())
    }

    /// Checks that a proposal is pending and not replaced. Words have no other in their place.
    fn is_current(&self, proposal: Option<ProposalKey>) -> Result<(), Stale> {
        proposal.map_or(Ok(()), |it| self.app.views.current(it).map(drop))
    }

    /// The reviewer's editor has saved a text.
    pub(super) fn on_save(&mut self, proposal: Option<ProposalKey>, edit: &Edit) -> io::Result<()> {
        let running = self.editor.as_ref();
        match running.is_some_and(|running| running.proposal == proposal) {
            true => self.keep_saved(proposal, edit),
            false => Ok(()),
        }
    }

    /// Has the companion keep what stands in the copy of a proposal, as a draft for that or for the newer one in its place, or in
    /// that of words.
    fn keep_saved(&mut self, proposal: Option<ProposalKey>, edit: &Edit) -> io::Result<()> {
        let Some(proposal) = proposal else {
            let edit = match edit {
                Edit::Text(text) => Edit::Text(text.clone()),
                Edit::Unchanged => Edit::Unchanged,
                _ => return Ok(()),
            };
            self.update(Event::Worded(edit))?;
            self.keep_drafts();
            return Ok(());
        };
        let Some(view) = self.app.views.find(proposal.id) else {
            return Ok(());
        };
        let draft = match edit {
            Edit::Text(text) => Some(text.clone()),
            Edit::Unchanged if !view.is_comparing() => view.proposal.draft(),
            _ => return Ok(()),
        };
        let key = view.key();
        self.companion.tell(Tell::Draft { key, text: draft });
        Ok(())
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
        // The terminal may be gone, and the text is in the file in any case.
        let _ = self.keep_saved(proposal, &edit);
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

/// The event that the editor of a proposal, or of words, has ended.
fn ended(proposal: Option<ProposalKey>, edit: Edit) -> Event {
    match proposal {
        Some(proposal) => Event::Edited(proposal.id, edit),
        None => Event::Worded(edit),
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
