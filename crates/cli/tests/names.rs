//! What reports call memory, threads and places: in programs as both compilers build them, with debug
//! information of every sort, and with none.

mod common;

use std::{
    collections::BTreeMap,
    path::{Path, PathBuf},
    process::Command,
};

use common::{code, compilers, folder, raddle, run, stderr, stdout, write};
use expect_test::expect;
use raddle_explore::Store;
use raddle_model::{Finding, Home};
use raddle_tidy::lacks;
use tempfile::TempDir;

/// What `raddle run` finds first.
fn found(folder: &Path, args: &[&str]) -> Finding {
    let mut all = vec!["run", "--execs", "400", "--progress", "none"];
    all.extend(args);
    let output = raddle(folder, &all).output().expect("raddle starts");
    assert_eq!(code(&output), Some(2), "{}{}", stdout(&output), stderr(&output));
    Store::at(folder.join(".raddle")).find("latest").expect("it was kept").finding
}

/// The names of a finding's objects, with what they are fields of.
fn names(finding: &Finding) -> BTreeMap<String, String> {
    let all = finding.objects.iter();
    all.map(|it| (it.to_string(), it.location.field_of.clone())).collect()
}

/// Every thread of this program touches one part of everything.
const C: &str = r#"
#include <pthread.h>
#include <stdlib.h>
struct slot { int state; short kind; char low, high; };
typedef struct { long len; pthread_mutex_t lock; struct slot slots[4]; } Queue;
union word { int whole; char bytes[4]; };
struct bits { unsigned first : 3, second : 5; int after; };
static Queue queue;
Queue *made, *other;
struct slot *array;
int *counter;
union word word;
struct bits bits;
struct { int x; struct { int y; }; } outer;
int matrix[3][5];
char near_by[2] __attribute__((aligned(4)));

static void *xalloc(size_t size) { void *p = calloc(1, size); if (!p) abort(); return p; }
static Queue *make(void) {
    Queue *fresh = malloc(sizeof(Queue));
    fresh->len = 0;
    return fresh;
}
static void *worker(void *arg) {
    static int calls;
    int *local = arg;
    calls++;
    ++*local;
    queue.len++;
    queue.slots[2].state++;
    queue.slots[1].low++;
    made->slots[3].kind++;
    other->len++;
    array[5].state++;
    ++*counter;
    word.bytes[1]++;
    bits.second++;
    bits.after++;
    outer.y++;
    matrix[2][4]++;
    near_by[1]++;
    pthread_mutex_lock(&queue.lock);
    pthread_mutex_unlock(&queue.lock);
    return NULL;
}
int main(void) {
    int sum = 0;
    pthread_t threads[2];
    made = make();
    other = make();
    array = xalloc(8 * sizeof *array);
    counter = malloc(sizeof(int));
    *counter = 0;
    for (int i = 0; i < 2; i++) pthread_create(&threads[i], NULL, worker, &sum);
    for (int i = 0; i < 2; i++) pthread_join(threads[i], NULL);
    abort();
}
"#;

const C_NAMES: [(&str, &str); 17] = [
    ("`calls`", ""),
    ("`sum`", ""),
    ("`queue.len`", "Queue"),
    ("`queue.slots[2].state`", "struct slot"),
    ("`queue.slots[1].{kind,low,high}`", "struct slot"),
    ("`Queue#1.slots[3].{kind,low,high}`", "struct slot"),
    ("`Queue#2.len`", "Queue"),
    ("`slot[5].state`", "struct slot"),
    ("`*counter`", ""),
    ("`word.whole`", "union word"),
    ("`bits.{first,second}`", "struct bits"),
    ("`bits.after`", "struct bits"),
    ("`outer.y`", "anonymous struct"),
    ("`matrix[2][4]`", ""),
    ("`near_by[0]`", ""),
    ("mutex `queue.lock`", "Queue"),
    ("thread T1", ""),
];

/// Without what an optimiser takes apart.
fn check_c(folder: &Path, compiler: &str, flags: &str) {
    let finding = found(folder, &["names.c", "--compiler", compiler, "--cflags", flags]);
    let names = names(&finding);
    for (name, field_of) in C_NAMES {
        let found = names.get(name);
        assert_eq!(found.map(String::as_str), Some(field_of), "{compiler} {flags}: {names:#?}");
    }
    let worker = &finding.threads[1];
    assert_eq!((worker.function.as_str(), worker.created_at.function.as_str()), ("worker", "main"));
    let creation: Vec<&str> = worker.creation.iter().map(|it| it.function.as_str()).collect();
    assert_eq!(creation, ["main"], "{compiler} {flags}");
}

fn c_folder() -> TempDir {
    let folder = folder();
    write(folder.path(), "names.c", C);
    folder
}

#[test]
fn variables_of_c() {
    let folder = c_folder();
    for compiler in compilers() {
        for flags in ["-O0", "-O1", "-gdwarf-4", "-gz", "-g3 -gdwarf-5 -fdebug-types-section"] {
            check_c(folder.path(), compiler, flags);
        }
    }
}

#[test]
fn variables_of_c_with_split_debug_information() {
    let folder = c_folder();
    for compiler in compilers() {
        for flags in ["-gdwarf-4", "-gdwarf-5"] {
            build_split(folder.path(), compiler, flags);
            let finding = found(folder.path(), &["--", "./names"]);
            let names = names(&finding);
            for (name, field_of) in C_NAMES {
                let found = names.get(name).map(String::as_str);
                assert_eq!(found, Some(field_of), "{compiler} {flags}: {names:#?}");
            }
            // The lines stay in the program; the numbers of their files were split off.
            let is_placed = |home: &Home| matches!(home, Home::Global { declared_at, .. } if declared_at.file.ends_with("names.c"));
            assert!(
                finding.objects.iter().any(|it| is_placed(&it.location.home)),
                "{compiler} {flags}"
            );
        }
    }
}

/// Compiles to an object first: the `.dwo` file must stay where the compiler says it is.
fn build_split(folder: &Path, compiler: &str, flags: &str) {
    cc(folder, compiler, &format!("-O1 -pthread -gsplit-dwarf {flags} -c names.c -o names.o"));
    cc(folder, compiler, "-pthread names.o -o names");
    assert!(folder.join("names.dwo").exists(), "{compiler}");
}

fn cc(folder: &Path, compiler: &str, args: &str) {
    let mut command = raddle(folder, &["cc"]);
    let output = command.args(args.split(' ')).env("RADDLE_CC", compiler).output().expect("starts");
    assert_eq!(code(&output), Some(0), "{}", stderr(&output));
}

#[test]
fn variables_of_c_with_packaged_debug_information() {
    if lacks("dwp", "packaged debug information") {
        return;
    }
    let folder = c_folder();
    build_split(folder.path(), "gcc", "-gdwarf-4");
    let packed = Command::new("dwp").args(["-e", "names"]).current_dir(&folder).status();
    assert!(packed.expect("dwp starts").success());
    std::fs::remove_file(folder.path().join("names.dwo")).expect("it was there");
    let names = names(&found(folder.path(), &["--", "./names"]));
    assert!(names.contains_key("`queue.slots[2].state`"), "{names:#?}");
    assert!(names.contains_key("`sum`"), "{names:#?}");
}

#[test]
fn variables_of_c_with_debug_information_in_a_file_of_its_own() {
    let folder = c_folder();
    let objcopy = |args: &str| {
        let mut command = Command::new("objcopy");
        let status = command.args(args.split(' ')).current_dir(&folder).status();
        assert!(status.expect("objcopy starts").success(), "{args}");
    };
    for id in ["-Wl,--build-id", "-Wl,--build-id=none"] {
        cc(folder.path(), "gcc", &format!("-O1 -g -pthread {id} names.c -o names"));
        objcopy("--only-keep-debug names names.debug");
        objcopy("--strip-all names");
        objcopy("--add-gnu-debuglink=names.debug names");
        let names = names(&found(folder.path(), &["--", "./names"]));
        assert!(names.contains_key("`queue.slots[2].state`"), "{id}: {names:#?}");
        assert!(names.contains_key("`Queue#2.len`"), "{id}: {names:#?}");
    }
    // That of another build is not believed.
    cc(folder.path(), "gcc", "-O2 -g -pthread names.c -o other");
    objcopy("--only-keep-debug other names.debug");
    let names = names(&found(folder.path(), &["--", "./names"]));
    assert!(!names.contains_key("`queue.slots[2].state`"), "{names:#?}");
}

#[test]
fn a_stripped_program_is_told_by_offsets() {
    let folder = c_folder();
    cc(folder.path(), "gcc", "-O1 -g0 -pthread names.c -o names");
    let names_of = |finding: &Finding| names(finding).into_keys().collect::<Vec<_>>();
    let finding = found(folder.path(), &["--", "./names"]);
    assert!(names_of(&finding).contains(&"`queue`".to_owned()), "{:#?}", names_of(&finding));
    assert_eq!((finding.sites[0].function.as_str(), finding.sites[0].line), ("main", 0));
    assert!(finding.sites[0].offset > 0);

    let strip = Command::new("strip").arg(folder.path().join("names")).status();
    assert!(strip.expect("strip starts").success());
    let finding = found(folder.path(), &["--", "./names"]);
    assert!(
        names_of(&finding).iter().any(|it| it.starts_with("`names+0x")),
        "{:#?}",
        names_of(&finding)
    );
    let shown = raddle(folder.path(), &["show", "latest"]).output().expect("raddle starts");
    let shown = stdout(&shown);
    let hint = "hint: names has no debug information; build with -g to see source lines and variable names";
    assert!(shown.contains(hint), "{shown}");
    assert!(shown.contains("abort called: aborted at names+0x"), "{shown}");
}

const CXX: &str = r#"
#include <array>
#include <atomic>
#include <cstdlib>
#include <list>
#include <map>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>
namespace bank {
struct Empty {};
struct Base { std::mutex lock; int id = 0; virtual ~Base() {} };
class Account : public Empty, public Base {
public:
    long balance = 0;
    static int count;
    int _history[3] = {};
};
int Account::count;
template <typename T> struct Box { T value{}; };
}
using bank::Account;
static std::map<int, Account> accounts;
static std::vector<Account *> pointers;
static std::vector<short> numbers;
static std::list<Account> chain;
static std::shared_ptr<Account> shared;
static std::unique_ptr<bank::Box<int>> boxed;
static std::array<int, 4> fixed;
static std::atomic<int> ready;
struct Holder { Account *mine; void make() { mine = new Account(); } };
static Holder holder;

static void work() {
    accounts[1].balance++;
    pointers[0]->_history[2]++;
    numbers[2]++;
    chain.front().id++;
    shared->balance++;
    boxed->value++;
    fixed[2]++;
    ready++;
    holder.mine->balance++;
    Account::count++;
    std::lock_guard<std::mutex> guard(shared->lock);
}
int main() {
    accounts[1];
    pointers.push_back(new Account);
    numbers.resize(4);
    chain.emplace_back();
    shared = std::make_shared<Account>();
    boxed = std::make_unique<bank::Box<int>>();
    holder.make();
    std::thread first(work), second(work);
    first.join();
    second.join();
    abort();
}
"#;

#[test]
fn variables_of_cpp() {
    let folder = folder();
    write(folder.path(), "names.cc", CXX);
    for compiler in compilers() {
        for flags in ["-std=c++17 -O0", "-std=c++17 -O1", "-std=c++17 -O2 -gdwarf-4"] {
            let args = ["names.cc", "--compiler", compiler, "--cflags", flags];
            let finding = found(folder.path(), &args);
            let names = names(&finding);
            for (name, field_of) in [
                ("`pair.second.balance`", "bank::Account"),
                ("`Account#1._history[2]`", "bank::Account"),
                ("`short[2]`", ""),
                ("`Account#2.id`", "bank::Base"),
                ("`Account#3.balance`", "bank::Account"),
                ("`Box.value`", "bank::Box<int>"),
                ("`fixed[2]`", ""),
                ("`ready`", ""),
                ("`Account#4.balance`", "bank::Account"),
                ("`bank::Account::count`", ""),
                ("mutex `Account#3.lock`", "bank::Base"),
            ] {
                let found = names.get(name).map(String::as_str);
                // gcc says `short int`.
                let found = found.or(names
                    .get("`short int[2]`")
                    .map(String::as_str)
                    .filter(|_| name.starts_with("`short")));
                assert_eq!(found, Some(field_of), "{compiler} {flags} {name}: {names:#?}");
            }
            // Where the program called the library that allocated.
            for (name, line) in [("`pair.second.balance`", 49), ("`Account#3.balance`", 53)] {
                let object = finding.objects.iter().find(|it| it.to_string() == name).expect(name);
                let Home::Heap { stack, .. } = &object.location.home else {
                    panic!("{object:?}");
                };
                assert_eq!((stack[0].function.as_str(), stack[0].line), ("main", line), "{name}");
            }
        }
    }
}

/// A system call that no library sees.
const KILLED: &str = r#"
#include <pthread.h>
#include <unistd.h>
static int shared;
static void *worker(void *arg) {
    shared++;
    long result = 62, process = getpid(), signal = 9;
    if (shared == 1) __asm__ volatile("syscall" : "+a"(result) : "D"(process), "S"(signal) : "rcx", "r11", "memory");
    return arg;
}
int main(void) {
    pthread_t thread;
    pthread_create(&thread, NULL, worker, NULL);
    shared--;
    pthread_join(thread, NULL);
}
"#;

#[test]
fn a_killed_program_has_places() {
    let folder = folder();
    write(folder.path(), "killed.c", KILLED);
    let told = run(
        folder.path(),
        &["run", "killed.c", "--strategy", "walk", "--execs", "100", "--progress", "none"],
    );
    expect![[r#"
        exit 2
        stdout: error[crash-d2b3]: crash (SIGKILL): T1 (worker) writes `shared` before T0
        stdout:     (main) uses it
        stdout:   --> killed.c:13 in main
        stdout:    |
        stdout:  6 |     shared++;
        stdout:    |     ------ 1. T1 (worker) writes `shared`
        stdout: 13 |     pthread_create(&thread, NULL, worker, NULL);
        stdout:    |     ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^
        stdout:    |     2. T0 (main): SIGKILL after this line
        stdout: 14 |     shared--;
        stdout:    |     ------ did not happen: T0's read of `shared`
        stdout:    |
        stdout:    = order: fails in 20 of 20 schedules with 1 before T0's read at :14; also in
        stdout:             5 of 20 with T0's read at :14 before 1
        stdout:    = replay: raddle replay crash-d2b3
        stdout: 
        stdout:   step  T0 main   T1 worker        4 steps, 1 switch
        stdout:      1  spawn T1                   killed.c:13  pthread_create(&thread, NULL, w…
        stdout:         ── switch (preempted) ──
        stdout:      2  .         start
        stdout:      3  .         read shared → 0  killed.c:6   shared++;
        stdout: 1▸   4  .         write shared     killed.c:6   shared++;
        stdout: 
        stdout: SUMMARY: raddle: crash at killed.c:13 in main
        stdout: 
        stdout: explored 3 executions (3 distinct) in TIME (RATE/s), 1 finding
        stderr: exploring killed.c: 100 executions, N workers, seed 0
    "#]]
    .assert_eq(&told);
    let told =
        run(folder.path(), &["replay", "latest", "--times", "2", "--message-format", "json"]);
    expect![[r#"
        exit 2
        stdout: {"type":"replay","version":1,"id":"crash-d2b3","time":1,"verdict":"reproduced","reproduced":true,"exact":true,"diverged_at_step":null,"expected":null,"found":null,"other_failure":null,"rebuilt":false}
        stdout: {"type":"replay","version":1,"id":"crash-d2b3","time":2,"verdict":"reproduced","reproduced":true,"exact":true,"diverged_at_step":null,"expected":null,"found":null,"other_failure":null,"rebuilt":false}
    "#]].assert_eq(&told);
}

/// The debug information of a Rust program, which is not explored yet: only its symbols are read.
#[test]
fn names_of_rust() {
    let folder = folder();
    let source = "use std::sync::atomic::{AtomicU32, Ordering};\n\
        pub struct Pair(pub u32, pub u64);\n\
        pub mod bank { pub struct Account { pub id: u32, pub pair: super::Pair } }\n\
        #[unsafe(no_mangle)] pub static mut ACCOUNTS: [bank::Account; 2] =\n\
        \x20   [const { bank::Account { id: 1, pair: Pair(2, 3) } }; 2];\n\
        #[unsafe(no_mangle)] pub static READY: AtomicU32 = AtomicU32::new(0);\n\
        fn main() { READY.store(1, Ordering::Relaxed); unsafe { ACCOUNTS[1].id += 1; } }\n";
    write(folder.path(), "names.rs", source);
    let built = Command::new("rustc").args(["-g", "names.rs"]).current_dir(&folder).status();
    assert!(built.expect("rustc starts").success());
    let program = folder.path().join("names");
    let mut symbols = raddle_launch::Symbols::new();
    let accounts = symbol(&program, "ACCOUNTS");
    let mut names: Vec<(String, String)> = Vec::new();
    for offset in (0..48).step_by(4) {
        let found = symbols.global(&program, accounts + offset, 4).expect("it is a variable");
        names.push((found.name(), found.field_of));
    }
    names.dedup();
    let has = |name: &str, field_of: &str| names.contains(&(name.into(), field_of.into()));
    assert!(has("names::ACCOUNTS[1].id", "names::bank::Account"), "{names:?}");
    assert!(has("names::ACCOUNTS[0].pair.1", "names::Pair"), "{names:?}");
    let ready = symbols.global(&program, symbol(&program, "READY"), 4).expect("it is a variable");
    assert_eq!(ready.whole, "names::READY", "{ready:?}");
    let main = symbols.places(&program, symbol(&program, "main"));
    assert!(!main.is_empty());
}

/// The address of a symbol.
fn symbol(program: &PathBuf, name: &str) -> u64 {
    let output = Command::new("nm").arg(program).output().expect("nm starts");
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    let line = text.lines().find(|it| it.split(' ').nth(2) == Some(name)).expect(name);
    u64::from_str_radix(line.split(' ').next().expect("an address"), 16).expect("hexadecimal")
}
