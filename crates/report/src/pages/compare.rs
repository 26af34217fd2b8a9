//! The comparison as a page of its own: no script, nothing from elsewhere, light and dark.

mod plot;

use std::fmt::Write as _;

use self::plot::{Axes, changes, rates};
use crate::{
    campaign::compare::{Row, percentage, reach},
    layout::{markup::escape, number::grouped},
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
    let title = escape(&heading.title);
    let mut out = format!("<h1>{title}</h1>\n<p>{}</p>\n", escape(&heading.words));
    let name = escape(&heading.baseline);
    let _ =
        writeln!(out, "<h2>How often programs fail, and how many scheduling points they have</h2>");
    let _ = writeln!(out, "<figure class=\"wide\">{}</figure>", rates(&baseline, &axes));
    let _ = writeln!(out, "<h2>What changes against {name}</h2>\n{LEGEND}\n<div class=\"panels\">");
    for strategy in strategies.iter().filter(|it| **it != heading.baseline) {
        let plot = changes(&baseline, &of(strategy), &axes);
        let _ =
            writeln!(out, "<figure><figcaption>{}</figcaption>{plot}</figure>", escape(strategy));
    }
    out.push_str("</div>\n");
    out.push_str(&matrix(rows, &strategies));
    out.push_str(&details(rows));
    let title = heading.title.as_str();
    document(&Document { title, style: STYLE, body: &out, data: "", script: "" })
}

const LEGEND: &str = "<p class=\"legend\"><span class=\"found\">●</span> newly found (in how many \
    campaigns) <span class=\"more\">●</span> more often <span class=\"same\">●</span> about as often \
    (less than twofold) <span class=\"less\">●</span> less often <span class=\"lost\">✕</span> no longer \
    found <span class=\"none\">○</span> found by neither. The larger, the more.</p>";

/// Programs down, strategies across: the median, and in how many campaigns.
fn matrix(rows: &[Row], strategies: &[&str]) -> String {
    let mut out =
        "<h2>Executions to the first failure: median, and found in how many campaigns</h2>\n\
                   <div class=\"scroll\"><table>\n<tr><th>program</th>"
            .to_owned();
    for strategy in strategies {
        let _ = write!(out, "<th>{}</th>", escape(strategy));
    }
    out.push_str("</tr>\n");
    let mut programs: Vec<&str> = rows.iter().map(|it| it.program.as_str()).collect();
    programs.dedup();
    for program in programs {
        let _ = write!(out, "<tr><th>{}</th>", escape(program));
        for strategy in strategies {
            let row = rows.iter().find(|it| it.program == program && it.strategy == *strategy);
            match row {
                None => out.push_str("<td></td>"),
                Some(row) => {
                    let class = match row.n_found {
                        0 => " class=\"nothing\"",
                        found if found == row.n_repeats => "",
                        _ => " class=\"some\"",
                    };
                    let _ = write!(
                        out,
                        "<td{class}>{} <small>{}/{}</small></td>",
                        escape(&reach(row.median)),
                        row.n_found,
                        row.n_repeats
                    );
                }
            }
        }
        out.push_str("</tr>\n");
    }
    out.push_str("</table></div>\n");
    out
}

fn details(rows: &[Row]) -> String {
    let mut out =
        "<details><summary>All figures</summary><div class=\"scroll\"><table>\n<tr>".to_owned();
    for heading in [
        "program",
        "strategy",
        "found",
        "median",
        "p95",
        "failures",
        "points/exec",
        "points, most",
        "execs/s",
    ] {
        let _ = write!(out, "<th>{heading}</th>");
    }
    out.push_str("</tr>\n");
    for row in rows {
        let cells = [
            format!("{} of {}", row.n_found, row.n_repeats),
            reach(row.median),
            reach(row.p95),
            percentage(row),
            format!("{:.1}", row.points),
            grouped(row.points_max),
            grouped(row.execs_per_s.round() as u64),
        ];
        let _ =
            write!(out, "<tr><th>{}</th><th>{}</th>", escape(&row.program), escape(&row.strategy));
        for cell in cells {
            let _ = write!(out, "<td>{}</td>", escape(&cell));
        }
        out.push_str("</tr>\n");
    }
    out.push_str("</table></div></details>\n");
    out
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
