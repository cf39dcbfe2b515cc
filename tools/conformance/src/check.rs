//! A row of the tables: a rule, and how it is checked.

use std::future::Future;
use std::pin::Pin;
use std::time::Duration;

use crate::rule::{Finding, Problem, Rule, broken};
use crate::test_context::TestContext;

/// A check under way.
pub(super) type Checking<'a> = Pin<Box<dyn Future<Output = Finding> + 'a>>;

/// A rule and how it is checked.
#[derive(Clone, Copy)]
pub(super) struct Check {
    pub(super) rule: Rule,
    pub(super) run: for<'a> fn(&'a TestContext) -> Checking<'a>,
}

/// The number of tries of whether something is done at once: a machine may be busy.
const TRIES: usize = 3;

/// Something is done within this time, at least once; `try_one` gives how long it took.
pub(super) async fn prompt(
    limit: Duration,
    mut try_one: impl AsyncFnMut() -> Result<Duration, Problem>,
) -> Finding {
    let mut quickest = Duration::MAX;
    for _ in 0..TRIES {
        quickest = quickest.min(try_one().await?);
        if quickest < limit {
            return Ok(format!("{quickest:.0?}"));
        }
    }
    broken(format!(
        "the quickest of {TRIES} answers took {quickest:.1?}"
    ))
}

/// The table of a group. A row is how much is asked, the rule, the function that checks it, with what
/// it takes beside the context, what is asked, as a statement, and what breaks otherwise. A check
/// `in session` is given a new one instead of the context.
macro_rules! checks {
    ($group:ident: $($level:ident $id:literal => $check:ident $(($($more:expr),+))? $(in $session:ident)?,
        $title:literal $(, $reason:literal)?;)*) => {
        pub(super) const CHECKS: &[$crate::check::Check] = &[$($crate::check::Check {
            rule: $crate::rule::Rule {
                id: $id,
                level: $crate::rule::Level::$level,
                group: $crate::rule::Group::$group,
                title: $title,
                reason: concat!($($reason)?),
            },
            run: |test| Box::pin(async move {
                $check($crate::check::given!(test $($session)?) $($(, $more)+)?).await
            }),
        },)*];
    };
}

/// The argument of a check: the context, or a session.
macro_rules! given {
    ($test:ident) => {
        $test
    };
    ($test:ident $session:ident) => {
        &mut $test.$session().await?
    };
}

pub(super) use {checks, given};
