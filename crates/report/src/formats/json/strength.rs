//! Memory orders: those that are too weak, those that could be weaker.

use raddle_model::{Reordered, Support, Weakness};
use serde::Serialize;

use super::PlaceLine;
use crate::{
    campaign::strength::{SiteRow, Strength},
    words::strength,
};

/// Which memory orders are too weak, in a `finding`'s explanation.
#[derive(Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(super) struct WeaknessLine<'a> {
    /// `orders`, `not-orders`, `undecided`.
    verdict: &'static str,
    /// What must be stronger.
    changes: Vec<ChangeLine<'a>>,
    support: Option<SupportLine>,
    /// Was every set of fewer changes seen to fail?
    smallest: Option<bool>,
}

#[derive(Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
struct ChangeLine<'a> {
    at: PlaceLine<'a>,
    op: &'static str,
    variable: Option<&'a str>,
    from: &'static str,
    to: &'static str,
}

/// What stands behind "no execution fails".
#[derive(Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
struct SupportLine {
    proved: bool,
    executions: u64,
}

/// `{"type":"orders",…}`.
#[derive(Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(super) struct StrengthLine<'a> {
    program: &'a str,
    sites: Vec<SiteLine<'a>>,
    support: SupportLine,
    executions: u64,
    complete: bool,
}

#[derive(Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
struct SiteLine<'a> {
    #[serde(flatten)]
    change: ChangeLine<'a>,
    weaker: bool,
    /// An order that is too weak, and what happens with it.
    fails_with: Option<&'static str>,
    failure: Option<&'a str>,
}

impl<'a> WeaknessLine<'a> {
    pub(super) fn new(weakness: &'a Weakness) -> WeaknessLine<'a> {
        let verdict = match weakness {
            Weakness::Repaired(_) => "orders",
            Weakness::NotOrders { .. } => "not-orders",
            Weakness::Undecided => "undecided",
        };
        let repair = match weakness {
            Weakness::Repaired(repair) => Some(repair),
            _ => None,
        };
        let changes = repair.map_or(&[][..], |it| &it.changes);
        WeaknessLine {
            verdict,
            changes: changes.iter().map(ChangeLine::new).collect(),
            support: repair.map(|it| SupportLine::new(it.support)),
            smallest: repair.map(|it| it.is_smallest),
        }
    }
}

impl<'a> ChangeLine<'a> {
    fn new(site: &'a Reordered) -> ChangeLine<'a> {
        ChangeLine {
            at: PlaceLine::new(&site.place),
            op: strength::noun(site.kind),
            variable: Some(site.variable.as_str()).filter(|it| !it.is_empty()),
            from: site.from.word(),
            to: site.at.order.word(),
        }
    }
}

impl SupportLine {
    const fn new(support: Support) -> SupportLine {
        SupportLine { proved: support.is_proved, executions: support.n_executions }
    }
}

impl<'a> StrengthLine<'a> {
    pub(super) fn new(it: &Strength<'a>) -> StrengthLine<'a> {
        StrengthLine {
            program: it.program,
            sites: it.rows.iter().map(SiteLine::new).collect(),
            support: SupportLine::new(it.support),
            executions: it.n_executions,
            complete: !it.is_cut,
        }
    }
}

impl<'a> SiteLine<'a> {
    fn new(row: &'a SiteRow) -> SiteLine<'a> {
        SiteLine {
            change: ChangeLine::new(&row.site),
            weaker: row.is_weaker(),
            fails_with: row.needed.as_ref().map(|it| it.0.word()),
            failure: row.needed.as_ref().map(|it| it.1.as_str()),
        }
    }
}
