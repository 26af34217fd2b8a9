//! GitHub's annotations.

use super::*;

#[test]
fn of_findings() {
    let (deadlock, race, evil) = (samples::ab_ba(), analyses::on_the_heap(), evil());
    let items = [item(&deadlock, "dl-02c1"), item(&race, "race-1"), item(&evil, "assert-2")];
    expect![[r#"
        ::error file=examples/bank.c,line=31,col=5,title=raddle dl-02c1%3A deadlock%3A T1 and T2 wait for each other (`right` and `left`)::1. T1 locks `left` at examples/bank.c:30%0A2. T2 locks `right` at examples/bank.c:30%0A3. T1 waits forever for `right`, held by T2 (2) at examples/bank.c:31%0A4. T2 waits forever for `left`, held by T1 (1) at examples/bank.c:31%0AT0 (main) waits for T1 to finish (bank.c:52)%0Araddle replay dl-02c1
        ::error file=examples/bank.c,line=40,col=5,title=raddle race-1%3A data race on `Account.balance` (8 bytes)%3A T1's write and T0's read are unordered::1. T1 (pay) writes `Account.balance`, holding `left` at examples/bank.c:35%0A2. T0 (main) reads `Account.balance` = 100, holding no lock at examples/bank.c:40%0A1 and 2 are unordered: T1 holds `left`, T0 holds nothing, and no release-acquire pair orders them%0Alocation: `Account.balance`, field of `struct Account`, 40 bytes into a heap block of size 48 allocated by main thread at bank.c:20%0Araddle replay race-1
        ::error file=a b%2Cc%3A%2540.c,line=40,col=5,title=raddle assert-2%3A assertion failed%3A ]]>"'<b>&amp;`%250A%3A%3Aerror%3A%3A?[31m|*::T1 (]]>"'<b>&amp;`%250A::error::?[31m|*) reads `left`+40 = 100: assertion failed: ]]>"'<b>&amp;`%250A::error::?[31m|* at a b,c:%2540.c:40%0Araddle replay assert-2
    "#]].assert_eq(&annotations(&items));
}
