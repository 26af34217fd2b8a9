//! What `--around` names.

use raddle_explore::Spot;

/// What `--around` can name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Around {
    Lines(Spot),
    Finding(String),
}

/// `src/cache.c:54`, `cache.c:54-60`, or the id of a finding.
pub(crate) fn around(text: &str) -> Result<Around, String> {
    let wrong = || "expected FILE:LINE, FILE:LINE-LINE or the id of a finding".to_owned();
    let Some((file, lines)) = text.rsplit_once(':') else {
        let is_id = !text.is_empty() && !text.contains(['/', '.', ' ']);
        return if is_id { Ok(Around::Finding(text.to_owned())) } else { Err(wrong()) };
    };
    let (first, last) = lines.split_once('-').unwrap_or((lines, lines));
    let line = |text: &str| text.parse::<u32>().ok().filter(|it| *it > 0).ok_or_else(wrong);
    let (first, last) = (line(first)?, line(last)?);
    if file.is_empty() || last < first {
        return Err(wrong());
    }
    Ok(Around::Lines(Spot { file: file.to_owned(), first, last }))
}

#[cfg(test)]
mod tests {
    use raddle_explore::Spot;

    use super::{Around, around};

    #[test]
    fn lines_and_ids() {
        let lines =
            |file: &str, first, last| Ok(Around::Lines(Spot { file: file.into(), first, last }));
        assert_eq!(around("src/a.c:5"), lines("src/a.c", 5, 5));
        assert_eq!(around("a.c:5-9"), lines("a.c", 5, 9));
        assert_eq!(around("dl-5301"), Ok(Around::Finding("dl-5301".to_owned())));
        for wrong in ["", "a.c", "a.c:", "a.c:0", "a.c:9-5", ":5", "a.c:5-", "a.c:x"] {
            assert!(around(wrong).is_err(), "{wrong}");
        }
    }
}
