//! GitHub's annotations.

use super::*;

#[test]
fn of_findings() {
    let (deadlock, race, evil) = (samples::ab_ba(), analyses::on_the_heap(), evil());
    let items = [item(&deadlock, "dl-02c1"), item(&race, "race-1"), item(&evil, "assert-2")];
    expect![[r#"
        ::error file=examples/bank.c,line=31,col=5,title=raddle dl-02c1%3A deadlock%3A T1 and T2 wait for each other::T1 waits for mutex `right`, held by T2 since bank.c:30 at examples/bank.c:31%0AT2 waits for mutex `left`, held by T1 since bank.c:30 at examples/bank.c:31%0AT0 main waits for the end of thread T1 at examples/bank.c:52%0Araddle replay dl-02c1
        ::error file=examples/bank.c,line=40,col=5,title=raddle race-1%3A data race on `Account.balance` (8 bytes)::T1 pay: write Account.balance, holding mutex `left` (since bank.c:30) at examples/bank.c:35%0AT0 main: read Account.balance, holding no lock at examples/bank.c:40%0Araddle replay race-1
        ::error file=a b%2Cc%3A%2540.c,line=40,col=5,title=raddle assert-2%3A assertion failed%3A ]]>"'<b>&amp;`%250A%3A%3Aerror%3A%3A?[31m|*::in T1 ]]>"'<b>&amp;`%250A::error::?[31m|* at a b,c:%2540.c:40%0Araddle replay assert-2
    "#]].assert_eq(&annotations(&items));
}
