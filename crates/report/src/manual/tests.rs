//! Every value has a page, and every page is whole.

use std::{collections::BTreeSet, path::Path};

use expect_test::expect_file;
use raddle_model::{Kind, Misuse};

use super::{DOUBTS, ESCAPES, OBSERVATIONS, document, of_kind, of_misuse, page, pages};

/// What a search may have left out: the names that `Gap` gives, as docs/json.md lists them for tools.
fn gaps() -> Vec<String> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/json.md");
    let text = std::fs::read_to_string(path).expect("the page about JSON is there");
    let (_, kinds) = text.split_once("source files and functions). Kinds: ").expect("the list");
    let (kinds, _) = kinds.split_once(". Nothing fails").expect("the end of the list");
    kinds.split(", ").map(|it| it.trim_matches('`').to_owned()).collect()
}

#[test]
fn everything_that_can_be_reported_has_a_page() {
    let misuses = (0..=u8::MAX).map_while(Misuse::from_number);
    let mut codes: Vec<String> = Kind::ALL.iter().map(|it| of_kind(*it).to_owned()).collect();
    codes.extend(misuses.map(|it| of_misuse(it).to_owned()));
    codes.extend([OBSERVATIONS, DOUBTS, ESCAPES].concat().into_iter().map(str::to_owned));
    codes.extend(gaps());
    assert!(codes.len() > 60, "{codes:?}");
    let lacking: Vec<&String> = codes.iter().filter(|it| page(it).is_none()).collect();
    assert!(lacking.is_empty(), "no page in manual/: {lacking:?}");
}

#[test]
fn a_code_is_unique_and_its_page_begins_with_a_sentence() {
    let mut seen = BTreeSet::new();
    for page in pages() {
        assert!(seen.insert(page.code), "{} has two pages", page.code);
        assert!(page.code.bytes().all(|it| it.is_ascii_lowercase() || it == b'-'), "{}", page.code);
        assert!(page.summary().len() > 20, "{}: {:?}", page.code, page.summary());
        assert!(!page.chapter.is_empty());
    }
}

#[test]
fn codes_that_pages_refer_to_exist() {
    for page in pages() {
        let after = |start: &str| {
            let parts: Vec<&str> = page.text.split(start).skip(1).collect();
            parts.into_iter().filter_map(|it| it.split('`').next())
        };
        let seen = after("ee `").filter(|it| !it.contains(' '));
        let asked = after("`raddle explain ").chain(seen).collect::<Vec<_>>();
        for code in asked {
            assert!(super::page(code).is_some(), "{} refers to `{code}`", page.code);
        }
    }
}

#[test]
fn the_book_has_all_pages() {
    expect_file!["../../../../docs/codes.md"].assert_eq(&document());
}
