//! `raddle explain`: what a kind of finding, a note or a warning means.

use raddle_report::manual::{self, Page};

use crate::{
    args::ExplainArgs,
    exit::{Exit, Failure},
    spelling, stored,
    terminal::Terminal,
};

/// Explains a code, all that a finding's report says, or lists the codes.
pub(crate) fn explain(args: &ExplainArgs, terminal: &mut Terminal) -> Result<Exit, Failure> {
    let style = terminal.out_style;
    let Some(name) = &args.code else {
        terminal.out(&manual::list(&style));
        return Ok(Exit::Clean);
    };
    let pages = match manual::page(name) {
        Some(page) => vec![page],
        None => of_finding(args, name)?,
    };
    let texts: Vec<String> = pages.iter().map(|it| manual::render(it, &style)).collect();
    terminal.out(&texts.join("\n\n"));
    Ok(Exit::Clean)
}

/// The pages about a finding, if it is one that is named.
fn of_finding(args: &ExplainArgs, name: &str) -> Result<Vec<Page>, Failure> {
    match stored::find_in(&args.store, name) {
        Ok(stored) => {
            let codes = manual::of_finding(&stored.finding, stored.explanation.as_deref());
            Ok(codes.into_iter().filter_map(manual::page).collect())
        }
        // What looks like an id is one.
        Err(failure) if name.contains(['/', '.']) || is_id(name) => Err(failure),
        Err(_) => {
            let pages = manual::pages();
            let near = spelling::nearest(name, pages.iter().map(|it| it.code));
            let help = match near {
                Some(near) => format!("did you mean `{near}`?"),
                None => "`raddle explain` lists all codes".to_owned(),
            };
            Err(Failure::usage(format!("unknown code `{name}`; {help}")))
        }
    }
}

/// `dl-5301`: a prefix, and hexadecimal digits.
fn is_id(name: &str) -> bool {
    let digits = name.rsplit_once('-').map_or("", |it| it.1);
    name == "latest" || !digits.is_empty() && digits.bytes().all(|it| it.is_ascii_hexdigit())
}
