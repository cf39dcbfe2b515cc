//! The thin loop around the state machine: takes in what happens, does what is to be done, draws.

mod drafts;
mod editor;
mod history;
mod web;

use std::io;
use std::panic::{self, AssertUnwindSafe};
use std::path::PathBuf;
use std::process::ChildStdin;
use std::time::{Duration, Instant};

use crossbeam_channel::{Receiver, RecvTimeoutError, Sender, unbounded};
use crossterm::clipboard::CopyToClipboard;
use crossterm::event::Event as TerminalEvent;
use crossterm::execute;
use crossterm::style::Print;
use pillion_discovery::{Environment, kept_text};
use pillion_judge::Job;
use pillion_judge::highlight::Highlighting;
use pillion_judge::journal::Journal;
use pillion_judge::keys::Keys;
use pillion_judge::source::{News, OnDisk, Sources};
use pillion_protocol::File;
use pillion_system::Worker;
use pillion_text::stderr;
use pillion_view::ask::{Changes, Refused};
use pillion_view::{Diff, DiffId, EditorEvent, Handle, Proposed, Reply, Tell, TurnNews};
use ratatui::layout::Size;

use self::drafts::Drafts;
use self::editor::Running;
use crate::app::{App, Effect, Event, Line, Mark, Press};
use crate::edit;
use crate::face::Face;
use crate::keyboard::{self, Keyboard};
use crate::lines::Lines;
use crate::notify::Notifier;
use crate::screen::{self, Depth, Rest, Theme};
use crate::terminal::Screen;
use crate::{Input, Options, Unfinished, appearance, ascii, watch};

/// The files of pending diffs are checked no more often than this; and so often where the system does not tell what happens to
/// them.
const POLL_INTERVAL: Duration = Duration::from_secs(1);

/// The time limit for a disk to make a copy to edit, and for the last words at the end.
const DISK_TIMEOUT: Duration = Duration::from_secs(2);

/// The time from a signal until the review has ended: its editor may take its time to save.
pub const ENDING: Duration = Duration::from_secs(1);

/// Runs a review in the terminal.
pub fn run(
    inputs: Receiver<Input>,
    sender: Sender<Input>,
    companion: Handle,
    options: Options,
) -> anyhow::Result<()> {
    let is_plain = options.is_plain;
    let mut theme = match is_plain {
        true => Theme::new(true, Depth::None),
        false => appearance::theme(options.theme),
    };
    theme.is_ascii = !ascii::is_utf8();
    if options.watch {
        let saved = companion.clone();
        let focus = move |file: File| saved.tell(Tell::Saved(file.into()));
        watch::start(options.roots.clone(), focus)?;
    }
    let in_tmux = std::env::var_os("TMUX").is_some();
    let notifier = Notifier::new(options.notify, in_tmux);
    let chosen = Keys::of_file(&Environment::current().pillion_config().join("keys.toml"));
    let keys = chosen.clone().unwrap_or_default();
    let (face, keyboard) = match is_plain {
        true => {
            let keyboard = Keyboard::lines(sender.clone(), keys.clone())?;
            (Face::Lines(Lines::new()), keyboard)
        }
        false => {
            let screen = Screen::new(notifier.has_title(), options.mouse)?;
            let keyboard = Keyboard::start(sender.clone(), keys.clone())?;
            (Face::Screen(screen), keyboard)
        }
    };
    let size = face.size().unwrap_or(Size::new(80, 24));
    let files = sender.clone();
    let answers = move |answer| drop(files.send(Input::Source(answer)));
    let (unfinished, finished) = unbounded();
    let mut app = App::new(options.roots, size);
    app.has_mouse = options.mouse;
    if is_plain {
        app.be_plain();
    }
    if let Err(why) = &chosen {
        app.troubles_of_keys = Some(format!("{why}; every command has its default key"));
    }
    app.keys = keys;
    let mut driver = Driver {
        app,
        keyboard,
        face,
        theme,
        companion,
        sources: Sources::new(OnDisk, answers),
        editor: None,
        drafts: Drafts::default(),
        journal: Journal::default(),
        pages: Vec::new(),
        unfinished,
        compare: start_comparer(sender.clone())?,
        highlighting: Highlighting::start({
            let sender = sender.clone();
            move |texts, side, coloured| sender.send(Input::Coloured(texts, side, coloured)).is_ok()
        })?,
        sender,
        unanswered: Vec::new(),
        looked: Instant::now(),
        notifier,
        arrived: Vec::new(),
        turn_news: TurnNews::default(),
        is_over: false,
        final_messages: Vec::new(),
    };
    let result = driver.run(&inputs);
    // Also if the terminal is gone. The views are still there: what is saved now is kept as theirs.
    driver.await_editor(&inputs);
    let result = result.and(driver.update(Event::Stop).map_err(Into::into));
    let left = driver.drafts.leave();
    driver.final_messages.extend(left);
    let mut final_messages = std::mem::take(&mut driver.final_messages);
    drop(driver);
    // What other threads still have to do: their disks may hang.
    let _ = finished.recv_timeout(DISK_TIMEOUT);
    final_messages.extend(inputs.try_iter().filter_map(place));
    for place in final_messages {
        stderr::print(place);
    }
    result
}

/// The place of a text, or that it is lost, if that is what came.
fn place(input: Input) -> Option<String> {
    match input {
        Input::Kept(text) => Some(text),
        Input::Companion(EditorEvent::Lost(lost)) => Some(lost.to_string()),
        _ => None,
    }
}

struct Driver {
    app: App,
    keyboard: Keyboard,
    face: Face,
    theme: Theme,
    companion: Handle,
    sender: Sender<Input>,
    sources: Sources<OnDisk>,
    editor: Option<Running>,
    drafts: Drafts,
    journal: Journal,
    /// The pages that were opened: they end with the review.
    pages: Vec<ChildStdin>,
    unfinished: Unfinished,
    compare: Worker<Job>,
    /// Diffs that are not on the screen yet.
    unanswered: Vec<Reply<()>>,
    looked: Instant,
    highlighting: Highlighting,
    notifier: Notifier,
    /// The proposals that came since the last frame, each in a sentence.
    arrived: Vec<String>,
    turn_news: TurnNews,
    is_over: bool,
    /// The places of texts that would have been lost: printed once the screen is gone.
    final_messages: Vec<String>,
}

impl Driver {
    fn run(&mut self, inputs: &Receiver<Input>) -> anyhow::Result<()> {
        while !self.is_over {
            let rest = self.draw()?;
            if let Some(wanted) = rest.colours {
                self.highlighting.ask(wanted);
            }
            match self.next(inputs, rest.is_unfinished) {
                Ok(input) => self.take_in(input)?,
                Err(RecvTimeoutError::Timeout) => self.update(Event::Tick)?,
                Err(RecvTimeoutError::Disconnected) => self.update(Event::Stop)?,
            }
            // Whatever came meanwhile is drawn at once.
            while !self.is_over
                && let Ok(input) = inputs.try_recv()
            {
                self.take_in(input)?;
            }
            self.look()?;
            self.keep_drafts();
        }
        Ok(())
    }

    /// Waits for the next input, as long as nothing is to be done without one.
    fn next(&self, inputs: &Receiver<Input>, more: bool) -> Result<Input, RecvTimeoutError> {
        if more {
            return inputs.recv_timeout(Duration::ZERO);
        }
        let now = Instant::now();
        let looks = !self.app.views.is_empty() && !self.sources.is_quiet();
        let look = looks.then(|| self.looked + POLL_INTERVAL);
        let expires = self.app.settles(now).or_else(|| self.app.expires());
        let until = [look, expires, self.journal.due()]
            .into_iter()
            .flatten()
            .min();
        let wait = until.map_or(Duration::MAX, |until| until.saturating_duration_since(now));
        inputs.recv_timeout(wait)
    }

    /// Draws, unless the reviewer's editor has the terminal, and answers those that waited for that.
    fn draw(&mut self) -> io::Result<Rest> {
        let mut rest = Rest::default();
        if self.app.settles(Instant::now()).is_some() {
            return Ok(rest);
        }
        if self.edited().is_some() {
            self.app.out_of_sight();
        } else {
            self.app.see(Instant::now());
            let shown = self.app.view().map(Proposed::key);
            let (app, theme) = (&mut self.app, &self.theme);
            self.face
                .draw(shown, |buffer| rest = screen::draw(buffer, app, theme))?;
            self.notify()?;
            if let Some(question) = self.app.drawn(Instant::now()) {
                self.ask(question)?;
            }
        }
        for shown in self.unanswered.drain(..) {
            shown.done(());
        }
        Ok(rest)
    }

    /// Asks the terminal to report when it has shown what was written.
    fn ask(&mut self, question: Mark) -> io::Result<()> {
        if let Some(screen) = self.face.screen().filter(|_| keyboard::ANSWERS) {
            return screen.ask(question.place());
        }
        // What is written is shown then.
        self.update(Event::Answered(question, Instant::now()))
    }

    /// Reports what came since the last frame, in the ways that the person at the terminal chose.
    fn notify(&mut self) -> io::Result<()> {
        let mut written = self.notifier.arrived(&self.arrived);
        self.arrived.clear();
        let title = self.notifier.title(|| screen::title(&self.app));
        written.extend(title);
        if !written.is_empty() {
            execute!(io::stdout(), Print(written))?;
        }
        Ok(())
    }

    fn take_in(&mut self, input: Input) -> io::Result<()> {
        match input {
            Input::Companion(event) => self.companion_event(event),
            // The terminal is the editor's: what is typed there is about nothing here.
            Input::Key(..) | Input::Line(..) if self.editor.is_some() => Ok(()),
            Input::Key(key, press) => {
                self.update(keyboard::meaning(&self.app, key, press))?;
                if keyboard::hands_over(&self.app.keys, &key) && self.editor.is_none() {
                    self.keyboard.go_on();
                }
                Ok(())
            }
            Input::Line(line, press) => self.line(&line, press),
            Input::Terminal(TerminalEvent::Resize(width, height)) => {
                self.update(Event::Resized(Size::new(width, height)))
            }
            Input::Terminal(TerminalEvent::Mouse(_) | TerminalEvent::Paste(_))
                if self.editor.is_some() =>
            {
                Ok(())
            }
            Input::Terminal(TerminalEvent::Mouse(mouse)) => self.update(Event::Mouse(mouse)),
            Input::Terminal(TerminalEvent::Paste(text)) => self.update(Event::Pasted(text)),
            Input::Terminal(_) => Ok(()),
            Input::Closing(proposal, edit, reason, closed) => {
                self.closing(proposal, edit, reason, closed)
            }
            Input::Copied(copied) => self.on_copy(copied),
            Input::Saved(proposal, edit) => self.on_save(proposal, &edit),
            Input::EditorEnded(ended) => self.on_editor_end(ended),
            Input::Source(answer) => match self.sources.take(answer) {
                Some((id, News::Disk(disk))) => self.update(Event::Disk(id, disk)),
                Some((id, News::Read(original))) => self.update(Event::Reread(id, original)),
                None => Ok(()),
            },
            Input::Kept(text) => self.kept(text),
            Input::Coloured(texts, side, coloured) => {
                self.update(Event::Coloured(texts, side, coloured))
            }
            Input::Event(event) => self.update(event),
            Input::KnowsReleases => match self.face.screen() {
                Some(screen) => screen.report_releases(),
                None => Ok(()),
            },
            Input::Interrupt | Input::Resumed if self.editor.is_some() => Ok(()),
            Input::Resumed => {
                if let Some(screen) = self.face.screen() {
                    screen.retake()?;
                }
                self.resumed()
            }
            Input::Interrupt | Input::Stop => {
                self.stop();
                Ok(())
            }
        }
    }

    /// A line was typed: an answer to what the review asks to type, or a key and what follows it.
    fn line(&mut self, line: &str, press: Press) -> io::Result<()> {
        for typed in self.app.typed(line, press) {
            let event = match typed {
                Line::Key(key) => keyboard::meaning(&self.app, key, press),
                Line::Event(event) => *event,
            };
            self.update(event)?;
        }
        if keyboard::line_hands_over(&self.app.keys, line) && self.editor.is_none() {
            self.keyboard.go_on();
        }
        Ok(())
    }

    /// The companion sends a request or reports something.
    fn companion_event(&mut self, event: EditorEvent) -> io::Result<()> {
        match event {
            EditorEvent::Open(diff, shown) => self.open(diff, shown),
            EditorEvent::Close(id, reason, closed) => self.close(id, reason, closed),
            EditorEvent::Text(proposal, told) => self.tell(proposal, told),
            EditorEvent::Diagnostics(_, found) => {
                found.done(Vec::new());
                Ok(())
            }
            EditorEvent::Status(status) => {
                let turn = status.ended.as_ref().map(|ended| ended.turn);
                let is_seen = turn.is_some_and(|turn| self.app.looks_at(turn));
                let news = self.turn_news.of(&status);
                self.arrived.extend(news.filter(|_| !is_seen));
                self.update(Event::Status(status))
            }
            EditorEvent::Lost(lost) => self.kept(lost.to_string()),
            EditorEvent::Shared(_) | EditorEvent::Moved(_) => Ok(()),
            EditorEvent::Draft(key, text) => self.update(Event::Drafted(key, text)),
            EditorEvent::Notes(key, notes) => self.update(Event::Noted(key, notes)),
            EditorEvent::Stopped => {
                self.stop();
                Ok(())
            }
        }
    }

    fn open(&mut self, mut diff: Diff, shown: Reply<()>) -> io::Result<()> {
        let id = diff.id;
        let original = self.sources.open(&mut diff);
        self.update(Event::Opened {
            diff,
            original,
            shown,
        })?;
        let view = self.app.views.find(id);
        self.arrived.extend(view.map(|view| {
            let name = &view.target.shown;
            format!("{} {} {name}", self.app.agent_name(view), view.diff.does())
        }));
        Ok(())
    }

    fn update(&mut self, event: Event) -> io::Result<()> {
        let effects = self.app.update(event, Instant::now());
        for effect in effects {
            self.perform(effect)?;
        }
        let views = &self.app.views;
        self.drafts.retain(|id| views.find(id).is_some());
        Ok(())
    }

    /// Gets what the companion says to something.
    fn told<T: From<Refused>>(
        &self,
        event: impl FnOnce(T) -> Event + Send + 'static,
    ) -> Reply<T, Refused> {
        let sender = self.sender.clone();
        Reply::told(move |answer| drop(sender.send(Input::Event(event(answer)))))
    }

    fn perform(&mut self, effect: Effect) -> io::Result<()> {
        match effect {
            Effect::Decide(decide) => {
                let key = decide.key;
                let ruled = self.told(move |ruling| Event::Ruled(key, ruling));
                self.companion.ask(*decide, ruled);
            }
            Effect::Choose(choice) => choice.ask(&self.companion, self.told(Event::Chosen)),
            Effect::Changes => self.companion.ask(Changes, self.told(Event::Listed)),
            Effect::Act(act, sent) => {
                let acted = self.told(|done| Event::Acted(done, sent));
                self.companion.ask(act, acted);
            }
            Effect::Compare(job) => {
                self.compare.order(*job);
            }
            Effect::Shown(shown) => self.unanswered.push(shown),
            Effect::Closed(closed, Ok(text)) => closed.done(text),
            Effect::Closed(closed, Err(reason)) => closed.failed(reason),
            Effect::Edit {
                proposal,
                path,
                text,
                line,
            } => return self.edit(proposal, path, text, line),
            Effect::Keep {
                id,
                path,
                text,
                why,
            } => self.keep(id, path, text, why)?,
            Effect::Web => {
                let opened = web::open(&self.app.roots, self.sender.clone());
                match opened {
                    Ok(held) => self.pages.push(held),
                    Err(error) => {
                        let why = format!("the page cannot be started: {error}");
                        return self.update(Event::Notice(why));
                    }
                }
            }
            Effect::History => history::read(self.app.roots.clone(), self.sender.clone())?,
            Effect::Past(past) => history::open(*past, self.sender.clone())?,
            Effect::Bases(wanted) => history::compare(*wanted, self.sender.clone())?,
            Effect::Copy(text) => {
                execute!(io::stdout(), CopyToClipboard::to_clipboard_from(text))?;
            }
            Effect::Mouse(is_ours) => {
                if let Some(screen) = self.face.screen() {
                    screen.take_mouse(is_ours)?;
                }
            }
            Effect::Reread(id) => self.sources.reread(id)?,
            Effect::Suspend => {
                if let Some(screen) = self.face.screen() {
                    screen.suspend()?;
                }
                return self.resumed();
            }
            Effect::Quit => self.is_over = true,
        }
        Ok(())
    }

    /// Keeps a text that would be lost in a private file, if it is in none yet.
    fn keep(&mut self, id: DiffId, path: PathBuf, text: String, why: String) -> io::Result<()> {
        if let Some(file) = self.drafts.claim(id, &text) {
            return self.kept(edit::kept(&why, &file));
        }
        let mut former = self.drafts.take(id);
        let (sender, unfinished) = (self.sender.clone(), self.unfinished.clone());
        let places = kept_text::places(&Environment::current());
        kept_text::keep_aside(places, path, text, move |kept| {
            let place = match (kept, &mut former) {
                (Ok(file), _) => edit::kept(&why, &file),
                (Err(error), Some(former)) => {
                    former.keep(&format!("{why}, and the last changes are lost: {error}"))
                }
                (Err(error), None) => format!("{why}, and your text is lost: {error}"),
            };
            let _ = (sender.send(Input::Kept(place)), former, unfinished);
        })
    }

    /// Shows where a text is that would have been lost, now and at the end.
    fn kept(&mut self, place: String) -> io::Result<()> {
        self.final_messages.push(place.clone());
        self.update(Event::Kept(place))
    }

    /// The terminal is ours again after the shell had it.
    fn resumed(&mut self) -> io::Result<()> {
        self.notifier.forget();
        let size = self.face.size()?;
        self.update(Event::Resumed(size))
    }

    /// The terminal may have another size after something else had it.
    fn resize(&mut self) -> io::Result<()> {
        let size = self.face.size()?;
        self.update(Event::Resized(size))
    }

    /// The review is to end, once its editor has.
    fn stop(&mut self) {
        self.end_editor();
        self.is_over = true;
    }

    /// Has the companion keep what the reviewer has made of pending diffs.
    fn keep_drafts(&mut self) {
        for (key, text) in self.journal.look(&self.app.views, Instant::now()) {
            self.companion.tell(Tell::Draft { key, text });
        }
        for (key, notes) in self
            .journal
            .notes(&self.app.views, |it| self.app.words_on(it))
        {
            self.companion.tell(Tell::Notes { key, notes });
        }
        for (id, notes) in self.journal.row_notes(self.app.row_notes()) {
            self.companion.tell(Tell::RowNotes { id, notes });
        }
    }

    /// Has the files of pending diffs checked now and then.
    fn look(&mut self) -> io::Result<()> {
        if self.looked.elapsed() < POLL_INTERVAL {
            return Ok(());
        }
        self.looked = Instant::now();
        let views = &self.app.views;
        self.sources.retain(|id| views.find(id).is_some());
        self.sources.look()
    }
}

/// Compares texts on a thread of its own: a long one must keep neither keys nor agents waiting.
fn start_comparer(done: Sender<Input>) -> io::Result<Worker<Job>> {
    Worker::start("compare", Duration::ZERO, move |job: Job| {
        // A panic has given the terminal back and was reported: there is nothing to go on with.
        let compared = panic::catch_unwind(AssertUnwindSafe(|| job.run()));
        let compared = compared.map(|compared| Input::Event(Event::Compared(compared)));
        let _ = done.send(compared.unwrap_or(Input::Stop));
    })
}
