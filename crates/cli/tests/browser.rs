//! Pages in a real browser: headless Chromium opens what `raddle report` wrote, a script after ours presses
//! keys and notes what is to be seen, and the document that comes of it is read back.
//!
//! Where there is no Chromium, the tests say so and pass; not in CI.

mod common;

use std::{
    fs,
    path::Path,
    process::{Command, Stdio},
};

use common::{AB_BA, code, folder, raddle, write};
use expect_test::{Expect, expect};

/// What a test's script can use: keys, clicks, and what is to be seen.
const HELPERS: &str = r#"
const key = (key) => document.activeElement.dispatchEvent(new KeyboardEvent("keydown", { key, bubbles: true }));
const click = (selector) => document.querySelector(selector).click();
const text = (selector) => (document.querySelector(selector)?.innerText ?? "nothing").replace(/\s+/g, " ").trim();
const picked = () => text(".row.picked");
const lines = [];
const say = (...words) => lines.push(words.join(" "));
"#;

/// The names under which distributions have it.
const BROWSERS: [&str; 3] = ["chromium", "chromium-browser", "google-chrome"];

fn browser() -> Option<&'static str> {
    let is_there = |name: &&&str| {
        let version = Command::new(name).arg("--version").stderr(Stdio::null()).output();
        version.is_ok_and(|it| it.status.success())
    };
    let found = BROWSERS.iter().find(is_there).copied();
    if found.is_none() {
        raddle_tidy::skip("Chromium is not installed; not tested: pages in a browser");
    }
    found
}

/// Opens a page, runs a script in it, and compares what the script said.
#[track_caller]
fn check(folder: &Path, page: &str, script: &str, expect: Expect) {
    check_at(folder, page, 1400, script, expect);
}

/// Opens a page that is so many pixels wide. A window has at least 500: the page is in a frame.
#[track_caller]
fn check_at(folder: &Path, page: &str, width: u32, script: &str, expect: Expect) {
    let Some(browser) = browser() else { return };
    let html = fs::read_to_string(folder.join(page)).expect("the page was written");
    let tail = format!(
        "<!doctype html><script>window.onerror = (message) => {{ parent.document.body.dataset.error = message; }};</script>\n\
         {{PAGE}}\n<script>\n{HELPERS}{script}\nconst told = document.createElement('pre'); \
         told.id = 'told'; told.textContent = '[[' + lines.join('\\n') + ']]'; \
         parent.document.body.append(told);\n</script>"
    );
    let tested = format!("tested-{page}");
    let whole = tail.replace("{PAGE}", &html).replace('&', "&amp;").replace('"', "&quot;");
    let frame = format!(
        "<iframe style=\"width:{width}px;height:900px;border:0\" srcdoc=\"{whole}\"></iframe>"
    );
    fs::write(folder.join(&tested), frame).expect("written");
    let output = Command::new(browser)
        .args(["--headless=new", "--no-sandbox", "--disable-gpu", "--virtual-time-budget=5000"])
        .args(["--window-size=1400,900", "--dump-dom"])
        .arg(format!("--user-data-dir={}", folder.join("profile").display()))
        .arg(format!("file://{}", folder.join(&tested).display()))
        .stderr(Stdio::null())
        .output()
        .expect("the browser starts");
    let dom = String::from_utf8_lossy(&output.stdout);
    assert!(!dom.contains("data-error="), "a script failed: {}", &dom[..dom.len().min(400)]);
    let told =
        dom.rsplit_once("id=\"told\">[[").and_then(|it| it.1.split_once("]]")).map(|it| it.0);
    let told = told.unwrap_or_else(|| panic!("nothing was told: {dom}"));
    let told = told.replace("&amp;", "&").replace("&lt;", "<").replace("&gt;", ">");
    expect.assert_eq(&format!("{told}\n"));
}

/// Runs a program and writes the page of what was found.
#[track_caller]
fn report(folder: &Path, source: &str, args: &[&str]) {
    write(folder, "prog.c", source);
    let run = ["run", "prog.c", "--message-format", "json"];
    let output = raddle(folder, &[&run, args].concat()).output().expect("it starts");
    assert_eq!(code(&output), Some(2), "{}", common::stderr(&output));
    let output = raddle(folder, &["report", "latest", "-o", "page.html"]).output();
    assert_eq!(code(&output.expect("it starts")), Some(0));
}

#[test]
fn a_deadlock_is_stepped_through() {
    let folder = folder();
    report(folder.path(), AB_BA, &[]);
    check(
        folder.path(),
        "page.html",
        r##"
            say("headline:", text("h1"));
            say("point:", text(".points li"));
            say("lanes:", text("#heads"));
            say("at first:", picked());
            say("source:", text("#source h2"), "|", text("#code .failed"));
            key("Home"); say("Home:", picked());
            key("ArrowDown"); say("down:", picked());
            const views = JSON.parse(document.getElementById("data").textContent).views;
            say("rows without a stack:", views.map((it) => it.rows.filter((row) => row[0] && !row[7]).map((row) => it.texts[row[2]])).flat());
            const row = [...document.querySelectorAll(".row")].find((it) => it.innerText.includes("lock a"));
            row.dispatchEvent(new MouseEvent("mousemove", { bubbles: true, clientX: 300, clientY: 300 }));
            say("hover:", text("#tip h3"), "|", text("#tip .stack"));
            key("End"); say("End:", picked(), "|", text("#detail h3"));
            key("p"); say("p:", picked());
            key("Home"); key("n"); say("n:", picked());
            key("f"); const first = picked(); key("O"); say("O:", picked() !== first, text("#detail dd:last-of-type") !== "");
            key("o"); say("o:", picked() === first);
            say("bands:", document.querySelectorAll(".band").length, "arrows:", document.querySelectorAll(".edge.order").length > 0);
            const dark = () => getComputedStyle(document.body).backgroundColor;
            const light = dark(); click("#theme"); say("theme:", light !== dark());
            key("?"); say("help:", !document.getElementById("help").hidden);
            say("pressed:", text("[aria-pressed=true]"), text("#size"));
            const labels = [...document.querySelectorAll("#views button")].map((it) => it.innerText);
            say("views:", labels.join(", "));
            key("v"); say("v:", text("[aria-pressed=true]"), text("#size"), document.querySelectorAll(".row.picked").length);
            key(String(labels.length)); say("last view:", text("[aria-pressed=true]"), document.querySelectorAll(".row.marked").length);
            key("1"); say("back:", text("[aria-pressed=true]"), document.querySelectorAll(".edge.reason").length > 0);
            say("reason:", text(".reason li"));
            say("active:", document.getElementById("lanes").getAttribute("aria-activedescendant") === document.querySelector(".row.picked").id);
        "##,
        expect![[r#"
            headline: error[dl-67c2] deadlock: T1 (one) and T2 (two) wait for each other (b and a)
            point: T1 (one) locks a, in take, called from one (:9) prog.c:4 pthread_mutex_lock(first);
            lanes: step T0 main T1 one T2 two
            at first: 1▸4 lock a :4
            source: prog.c:4 in take | nothing
            Home: 1 spawn T1 :13
            down: 2 spawn T2 :14
            rows without a stack: start,start,start,start,start,finish,start,finish,exit
            hover: step 4 · T1 one · lock a | #0 prog.c:4 in take #1 prog.c:9 in one
            End: 4▸ lock a ← blocked forever :5 | blocked forever · T2 two · lock a
            p: 3▸ lock b ← blocked forever :5
            n: 3 start
            O: true true
            o: true
            bands: 2 arrows: true
            theme: true
            help: true
            pressed: minimised 6 steps, 2 switches
            views: minimised, as found, nearest passing
            v: as found 6 steps, 4 switches 1
            last view: nearest passing 0
            back: minimised true
            reason: order: fails in 20 of 20 schedules with 1 before 4 and 2 before 3; in 0 of 20 with 4 before 1; in 0 of 20 with 3 before 2
            active: true
        "#]],
    );
}

/// Every thread has its column in sight, wide or narrow, and nothing of the page is cut off or runs over its edge.
#[test]
fn every_column_is_in_sight_at_any_width() {
    let folder = folder();
    let source = r#"
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
static atomic_int total_of_everything, a_name_that_is_as_long_as_names_are;
static void *counter_of_values(void *arg) { a_name_that_is_as_long_as_names_are++; return arg; }
static void *adder_of_values(void *arg) {
    int seen = total_of_everything;
    total_of_everything = seen + 1;
    return arg;
}
int main(void) {
    pthread_t t[6];
    for (int i = 0; i < 6; i++)
        pthread_create(&t[i], NULL, i < 4 ? counter_of_values : adder_of_values, NULL);
    for (int i = 0; i < 6; i++) pthread_join(t[i], NULL);
    assert(total_of_everything == 2);
}
"#;
    report(folder.path(), source, &[]);
    let script = r##"
        const box = document.getElementById("lanes"), edge = box.getBoundingClientRect();
        const heads = [...document.querySelectorAll("#heads div:not(.number)")];
        const isInside = (it) => it.getBoundingClientRect().right <= edge.right + 1;
        say("columns:", heads.map((it) => it.firstChild.textContent).join(" "), heads.every(isInside));
        const labels = [...document.querySelectorAll(".row .step")];
        say("labels:", labels.length > 20, labels.every((it) => isInside(it) && it.getBoundingClientRect().left >= edge.left));
        say("runs over the edge:", document.documentElement.scrollWidth > innerWidth, box.scrollWidth > box.clientWidth);
        say("opens at:", picked());
        const numbers = [...document.querySelectorAll(".row .number b")].map((it) => it.innerText);
        say("numbers:", numbers.join(" "));
        const items = [...document.querySelectorAll(".points li")];
        say("items:", items.map((it) => it.dataset.named ?? "-").join(" "));
        items.find((it) => it.dataset.named === "2").click(); say("2:", picked());
        const parts = (it) => getComputedStyle(it).color.match(/[0-9.]+/g).slice(0, 3).map(Number);
        const light = (it) => parts(it).reduce((a, b) => a + b) / 3;
        const paper = () => getComputedStyle(document.body).backgroundColor.match(/[0-9.]+/g).map(Number)[0];
        const weak = () => [...document.querySelectorAll("h1, .points li, .reason li, .row .step, #heads div, #code li")]
            .filter((it) => Math.abs(light(it) - paper()) < 60).length;
        for (const theme of ["light", "dark"]) {
            document.documentElement.dataset.theme = theme;
            say(theme + ":", "paper", paper() > 128 ? "light" : "dark", "weak texts", weak());
        }
    "##;
    let at =
        |width: u32, expect: Expect| check_at(folder.path(), "page.html", width, script, expect);
    at(
        1000,
        expect![[r#"
        columns: T0 T1 T2 T3 T4 T5 T6 true
        labels: true true
        runs over the edge: false true
        opens at: 1▸20 load total_of_everything → 0 :8
        numbers: 1▸ 2▸ 3▸ 4▸ 5▸
        items: 1 2 3 4 5
        2: 2▸22 load total_of_everything → 0 :8
        light: paper light weak texts 0
        dark: paper dark weak texts 0
    "#]],
    );
    at(
        400,
        expect![[r#"
        columns: T0 T1 T2 T3 T4 T5 T6 true
        labels: true true
        runs over the edge: false true
        opens at: 1▸20 load total_of_everything → 0 :8
        numbers: 1▸ 2▸ 3▸ 4▸ 5▸
        items: 1 2 3 4 5
        2: 2▸22 load total_of_everything → 0 :8
        light: paper light weak texts 0
        dark: paper dark weak texts 0
    "#]],
    );
}

/// Sources, thread names and output that would run if they were taken for markup.
#[test]
fn what_the_program_says_is_never_run() {
    let folder = folder();
    let source = r#"
#define _GNU_SOURCE
#include <assert.h>
#include <pthread.h>
#include <stdio.h>
static int ready; // </script><script>window.evil = 1</script><img src=x onerror="window.evil = 2">
static void *work(void *arg) { ready = 1; return arg; } /* <!-- <script> */
int main(void) {
    pthread_t t;
    pthread_create(&t, NULL, work, NULL);
    pthread_setname_np(t, "</script><b>");
    puts("</pre></details><script>window.evil = 3</script>");
    fflush(stdout);
    assert(!ready && "</title><script>window.evil = 4</script>");
    pthread_join(t, NULL);
}
"#;
    report(folder.path(), source, &[]);
    check(
        folder.path(),
        "page.html",
        r##"
            key("Home"); key("f");
            say("evil:", window.evil);
            say("headline:", text("h1"));
            say("name:", text("#heads").includes("<" + "/script><b>"));
            const lines_ = [...document.querySelectorAll("#code li")].map((it) => it.innerText);
            say("source:", lines_.some((it) => it.includes("<" + "/script><" + "script>window.evil = 1")));
            say("text:", document.querySelector("#text pre").textContent.includes("</pre></details>"));
        "##,
        expect![[r#"
            evil: 
            headline: error[assert-cb87] assertion failed: T0 (main) reads ready after T1 (</script><b>) set it to 1
            name: true
            source: true
            text: true
        "#]],
    );
}

/// Only what is in sight is in the document, wherever one looks.
#[test]
fn ten_thousand_steps_stay_light() {
    let folder = folder();
    let source = r#"
#include <assert.h>
#include <pthread.h>
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int n, is_wrong;
static void *work(void *arg) {
    for (int i = 0; i < 1700; i++) {
        pthread_mutex_lock(&lock);
        n++;
        pthread_mutex_unlock(&lock);
    }
    is_wrong = 1;
    return arg;
}
int main(void) {
    pthread_t t;
    pthread_create(&t, NULL, work, NULL);
    work(NULL);
    pthread_join(t, NULL);
    assert(!is_wrong);
}
"#;
    report(folder.path(), source, &["--max-steps", "100000", "--no-explain"]);
    let size = fs::metadata(folder.path().join("page.html")).expect("it was written").len();
    assert!(size < 5_000_000, "{size}");
    check(
        folder.path(),
        "page.html",
        r##"
            const n = Number(document.querySelector(".row.picked").getAttribute("aria-setsize"));
            say("more than ten thousand:", n > 10000);
            const rows = () => document.querySelectorAll(".row").length;
            say("light at the end:", rows() < 150);
            key("Home"); say("light at the start:", rows() < 150, text(".row .number"));
            const lanes = document.getElementById("lanes");
            lanes.scrollTop = lanes.scrollHeight / 2;
            lanes.dispatchEvent(new Event("scroll"));
            for (let i = 0; i < 60; i++) key("ArrowDown");
            say("60 steps on:", text(".row.picked .number"), rows() < 150);
            for (let i = 0; i < 5; i++) key("n");
            say("still light:", rows() < 150, document.querySelectorAll("#arrows *").length < 2000);
        "##,
        expect![[r#"
            more than ten thousand: true
            light at the end: true
            light at the start: true 1
            60 steps on: 61 true
            still light: true true
        "#]],
    );
}
