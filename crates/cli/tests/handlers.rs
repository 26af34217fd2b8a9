//! A program's own handlers of faults: they return or leave by `siglongjmp`, as they do without Raddle.

mod common;

use common::{code, folder, raddle, stderr, stdout, write};

/// They are not under `programs/`: places are not numbered alike on both carriers after a fault, though the steps are the
/// same.
#[test]
fn handlers_of_faults_do_what_they_do_natively() {
    let jump = include_str!("segv_jump.c");
    let mend = include_str!("segv_mend.c");
    for text in [jump, mend] {
        for carrier in ["fibers", "threads"] {
            let folder = folder();
            write(folder.path(), "program.c", text);
            let args =
                ["run", "program.c", "--progress", "none", "--execs", "100", "--carrier", carrier];
            let output = raddle(folder.path(), &args).output().expect("raddle starts");
            assert_eq!(code(&output), Some(0), "{}\n{}", stdout(&output), stderr(&output));
            assert!(stdout(&output).contains("explored 100 executions"), "{}", stdout(&output));
        }
    }
}
