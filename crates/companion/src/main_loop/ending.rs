//! The end of a companion: whose it is, and what still happens then. For a disk that hangs, shutting down waits one second before
//! anything else, and another at the end.

use std::time::Duration;

use pillion_changes::Recorder;
use pillion_discovery::unended::Ended;
use pillion_view::Leaving;
use tokio::sync::mpsc;

use super::MainLoop;
use crate::agent::Agents;
use crate::diffs::Diffs;
use crate::event::{Caller, Event};
use crate::lost::KEPT_WITHIN;
use crate::tasks;

/// The time limit for the last outcomes to reach their agents when the companion stops.
const SHUTDOWN_GRACE: Duration = Duration::from_millis(600);

/// The handling of proposals that are pending when the companion ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Ending {
    /// They are rejected (C5.7).
    Rejects(Ended),
    /// Nothing is answered, and the agents ask in their own windows: the last front end was killed, or did not come again.
    Asks(Ended),
}

/// The calls that wait for an answer when the companion has ended.
pub(crate) struct Unanswered {
    _diffs: Diffs<Caller>,
    _agents: Agents,
}

impl MainLoop {
    /// Whose end it is that the last front end, which is no agent's, leaves. The hub has judged why, if it hosts this companion.
    pub(super) async fn own_end(&mut self, why: Leaving) -> Ended {
        let Some(own) = self.own_view.take() else {
            return match why {
                Leaving::Closed | Leaving::Kept => Ended::ByPerson,
                Leaving::Signalled(_) | Leaving::Killed => Ended::NotByItself,
            };
        };
        let judged = tasks::spawn_blocking(move || match own.judge() {
            Ok(()) => match own.judge_end(why) {
                Leaving::Closed | Leaving::Kept => Ended::ByPerson,
                Leaving::Signalled(_) | Leaving::Killed => Ended::NotByItself,
            },
            Err(_) => Ended::ByStranger,
        });
        judged.await.unwrap_or(Ended::NotByItself)
    }

    /// Carries out the person's decisions from before the end. The disk answers in time, or counts as silent.
    async fn finish_decisions(&mut self, inbox: &mut mpsc::UnboundedReceiver<Event>) {
        while let Ok(event) = inbox.try_recv() {
            self.handle(event);
        }
        while !self.weighing.is_empty()
            && let Some(event) = inbox.recv().await
        {
            self.handle(event);
        }
    }

    /// Files first: no agent may find a companion that is on its way out (C6.2). Then what is
    /// pending is rejected (C5.7), and agents get a moment to receive that. Everything that was accepted and is left
    /// over then is lost.
    pub(super) async fn shut_down(
        mut self,
        ending: Ending,
        inbox: &mut mpsc::UnboundedReceiver<Event>,
    ) -> Unanswered {
        let (ended, asks) = match ending {
            Ending::Rejects(ended) => (ended, false),
            Ending::Asks(ended) => (ended, true),
        };
        self.discovery.remove(ended).await;
        self.finish_decisions(inbox).await;
        self.release_guards();
        if !asks {
            let pending: Vec<_> = self.diffs.pending().map(|it| it.key).collect();
            for key in pending {
                self.forget_told_notes(key);
            }
            let actions = self.diffs.stop();
            self.perform(actions);
            self.release_guards();
        }
        if asks {
            self.recording.keep(Recorder::leave_all);
        }
        self.recording.keep(Recorder::closed_all);
        self.views.send_stopped();
        let outboxes = self.sessions.outboxes();
        let delivered = async {
            for outbox in &outboxes {
                outbox.delivered().await;
            }
        };
        let proposers = self.proposers.end();
        let all = async { tokio::join!(delivered, proposers) };
        let have_gone_out = tokio::time::timeout(SHUTDOWN_GRACE, all).await.is_ok();
        if have_gone_out && !asks {
            // The last words to an agent are the answer to its call: nobody is here any more to hear that it goes on with them.
            self.agents.all_go_on();
        }
        self.drop_told();
        for session in self.sessions.ids() {
            self.lose_undelivered(&session);
            self.sessions.forget(&session);
        }
        self.recording.ends(ended == Ended::ByPerson);
        let deadline = tokio::time::Instant::now() + KEPT_WITHIN;
        while let Ok(Some(lost)) = tokio::time::timeout_at(deadline, self.losses.next()).await {
            self.report_lost(lost);
        }
        Unanswered {
            _diffs: self.diffs,
            _agents: self.agents,
        }
    }
}
