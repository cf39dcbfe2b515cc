//! Proposes files that belong together, and waits until a person has decided about each, beside the loop: for programs
//! ([`Propose`]), and for what is written already.

use std::collections::HashSet;
use std::future::pending;
use std::mem;
use std::pin::{Pin, pin};
use std::sync::Arc;
use std::time::Duration;

use pillion_protocol::{Dialect, Outcome, Proposer};
use pillion_view::ask::{Decided, End, MAX_FILES, Propose, Refused, Undecided};
use tokio::sync::{mpsc, oneshot, watch};
use tokio::time::timeout;

use crate::commands::ToLoop;
use crate::diffs::Answer;
use crate::outbox::Delivery;
use crate::proposers::{News, Proposed};
use crate::sessions::SessionId;
use crate::stand_in::StandIn;

/// The time limit for views to open or close when nobody waits for a decision any more.
const CLOSE_TIMEOUT: Duration = Duration::from_secs(2);

/// What a program has proposed, as long as something of it is left.
#[derive(Debug, Default)]
pub(crate) struct Proposal {
    set: tokio::sync::Mutex<Option<Set>>,
    /// Counts up when it is withdrawn.
    withdrawn: watch::Sender<u64>,
}

impl Proposal {
    pub(crate) async fn propose(&self, to_loop: ToLoop, propose: Propose) -> Result<(), Refused> {
        let Propose {
            files,
            agent,
            session,
            process,
        } = propose;
        if files.len() > MAX_FILES {
            let why = format!("a set has at most {MAX_FILES} files");
            return Err(Refused::because(why));
        }
        let paths: HashSet<_> = files.iter().map(|it| &it.path).collect();
        if paths.len() < files.len() {
            return Err("one file is in the set twice".into());
        }
        let proposer = agent.map_or(Proposer::Pillion, Proposer::For);
        let turn_of = agent
            .zip(session)
            .map(|(agent, name)| (agent, name, process));
        let files = files.into_iter().map(|mut file| {
            let held = file.cell.take().map(StandIn::Held);
            (file, held)
        });
        let files = files.collect();
        let mut set = Set::new(to_loop, proposer, turn_of, files).await?;
        let shown = set.show_all(self.withdrawn()).await;
        *self.set.lock().await = Some(set);
        shown.map_err(Refused::because)
    }

    /// Waits for the next decision, or for the end of all that is left.
    pub(crate) async fn decisions(&self) -> Result<Decided, Refused> {
        let mut slot = self.set.lock().await;
        let mut set = slot.take().ok_or("nothing is proposed")?;
        // Whoever asks again has got the last answer.
        set.undelivered.clear();
        let mut decided = Decided::default();
        match set.next(self.withdrawn()).await {
            Next::Decided(at, end) => decided.ends.push((at, end)),
            Next::Over(why) => {
                decided.ends = set.withdraw().await;
                decided.why = why;
            }
        }
        *slot = Some(set);
        Ok(decided)
    }

    /// The program has got everything.
    pub(crate) async fn passed_on(&self) {
        if let Some(mut set) = self.set.lock().await.take() {
            set.undelivered.clear();
            set.is_passed_on = true;
        }
    }

    /// Withdraws what is left.
    pub(crate) fn withdraw(&self) {
        self.withdrawn.send_modify(|count| *count += 1);
    }

    /// Returns what ends once it is withdrawn.
    fn withdrawn(&self) -> impl Future<Output = ()> + use<> {
        let mut withdrawn = self.withdrawn.subscribe();
        async move {
            if withdrawn.wait_for(|count| *count > 0).await.is_err() {
                pending().await
            }
        }
    }
}

/// Proposes changes that are written already. Those at the places that `over` tells are withdrawn. Returns what came of the
/// decisions, and why not all were decided, if something was shown.
pub(crate) async fn propose_written(
    to_loop: ToLoop,
    proposer: Proposer,
    files: Vec<Proposed>,
    mut over: mpsc::UnboundedReceiver<usize>,
) -> Result<(Vec<String>, Option<Undecided>), Refused> {
    let mut said = Vec::new();
    let mut set = Set::new(to_loop, proposer, None, files).await?;
    if let Err(why) = set.show_all(pending()).await {
        set.withdraw().await;
        return Ok((said, Some(Undecided::NotShown(why))));
    }
    while set.ends.iter().any(Option::is_none) {
        tokio::select! {
            biased;
            next = set.next(pending()) => if let Next::Over(why) = next {
                return Ok((said, why));
            },
            Some(at) = over.recv() => {
                set.withdraw_those(|it| it == at).await;
            }
        };
        let done = set.undelivered.drain(..);
        said.extend(done.filter_map(|it| it.words));
    }
    Ok((said, None))
}

/// What happens next to files that are shown.
enum Next {
    /// A person has decided about the one at this place.
    Decided(usize, End),
    /// Nobody decides about what is left; without a reason, it is to be withdrawn.
    Over(Option<Undecided>),
}

/// Files that are proposed together. Dropping it withdraws what nobody has decided about.
#[derive(Debug)]
struct Set {
    to_loop: ToLoop,
    session: SessionId,
    news: mpsc::UnboundedReceiver<News>,
    /// The path and the text of each.
    files: Vec<(String, String)>,
    /// Those that are not proposed yet, in reverse.
    waiting: Vec<Proposed>,
    /// None of those that are not decided.
    ends: Vec<Option<End>>,
    /// What whoever proposed has not got yet.
    undelivered: Vec<Delivery>,
    /// True if it passes on what it has got.
    is_passed_on: bool,
}

impl Set {
    async fn new(
        to_loop: ToLoop,
        proposer: Proposer,
        turn_of: Option<(Dialect, String, Option<u32>)>,
        files: Vec<Proposed>,
    ) -> Result<Self, Refused> {
        let (sender, news) = mpsc::unbounded_channel();
        let session = to_loop.ask("proposer", move |it, answer| {
            let turn_of =
                turn_of.and_then(|(agent, name, process)| it.hooked_turn(agent, &name, process));
            let session = it.proposer_comes(proposer, turn_of, sender);
            if let Err(session) = answer.send(session) {
                it.proposer_gone(&session, Vec::new(), false, std::time::Instant::now());
            }
        });
        let session = session.await?;
        let named = files.iter();
        Ok(Self {
            to_loop,
            session,
            news,
            ends: vec![None; files.len()],
            files: named
                .map(|(file, _)| (file.path.clone(), file.content.clone()))
                .collect(),
            waiting: files.into_iter().rev().collect(),
            undelivered: Vec::new(),
            is_passed_on: false,
        })
    }

    /// Has all shown, until `stop` ends. An error says why one cannot be.
    async fn show_all(&mut self, stop: impl Future<Output = ()>) -> Result<(), String> {
        let mut stop = pin!(stop);
        while let Some(file) = self.waiting.pop() {
            let at = self.files.len() - self.waiting.len() - 1;
            match self.show(at, file, stop.as_mut()).await {
                Ok(()) => {}
                Err(None) => return Ok(()),
                Err(Some(why)) => return Err(why),
            }
        }
        Ok(())
    }

    /// Waits for the next decision, until `stop` ends.
    async fn next(&mut self, stop: impl Future<Output = ()>) -> Next {
        let mut stop = pin!(stop);
        loop {
            let news = tokio::select! {
                // Who decided in the same moment has decided.
                biased;
                news = self.news.recv() => news,
                () = &mut stop => return Next::Over(None),
            };
            match news {
                Some(News::Decided(delivery)) => {
                    if let Some((at, end)) = self.decided(*delivery) {
                        return Next::Decided(at, end);
                    }
                }
                Some(News::Unseen) | None => return Next::Over(Some(Undecided::Unseen)),
            }
        }
    }

    /// Has one shown. An error ends the review, and says why if `stop` has not.
    async fn show(
        &mut self,
        at: usize,
        file: Proposed,
        stop: Pin<&mut impl Future<Output = ()>>,
    ) -> Result<(), Option<String>> {
        let of = self.files.len();
        let set = (of > 1).then_some((at as u32 + 1, of as u32));
        let (caller, answer) = oneshot::channel();
        let session = Arc::clone(&self.session);
        self.to_loop.send("propose", move |it, now| {
            it.propose(&session, file, set, caller, now);
        });
        let mut opened = pin!(answer);
        tokio::select! {
            biased;
            opened = &mut opened => match opened {
                Ok(Ok(_)) => Ok(()),
                Ok(Err(why)) => {
                    self.ends[at] = Some(End::NOT_SHOWN);
                    Err(Some(why))
                }
                Err(_) => Err(Some("the companion is stopping".to_owned())),
            },
            () = stop => {
                // Only a view that is open can be closed.
                let opened = timeout(CLOSE_TIMEOUT, opened).await;
                if !matches!(opened, Ok(Ok(Ok(_)))) {
                    let is_closed = opened.is_ok();
                    self.ends[at] = Some(End::Withdrawn { edited: None, is_closed });
                }
                Err(None)
            }
        }
    }

    fn decided(&mut self, delivery: Delivery) -> Option<(usize, End)> {
        let mut files = self.files.iter().zip(&self.ends);
        let at = files.position(|((path, _), end)| *path == delivery.file_path && end.is_none())?;
        let notes = delivery.notes.clone();
        let end = match &delivery.outcome {
            Outcome::Accepted { content, base } => End::Accepted {
                content: content.to_string(),
                base: base.clone(),
                notes,
            },
            Outcome::Rejected => End::Rejected { notes },
        };
        self.undelivered.push(delivery);
        self.ends[at] = Some(end.clone());
        Some((at, end))
    }

    /// Withdraws all that nobody has decided about, and returns the end of each.
    async fn withdraw(&mut self) -> Vec<(usize, End)> {
        self.withdraw_those(|_| true).await
    }

    /// The same of those at these places.
    async fn withdraw_those(&mut self, is_meant: impl Fn(usize) -> bool) -> Vec<(usize, End)> {
        let proposed = self.files.len() - self.waiting.len();
        let undecided: Vec<_> = { 0..self.files.len() }
            .filter(|at| self.ends[*at].is_none() && is_meant(*at))
            .collect();
        let closing: Vec<_> = { undecided.iter() }
            .map(|at| (*at < proposed).then(|| self.close(*at)))
            .collect();
        let deadline = tokio::time::Instant::now() + CLOSE_TIMEOUT;
        for (at, closing) in undecided.iter().zip(closing) {
            let closed = match closing {
                Some(closing) => tokio::time::timeout_at(deadline, closing).await,
                None => Ok(Ok(Err(String::new()))),
            };
            // A decision that was made before is here by now.
            self.hear();
            let proposed = &self.files[*at].1;
            self.ends[*at].get_or_insert_with(|| match closed {
                Ok(Ok(Ok(Answer::Closed(text)))) => End::Withdrawn {
                    edited: Some(text).filter(|text| text != proposed),
                    is_closed: true,
                },
                // There is nothing to close any more.
                Ok(Ok(_)) => End::NOT_SHOWN,
                Ok(Err(_)) | Err(_) => End::Withdrawn {
                    edited: None,
                    is_closed: false,
                },
            });
        }
        let ends = undecided.into_iter();
        ends.filter_map(|at| Some((at, self.ends[at].clone()?)))
            .collect()
    }

    /// Takes the decisions that are here already.
    fn hear(&mut self) {
        while let Ok(news) = self.news.try_recv() {
            if let News::Decided(delivery) = news {
                self.decided(*delivery);
            }
        }
    }

    fn close(&self, at: usize) -> oneshot::Receiver<Result<Answer, String>> {
        let (caller, answer) = oneshot::channel();
        let (session, path) = (Arc::clone(&self.session), self.files[at].0.clone());
        self.to_loop.send("withdraw", move |it, now| {
            it.withdraw(&session, &path, caller, now);
        });
        answer
    }
}

impl Drop for Set {
    fn drop(&mut self) {
        self.hear();
        let (session, lost) = (Arc::clone(&self.session), mem::take(&mut self.undelivered));
        // Where something is left, the agent is told of nothing.
        let mut ends = self.ends.iter().flatten();
        let is_told = self.is_passed_on && ends.all(End::is_decided);
        self.to_loop.send("proposer's end", move |it, now| {
            it.proposer_gone(&session, lost, is_told, now);
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::commands::stopping;

    #[tokio::test]
    async fn what_a_companion_that_stops_has_not_shown_is_not_decided() {
        let (events, stopped) = mpsc::unbounded_channel();
        drop(stopped);
        let files = vec![Proposed::default()];
        let (_over, never) = mpsc::unbounded_channel();
        let undecided = propose_written(ToLoop(events), Proposer::Pillion, files, never);
        assert_eq!(undecided.await, Err(stopping()));
    }
}
