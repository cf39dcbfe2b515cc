//! A row of the tables: a rule, and how it is checked.

use std::future::Future;
use std::pin::Pin;

use crate::rule::{Finding, Group, Level, Rule};
use crate::test_context::TestContext;

/// A check under way.
pub(super) type Checking<'a> = Pin<Box<dyn Future<Output = Finding> + 'a>>;

/// A rule and how it is checked.
#[derive(Clone, Copy)]
pub(super) struct Check {
    pub(super) rule: Rule,
    pub(super) run: for<'a> fn(&'a TestContext) -> Checking<'a>,
}

/// One row of a group's table.
pub(super) const fn check(
    group: Group,
    level: Level,
    id: &'static str,
    title: &'static str,
    run: for<'a> fn(&'a TestContext) -> Checking<'a>,
) -> Check {
    let rule = Rule {
        id,
        level,
        group,
        title,
    };
    Check { rule, run }
}
