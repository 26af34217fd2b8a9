//! The comparison as a page of its own: no script, nothing from elsewhere, light and dark.

mod plot;

use maud::{Markup, html};

use self::plot::{Axes, changes, rates};
use crate::{
    campaign::compare::{Row, percentage, reach},
    layout::number::grouped,
    pages::{Document, document},
};

const STYLE: &str = include_str!("compare.css");

/// What stands above the figures.
#[derive(Clone, Debug, Default)]
pub struct Heading {
    /// The page's title.
    pub title: String,
    /// What was done, in a sentence or two.
    pub words: String,
    /// The strategy that the others are compared with.
    pub baseline: String,
}

/// The page.
pub fn compare(heading: &Heading, rows: &[Row]) -> String {
    let of = |strategy: &str| rows.iter().filter(|it| it.strategy == strategy).collect::<Vec<_>>();
    let mut strategies: Vec<&str> = rows.iter().map(|it| it.strategy.as_str()).collect();
    let mut seen = Vec::new();
    strategies.retain(|it| !seen.contains(it) && (seen.push(*it), true).1);
    let baseline = of(&heading.baseline);
    let axes = Axes::of(rows);
    let body = html! {
        h1 { (heading.title) }
        p { (heading.words) }
        h2 { "Failure rate and scheduling points per program" }
        figure class="wide" { (rates(&baseline, &axes)) }
        h2 { "Changes compared with " (heading.baseline) }
        p class="legend" {
            span class="found" { "●" } " newly found (with the number of campaigns) "
            span class="more" { "●" } " more often "
            span class="same" { "●" } " about as often (less than a factor of 2) "
            span class="less" { "●" } " less often "
            span class="lost" { "✕" } " no longer found "
            span class="none" { "○" } " found by neither. Larger marks are larger changes."
        }
        div class="panels" {
            @for strategy in strategies.iter().filter(|it| **it != heading.baseline) {
                figure {
                    figcaption { (strategy) }
                    (changes(&baseline, &of(strategy), &axes))
                }
            }
        }
        (matrix(rows, &strategies))
        (details(rows))
    };
    document(&Document { title: &heading.title, style: STYLE, body, data: "", script: "" })
}

/// Programs down, strategies across: the median, and in how many campaigns.
fn matrix(rows: &[Row], strategies: &[&str]) -> Markup {
    let mut programs: Vec<&str> = rows.iter().map(|it| it.program.as_str()).collect();
    programs.dedup();
    let of = |program: &str, strategy: &str| {
        rows.iter().find(|it| it.program == program && it.strategy == strategy)
    };
    let class = |row: &Row| match row.n_found {
        0 => Some("nothing"),
        found if found == row.n_repeats => None,
        _ => Some("some"),
    };
    html! {
        h2 { "Executions to the first failure: median, and campaigns that found one" }
        div class="scroll" { table {
            tr { th { "program" } @for strategy in strategies { th { (strategy) } } }
            @for program in programs {
                tr {
                    th { (program) }
                    @for row in strategies.iter().map(|it| of(program, it)) {
                        @if let Some(row) = row {
                            td class=[class(row)] {
                                (reach(row.median)) " " small { (row.n_found) "/" (row.n_repeats) }
                            }
                        } @else { td {} }
                    }
                }
            }
        } }
    }
}

fn details(rows: &[Row]) -> Markup {
    let headings = [
        "program",
        "strategy",
        "found",
        "median",
        "p95",
        "failures",
        "points/exec",
        "max points",
        "execs/s",
    ];
    let cells = |row: &Row| {
        [
            format!("{} of {}", row.n_found, row.n_repeats),
            reach(row.median),
            reach(row.p95),
            percentage(row),
            format!("{:.1}", row.points),
            grouped(row.points_max),
            grouped(row.execs_per_s.round() as u64),
        ]
    };
    html! {
        details {
            summary { "All results" }
            div class="scroll" { table {
                tr { @for heading in headings { th { (heading) } } }
                @for row in rows {
                    tr {
                        th { (row.program) } th { (row.strategy) }
                        @for cell in cells(row) { td { (cell) } }
                    }
                }
            } }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{Heading, compare};
    use crate::campaign::compare::tests::rows;

    fn sample() -> String {
        let heading = Heading {
            title: "a <b> & c".into(),
            words: "10 campaigns each.".into(),
            baseline: "walk".into(),
        };
        compare(&heading, &rows())
    }

    #[test]
    fn everything_is_in_it_and_nothing_comes_from_elsewhere() {
        let page = sample();
        assert!(page.contains("<title>a &lt;b&gt; &amp; c</title>"));
        for word in ["http:", "https:", "<script", "src=", "@import", "url("] {
            assert!(!page.contains(word), "{word}");
        }
        assert!(page.contains("prefers-color-scheme: dark"));
        assert_eq!(page.matches("<svg").count(), 3, "the baseline's plot, and one for each other");
        assert_eq!(page.matches("<figcaption>").count(), 2);
        assert!(page.contains(">1,234 <small>9/10</small>"));
        assert!(page.contains("<td class=\"nothing\">&gt; 10.0k <small>0/10</small></td>"));
    }

    /// Every element that is opened is closed: what a browser would mend silently.
    #[test]
    fn elements_are_closed() {
        let page = sample();
        for name in ["svg", "figure", "table", "tr", "div", "details", "text", "title", "p", "h2"] {
            let n_open = page.matches(&format!("<{name}>")).count()
                + page.matches(&format!("<{name} ")).count();
            assert_eq!(n_open, page.matches(&format!("</{name}>")).count(), "{name}");
        }
    }
}
