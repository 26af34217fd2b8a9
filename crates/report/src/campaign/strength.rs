//! Which memory orders of a program could be weaker (`raddle orders`).

use std::fmt::Write as _;

use raddle_model::{MemoryOrder, Reordered, Support};

use crate::{
    layout::{number, style::Style},
    words::{place, strength},
};

/// One atomic operation or fence of the source.
#[derive(Clone, Debug)]
pub struct SiteRow {
    /// Where, its order and the weakest one that was seen to do.
    pub site: Reordered,
    /// What happens with a weaker one: which, and how the program fails then.
    pub needed: Option<(MemoryOrder, String)>,
}

impl SiteRow {
    /// Can it be weaker?
    pub fn is_weaker(&self) -> bool {
        self.site.at.order != self.site.from
    }
}

/// What was found out.
#[derive(Clone, Debug)]
pub struct Strength<'a> {
    /// The program.
    pub program: &'a str,
    /// In the order of the source.
    pub rows: &'a [SiteRow],
    /// How it is known that the weaker orders, together, are enough.
    pub support: Support,
    /// Executions, all in all.
    pub n_executions: u64,
    /// Time was over before all was tried.
    pub is_cut: bool,
}

impl Strength<'_> {
    /// A line for each place, and what it means.
    pub fn text(&self, base: &str, style: &Style) -> String {
        let n_weaker = self.rows.iter().filter(|it| it.is_weaker()).count() as u64;
        let mut out = format!(
            "{}: {}, {} can be weaker\n",
            self.program,
            number::count(self.rows.len() as u64, "atomic operation"),
            if n_weaker == 0 { "none".to_owned() } else { number::grouped(n_weaker) }
        );
        let cells = |it: &SiteRow| {
            let [from, to] =
                [it.site.from, it.site.at.order].map(|order| strength::order(it.site.kind, order));
            let change = if it.is_weaker() { format!("{from} -> {to}") } else { from.to_owned() };
            [place::long(&it.site.place, base), strength::what(&it.site), change]
        };
        let all: Vec<[String; 3]> = self.rows.iter().map(cells).collect();
        let width =
            |column: usize| all.iter().map(|it| it[column].chars().count()).max().unwrap_or(0);
        let widths = [width(0), width(1), width(2)];
        for (row, [at, what, change]) in self.rows.iter().zip(&all) {
            let why = match &row.needed {
                Some((order, message)) => {
                    let order = strength::order(row.site.kind, *order);
                    let order = if order == "none" {
                        "without it".to_owned()
                    } else {
                        format!("with {order}")
                    };
                    format!("{order}: {message}")
                }
                None => String::new(),
            };
            let [a, b, c] = widths;
            let line = format!("  {at:a$}  {what:b$}  {change:c$}  {why}");
            let _ = writeln!(out, "{}", style.tame(line.trim_end()));
        }
        out.push_str(&self.closing(n_weaker));
        out
    }

    fn closing(&self, n_weaker: u64) -> String {
        let support = strength::support(self.support);
        let took = number::count(self.n_executions, "execution");
        if self.is_cut {
            return format!(
                "stopped at the time limit: with the orders of the source no execution fails ({support}; {took} in all)\n"
            );
        }
        match n_weaker {
            0 => format!("no execution fails with these orders ({support}; {took} in all)\n"),
            1 => format!("no execution fails with the weaker order ({support}; {took} in all)\n"),
            _ => format!(
                "no execution fails with all {n_weaker} weaker orders together ({support}; {took} in all)\n"
            ),
        }
    }
}
