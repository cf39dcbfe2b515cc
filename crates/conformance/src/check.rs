//! A row of the tables: a rule, and how it is checked.

use std::future::Future;
use std::pin::Pin;

use crate::rule::{Finding, Rule};
use crate::test_context::TestContext;

/// A check under way.
pub(super) type Checking<'a> = Pin<Box<dyn Future<Output = Finding> + 'a>>;

/// A rule and how it is checked.
#[derive(Clone, Copy)]
pub(super) struct Check {
    pub(super) rule: Rule,
    pub(super) run: for<'a> fn(&'a TestContext) -> Checking<'a>,
}

/// The table of a group. A row is how much is asked, the rule, the function that checks it, with what
/// it takes beside the context, what is asked, as a statement, and what breaks otherwise.
macro_rules! checks {
    ($group:ident: $($level:ident $id:literal => $check:ident$(($($more:expr),+))?, $title:literal $(, $reason:literal)?;)*) => {
        pub(super) const CHECKS: &[$crate::check::Check] = &[$($crate::check::Check {
            rule: $crate::rule::Rule {
                id: $id,
                level: $crate::rule::Level::$level,
                group: $crate::rule::Group::$group,
                title: $title,
                reason: concat!($($reason)?),
            },
            run: |test| Box::pin($check(test $($(, $more)+)?)),
        },)*];
    };
}

pub(super) use checks;
