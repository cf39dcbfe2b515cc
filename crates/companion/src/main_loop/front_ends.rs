//! The loop's work for its front ends: they come, report and leave.

use std::path::Path;
#[cfg(unix)]
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Instant;

use pillion_discovery::state::kept_elsewhere;
use pillion_protocol::{File, ReviewChoice, ReviewMode};
use pillion_text::counted;
use pillion_view::ask::Changes;
use pillion_view::changes::{ActDone, ChangesAct};
use pillion_view::{
    Answering, Chosen, CloseReason, EditorEvent, Loss, Options, ProposalKey, Shows, Status, Tell,
};

use super::MainLoop;
use crate::event::{By, NewView};
use crate::ids::ViewId;
use crate::judging::Shelf;
use crate::lost::Lost;
use crate::proposers::News;
use crate::recording;
use crate::views::{Closed, Leftover, ShownResult};

/// Why nothing is recorded, where the first view has turned that off.
const TURNED_OFF: &str = "what agents change is not recorded: PILLION_CHANGES=off is set where the first editor or review here was \
    opened; close all that are open here and open one without it, unless you meant that";

impl MainLoop {
    pub(super) fn attached(&mut self, new: NewView, now: Instant) {
        let NewView {
            id,
            options,
            mut editor,
            published,
        } = new;
        tracing::info!(view = id.0, ide = options.ide.name, "a view is attached");
        if let Shows::Only { key, .. } = options.shows {
            if let Err(stale) = self.views.check_open(key) {
                return published.failed(stale.to_string());
            }
            self.views.add(id, options, editor);
            self.views.send_shared(key);
            self.recording.offer();
            // Agents do not find the companion by a guest.
            return published.done(Vec::new());
        }
        editor.event(EditorEvent::Status(self.front_end_status()));
        self.views.add(id, options, editor);
        self.recording.offer();
        self.views_changed(now);
        if self.recording.is_turned_off() || self.elsewhere().is_some() {
            // Not of this one, perhaps.
            self.report_status();
        }
        self.discovery.tell_files(published);
    }

    pub(super) fn told(&mut self, view: ViewId, tell: Tell, now: Instant) {
        match tell {
            Tell::Context { files, is_trusted } => {
                let files = files.into_iter().map(File::from).collect();
                let reported = self.views.report(view, files, is_trusted);
                self.context
                    .report(reported.files, reported.is_trusted, now);
                if !{ self.agents.left_alone(&self.sessions.listening()) }.is_empty() {
                    self.report_status();
                }
            }
            Tell::Saved(file) => self.saved(file.into(), now),
            Tell::Synced { path, is_saved } => {
                if !is_saved {
                    self.views.has_read(view, path.clone(), now);
                }
                self.recording.synced(path, is_saved);
                self.agents.may_have_stirred(now);
            }
            Tell::Draft { key, text } => {
                if self.diffs.check_current(key).is_ok() {
                    self.recording.edited(key, view, text);
                }
            }
            Tell::Notes { key, notes } => {
                if let Some((of, path)) = self.diffs.notes_of(key) {
                    let all = self.kept_notes.keep_on(view, &of, path, notes);
                    let noted = all.clone();
                    self.recording.keep(move |it| it.noted(key.id.0, noted));
                    // If all views leave before anybody decides, the agent reads them.
                    self.diffs.note(key.id, all, Vec::new());
                } else if self.diffs.newest(key.id).is_none() {
                    self.recording.keep(move |it| it.noted(key.id.0, notes));
                }
            }
            Tell::RowNotes { id, notes } => {
                self.kept_notes.keep_on(view, &id, Path::new(""), notes);
            }
            Tell::Roots(roots) => {
                self.views.change(view, |options| options.roots = roots);
                self.roots_changed();
            }
            Tell::Shows(shows) => self.views.now_shows(view, shows),
            Tell::Editor(pid) => {
                self.views.change(view, |options| options.editor_pid = pid);
                self.publish_seats();
            }
            Tell::Leave(_) => self.left(view, now),
        }
    }

    /// The changes that agents have written already.
    pub(crate) fn changes(&mut self, _: Changes, _: By, reply: Answering<Changes>) {
        self.recording.count_again();
        let unkept = self.recording.unkept();
        self.judging.list(Arc::clone(&self.roots), unkept, reply);
    }

    /// The person does something with them.
    pub(crate) fn act(&mut self, mut act: ChangesAct, by: By, reply: Answering<ChangesAct>) {
        if let Some(why) = self.recording.unkept().refusal(&act) {
            return reply.done(ActDone::failed(why));
        }
        if let (ChangesAct::Keep(meant), Some(view)) = (&mut act, by.view) {
            meant.just_read = self.views.just_read(view, by.at);
        }
        match act {
            ChangesAct::Look(id) => {
                let Chosen { done, message } = self.look(id);
                reply.done(ActDone {
                    done,
                    message,
                    ..ActDone::default()
                });
            }
            act => self.judging.act(act, Arc::clone(&self.roots), reply),
        }
    }

    /// An agent has started a front end, or that is not so any more.
    pub(super) fn is_of_agent(&mut self, view: ViewId, is_agents: bool, now: Instant) {
        self.views.is_of_agent(view, is_agents);
        let reported = self.views.reported();
        self.context
            .report(reported.files, reported.is_trusted, now);
    }

    /// One of several leaves: what it showed goes to the others.
    pub(super) fn left(&mut self, view: ViewId, now: Instant) {
        tracing::info!(view = view.0, "a view has left");
        self.views.send_stopped_to(view);
        for (key, result) in self.views.remove(view, now) {
            self.tell_shown(key, result);
        }
        for (key, closed) in self.views.elapse(now) {
            self.tell_closed(key, closed);
        }
        self.recording.view_left(view);
        self.kept_notes.left(view);
        self.views_changed(now);
    }

    pub(super) fn tell_shown(&mut self, key: ProposalKey, result: ShownResult) {
        let actions = match result {
            ShownResult::Shown => self.diffs.shown(key, Ok(())),
            ShownResult::NotShown(reason) => self.diffs.shown(key, Err(reason)),
            // As when an editor ends (C5.7).
            ShownResult::Unseen => {
                self.views.close(key, CloseReason::Overruled);
                self.recording.keep(move |it| it.closed(key.id.0));
                self.forget_told_notes(key);
                match self.diffs.unseen(key) {
                    Ok(actions) => actions,
                    Err(session) => {
                        self.proposers.tell(&session, News::Unseen);
                        return;
                    }
                }
            }
        };
        self.perform(actions);
    }

    pub(super) fn tell_closed(&mut self, key: ProposalKey, closed: Closed) {
        if let Some(text) = closed.text {
            self.recording.keep(move |it| {
                it.let_go(key.id.0);
                Ok(())
            });
            let actions = self.diffs.closed(key, text);
            self.perform(actions);
        }
        for Leftover { view, diff, text } in closed.leftovers {
            self.losses.add(Lost {
                of: None,
                proposer: diff.proposer,
                file_path: diff.path.to_string_lossy().into_owned(),
                content: text,
                is_kept: true,
                how: Loss::DecidedElsewhere,
                view: Some(view),
            });
        }
    }

    /// The person chooses when agents ask, all or that of this number, or wants to know it.
    pub(crate) fn choose(&mut self, choice: Option<ReviewChoice>, number: Option<u64>) -> Chosen {
        if choice == Some(ReviewChoice::Changes) {
            return self.look(None);
        }
        let listening = self.sessions.listening();
        match self.agents.choose(&listening, choice, number) {
            Ok(message) => {
                if let Some(choice) = choice {
                    tracing::info!(choice = choice.name(), "review mode");
                    let choices = self.agents.choices().to_vec();
                    self.discovery.order(|it| it.choices = Some(choices));
                    self.report_status();
                }
                let done = true;
                Chosen { done, message }
            }
            Err(why) => Chosen::refused(why),
        }
    }

    /// Shows what agents have written: these changes, or those of the newest turn that nobody has seen.
    fn look(&mut self, id: Option<String>) -> Chosen {
        let unseen = self.recording.unseen();
        if self.roots.is_empty() || (id.is_none() && unseen == Some(0)) {
            return Chosen::refused("there are no unseen changes here");
        }
        let message = match (&id, unseen) {
            (Some(id), _) => format!("opening {id}…"),
            (None, Some(unseen)) => format!("{} to look at", counted(unseen, "file")),
            (None, None) => "looking for unseen changes".to_owned(),
        };
        self.look_problem = None;
        (self.looks)(self.events.clone(), id);
        Chosen {
            done: true,
            message,
        }
    }

    /// What was looked at is decided.
    pub(crate) fn look_ended(&mut self, problem: String) {
        self.look_problem = Some(problem).filter(|it| !it.is_empty());
        self.recording.count();
        self.report_status();
    }

    /// What the loop knows of what can be shown.
    pub(crate) fn shelf(&self) -> Shelf {
        Shelf {
            store: self.judging.store(),
            open: self.diffs.written().collect(),
            deciding: self.judging.deciding(),
            roots: Arc::clone(&self.roots),
            lists: self.lists.subscribe(),
            is_explained: Arc::clone(&self.judging.is_explained),
        }
    }

    /// Tells all which agents listen, if that changed.
    pub(super) fn report_agents(&mut self) {
        if self.sessions.connected() != self.connected {
            self.report_status();
            self.look_for_running();
        }
    }

    pub(super) fn report_status(&mut self) {
        self.connected = self.sessions.connected();
        let status = self.front_end_status();
        self.views.send_status(&status);
    }

    fn front_end_status(&self) -> Status {
        let listening = self.sessions.listening();
        let unseen = self.recording.unseen().unwrap_or_default();
        let mut working = self.agents.working();
        working.retain(|agent| !self.connected.contains(agent));
        Status {
            working,
            asking: { self.agents.notes(&listening).into_iter() }
                .chain(self.unconnected())
                .chain(self.undecided_left())
                .collect(),
            unasked: self.agents.unasked(&listening),
            review: self.agents.review(&listening).map(|mut review| {
                if unseen > 0 {
                    let before = match review.mode {
                        Some(ReviewMode::After) => ": ",
                        _ => ", ",
                    };
                    review.label += &format!("{before}{} to look at", counted(unseen, "file"));
                }
                review
            }),
            unseen,
            changes: self.recording.list(),
            ended: self.recording.ended(),
            waiting: self.agents.waiting_notes(),
            left_alone: match self.views.options().count() {
                0 | 1 => self.agents.left_alone(&listening),
                _ => Vec::new(),
            },
            decided: self.last_decision.phrase(),
            agents: self.connected.clone(),
            context: (*self.context.current()).clone(),
            warnings: self.warnings(),
        }
    }

    fn warnings(&self) -> Vec<String> {
        let mut warnings = self.discovery.warnings().to_vec();
        let is_wanted = |it: &Options| recording::is_on(&it.environment);
        let is_meant = self.recording.is_turned_off() && !self.views.options().any(is_wanted);
        warnings.extend(self.unrecorded().filter(|_| !is_meant));
        warnings.extend(self.elsewhere());
        warnings.extend(self.look_problem.clone());
        warnings.extend(self.limit_problems.iter().cloned());
        warnings
    }

    /// Why the commands of one of the views do not find what is kept here, for people.
    fn elsewhere(&self) -> Option<String> {
        let here = self.recording.state_dir()?;
        let mut views = self.views.options();
        views.find_map(|it| kept_elsewhere(here, &it.environment))
    }

    /// Why what agents change is not recorded, or not kept, for people.
    pub(super) fn unrecorded(&self) -> Option<String> {
        let problem = self.recording.problem();
        let problem = problem.map(|it| format!("what agents change is not kept: {it}"));
        let turned_off = || {
            self.recording
                .is_turned_off()
                .then(|| TURNED_OFF.to_owned())
        };
        problem.or_else(turned_off)
    }

    fn views_changed(&mut self, now: Instant) {
        self.sessions.set_shows_diffs(self.views.shows_diffs());
        self.publish_seats();
        if let Some(ide) = self.views.ide() {
            self.discovery.order(|it| it.ide = Some(ide.clone()));
        }
        self.roots_changed();
        let reported = self.views.reported();
        self.context
            .report(reported.files, reported.is_trusted, now);
    }

    fn roots_changed(&mut self) {
        let roots = self.views.roots();
        if *self.roots != *roots {
            self.roots = Arc::from(roots.as_slice());
            self.recording.watch(&roots);
            self.kept_notes.find();
            self.recording.find_left();
            self.agents.stirred(Instant::now());
            self.look_for_running();
            self.publish();
        }
    }

    /// Agents are to find another companion in these roots.
    #[cfg(unix)]
    pub(crate) fn withhold(&mut self, roots: Vec<PathBuf>) {
        tracing::info!(
            count = roots.len(),
            "another companion serves some of the roots"
        );
        self.withheld = roots;
        self.publish();
    }

    fn publish(&self) {
        if !self.is_withheld() {
            let mut roots = self.roots.to_vec();
            roots.retain(|root| !self.withheld.contains(root));
            self.discovery.order(|it| it.roots = Some(roots));
        }
        self.publish_seats();
    }

    /// A companion is not found at all where another one serves all of its folders: files without a folder would keep agents
    /// from that one.
    fn publish_seats(&self) {
        let seats = match self.is_withheld() {
            true => Vec::new(),
            false => self.views.seats(),
        };
        self.discovery.order(|it| it.seats = Some(seats));
    }

    fn is_withheld(&self) -> bool {
        !self.roots.is_empty() && self.roots.iter().all(|root| self.withheld.contains(root))
    }
}
