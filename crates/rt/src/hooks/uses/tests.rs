//! The table of `docs/detectors.md`: which functions of the C library are seen to read and write what.

use std::{collections::BTreeMap, fs, path::Path};

use super::{CALLS, Format, OTHERS, Use};

/// Functions whose accesses are written out with the functions themselves: what they read, and what they write.
const ELSEWHERE: &[(&[&str], &str, &str)] = &[
    (&["memcpy", "memmove"], "the bytes of argument 2", "the bytes of argument 1"),
    (&["memset"], "", "the bytes of argument 1"),
    (&["read", "recv", "recvfrom", "pread", "fread", "fgets", "eventfd_read"], "", "what was read"),
    (&["getline", "getdelim"], "", "what was read"),
    (&["readv", "recvmsg"], "", "what was read, in all buffers"),
    (&["write", "send", "sendto"], "the bytes of argument 2", ""),
    (&["writev", "sendmsg"], "all buffers", ""),
    (&["iconv"], "the input", "the output"),
];

const MARKS: [&str; 2] = ["<!-- made: c functions -->\n", "<!-- end: c functions -->\n"];

#[test]
fn the_table_in_docs_is_that_of_the_hooks() {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/detectors.md");
    let text = fs::read_to_string(&file).expect("the file is there");
    let (before, rest) = text.split_once(MARKS[0]).expect("a mark where the table begins");
    let (now, after) = rest.split_once(MARKS[1]).expect("a mark where the table ends");
    let table = table();
    if std::env::var_os("UPDATE_EXPECT").is_some() {
        let whole = format!("{before}{}{table}{}{after}", MARKS[0], MARKS[1]);
        fs::write(&file, whole).expect("the file can be written");
    } else {
        assert!(now == table, "docs/detectors.md has another table; UPDATE_EXPECT=1 writes it");
    }
}

#[test]
fn no_function_is_twice_in_the_table() {
    let mut names: Vec<_> = CALLS.iter().chain(OTHERS).map(|it| it.0).collect();
    let n_names = names.len();
    names.sort_unstable();
    names.dedup();
    assert_eq!(names.len(), n_names);
}

fn table() -> String {
    let mut rows: BTreeMap<(String, String), Vec<String>> = BTreeMap::new();
    for (name, uses) in CALLS.iter().chain(OTHERS) {
        let name = name.to_str().expect("an ASCII name");
        // What `-D_FORTIFY_SOURCE` and newer headers make of them does the same.
        if name.starts_with("__") {
            continue;
        }
        let all: Vec<[String; 2]> = uses.iter().map(words).collect();
        let row = [0, 1].map(|idx| {
            let parts: Vec<_> = all.iter().map(|it| it[idx].clone()).collect();
            parts.into_iter().filter(|it| !it.is_empty()).collect::<Vec<_>>().join("; ")
        });
        rows.entry(row.into()).or_default().push(format!("`{name}`"));
    }
    for (names, reads, writes) in ELSEWHERE {
        let names = names.iter().map(|it| format!("`{it}`"));
        rows.entry(((*reads).to_owned(), (*writes).to_owned())).or_default().extend(names);
    }
    let mut text = "| function | reads | writes |\n|---|---|---|\n".to_owned();
    for ((reads, writes), mut names) in rows {
        names.sort();
        text += &format!("| {} | {reads} | {writes} |\n", names.join(", "));
    }
    text
}

/// What a use reads and what it writes.
fn words(it: &Use) -> [String; 2] {
    let of = |what: &str, idx: usize| format!("{what} argument {}", idx + 1);
    let reads = |text: String| [text, String::new()];
    match *it {
        Use::Text(text) => reads(of("the string", text)),
        Use::TextWithin(text, _) => reads(of("at most so many bytes of the string", text)),
        Use::Read(memory, _) | Use::ReadItems(memory, _) => reads(of("the bytes of", memory)),
        Use::Write(memory, _) => [String::new(), of("the bytes of", memory)],
        Use::Sort(memory, _) => [of("the elements of", memory), of("the elements of", memory)],
        Use::Copy(to, _) => [String::new(), of("a copy of the string to", to)],
        Use::Append(to, _) | Use::AppendWithin(to, ..) => {
            [String::new(), of("a copy of the string to the end of", to)]
        }
        Use::Common(a, b, _) | Use::CommonWithin(a, b, ..) => {
            reads(format!("arguments {} and {} up to the first difference", a + 1, b + 1))
        }
        Use::Find(text, _) | Use::FindWithin(text, ..) => {
            reads(of("what precedes the byte that is found, and that, in", text))
        }
        Use::Number(text) => reads(of("the number in the string", text)),
        Use::Format(which) => reads(strings(which)),
        Use::Print(to, _, which) => [strings(which), of("the result to", to)],
    }
}

fn strings((format, _): Format) -> String {
    format!("the strings that the format (argument {}) prints", format + 1)
}
