//! The outcome of what a command asks for, in lines for a terminal.

use std::collections::BTreeMap;
use std::error::Error;
use std::iter;

use pillion_changes::{ChangeRef, DecideError, Decided};
use pillion_view::changes::{ActDone, NotDone, Report};

use super::{Acted, of_several, remains};

/// So many changes are told of one by one, and so many that failed.
const MAX_LINES: usize = 100;

/// So many names are told of several that failed for the same reason.
const MAX_NAMES: usize = 5;

pub(super) fn reported(report: Report) -> Acted {
    Acted::of(ActDone {
        done: report.failed.is_empty() && report.changed.is_empty(),
        report,
        ..ActDone::default()
    })
}

/// The outcome of many changes: a line for each of the first, and then how many more there are.
#[derive(Default)]
pub(super) struct Outcome {
    report: Report,
    /// The results of which nothing was said, with how often each happened.
    more: BTreeMap<&'static str, usize>,
    /// Those that failed, for the same reason each.
    same: Vec<Failed>,
}

/// Changes that are as they were, for the reason of the first.
struct Failed {
    names: Vec<ChangeRef>,
    failed: NotDone,
}

impl Failed {
    /// Returns true if what the system says is the same, such as that the disk is full, and so is what to do.
    fn is_as(&self, other: &NotDone) -> bool {
        let reason = |it: &NotDone| (it.why.len() > 1).then(|| it.why.last().cloned()).flatten();
        let is_same = reason(other).is_some() && reason(&self.failed) == reason(other);
        is_same && self.failed.hint == other.hint
    }

    /// One message about all.
    fn into_one(self) -> NotDone {
        let Self { names, mut failed } = self;
        let [_, others @ ..] = &*names else {
            return failed;
        };
        if !others.is_empty() {
            let shown = others.iter().take(MAX_NAMES).map(ToString::to_string);
            let shown: Vec<_> = shown.collect();
            let more = match others.len().saturating_sub(MAX_NAMES) {
                0 => String::new(),
                more => format!(" and {more} more"),
            };
            failed.what = format!("{}; so are {}{more}", failed.what, shown.join(", "));
        }
        failed
    }
}

impl Outcome {
    pub(super) fn says(&mut self, said: String) {
        self.report.said.push(said);
    }

    pub(super) fn add(&mut self, decided: Decided) {
        let Decided { name, path, result } = decided;
        match result {
            Ok(what) if self.report.said.len() < MAX_LINES => {
                self.report.said.push(format!("{name} {path}: {what}"));
            }
            Ok(what) => *self.more.entry(what).or_default() += 1,
            Err(error) => {
                let failed = not_done(name, &error);
                match self.same.iter_mut().find(|it| it.is_as(&failed)) {
                    Some(same) => same.names.push(name),
                    None => self.same.push(Failed {
                        names: vec![name],
                        failed,
                    }),
                }
            }
        }
    }

    pub(super) fn fails(&mut self, failed: NotDone) {
        match self.report.failed.len() < MAX_LINES {
            true => self.report.failed.push(failed),
            false => self.report.more_failed += 1,
        }
    }

    pub(super) fn report(mut self) -> Report {
        for same in std::mem::take(&mut self.same) {
            self.fails(same.into_one());
        }
        let mut report = self.report;
        let more = self.more.into_iter();
        report.said.extend(
            more.map(|(what, count)| of_several(&format!("… and {count} more"), count, what)),
        );
        report
    }
}

fn not_done(name: ChangeRef, error: &DecideError) -> NotDone {
    let first: &dyn Error = error;
    let causes = iter::successors(Some(first), |it| (*it).source());
    NotDone {
        what: format!("{name} {}", remains(error)),
        why: causes.map(ToString::to_string).collect(),
        hint: error.hint(),
    }
}

#[cfg(test)]
mod tests {
    use std::io;

    use pillion_changes::take_back::TakeBackError;

    use super::*;

    fn failed(change: u64, kind: io::ErrorKind) -> Decided {
        let path = format!("/work/{change}").into();
        let (action, source) = ("replace", kind.into());
        let error = TakeBackError::Io {
            action,
            path,
            source,
        };
        Decided {
            name: format!("7.{change}").parse().unwrap(),
            path: change.to_string(),
            result: Err(error.into()),
        }
    }

    #[test]
    fn a_full_disk_is_said_once_and_other_reasons_for_themselves() {
        let mut outcome = Outcome::default();
        (1..=31).for_each(|it| outcome.add(failed(it, io::ErrorKind::StorageFull)));
        outcome.add(failed(40, io::ErrorKind::PermissionDenied));
        outcome.add(Decided {
            result: Err(DecideError::NothingDecided),
            ..failed(41, io::ErrorKind::Other)
        });
        let report = outcome.report();
        let what: Vec<_> = report.failed.iter().map(|it| &*it.what).collect();
        let full = "7.1 is as it was; so are 7.2, 7.3, 7.4, 7.5, 7.6 and 25 more";
        assert_eq!(what, [full, "7.40 is as it was", "7.41 is as it was"]);
        assert!(report.failed[0].why.concat().contains("no storage space"));
        assert_eq!(report.more_failed, 0);
    }
}
