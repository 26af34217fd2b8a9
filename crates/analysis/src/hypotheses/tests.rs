//! Hypotheses of traces written by hand.

use std::collections::{BTreeMap, BTreeSet};

use expect_test::{Expect, expect};
use raddle_model::{Family, PlaceOrder, Side, SiteId};

use super::hypotheses;
use crate::toy;

/// Of some families, with lines instead of places: `1<3` is line 1 before line 3, `*<3` line 3 as late as can be.
fn check(text: &str, families: &[Family], expected: Expect) {
    check_near(text, &[], families, expected);
}

/// The same for somebody who wants to look at some of the lines.
fn check_near(text: &str, near: &[u32], families: &[Family], expected: Expect) {
    let mut trace = toy::trace(text);
    for (idx, site) in trace.sites.iter_mut().enumerate() {
        site.offset = idx as u64;
    }
    let lines: BTreeMap<u32, usize> = trace
        .events
        .iter()
        .enumerate()
        .map(|(idx, it)| (Side::key(it.kind, trace.site_hash(SiteId(idx as u32 + 1))), idx))
        .collect();
    let name = |key: u32| lines.get(&key).map_or_else(|| "*".to_owned(), usize::to_string);
    let mut told = String::new();
    let near: BTreeSet<SiteId> = near.iter().map(|line| SiteId(line + 1)).collect();
    let suggested = hypotheses(&trace, &near);
    let all = suggested.near.iter().chain(&suggested.others);
    for it in all.filter(|it| families.contains(&it.family)) {
        told.push_str(it.family.name());
        for order in it.orders.iter().filter(|it| **it != PlaceOrder::NONE) {
            told.push_str(&format!(" {}<{}", name(order.first), name(order.second)));
        }
        told.push('\n');
    }
    expected.assert_eq(&told);
}

/// One thread writes two variables, another reads both: the second write and the second read come first, for what is
/// before them in their threads matters to others as well.
#[test]
fn second_halves_first() {
    check(
        "0 spawn 1
         0 spawn 2
         1 write x
         1 write y
         2 read x
         2 read y",
        &[Family::Late, Family::Order, Family::Twice],
        expect![[r#"
            late *<3
            late *<5
            late *<2
            late *<4
            order 4<2
            order 5<3
            order 2<4
            order 3<5
            twice *<3 *<5
            twice *<3 *<2
            twice *<5 *<2
            twice *<3 *<4
            twice *<5 *<4
            twice *<2 *<4
        "#]],
    );
}

/// A check under a lock, an act under the same lock in another section; another thread changes both in between.
#[test]
fn two_objects_that_belong_together() {
    check(
        "0 spawn 1
         0 spawn 2
         1 lock m
         1 read open
         1 unlock m
         1 read n
         1 lock m
         1 read len
         1 unlock m
         2 lock m
         2 write open
         2 unlock m
         2 write n
         2 lock m
         2 write len
         2 unlock m",
        &[Family::Across],
        expect![[r#"
            across 9<2 5<12
            across 12<5 6<13
            across 2<9 12<5
            across 5<12 13<6
            across 12<5 2<13
            across 9<6 5<12
            across 5<12 9<6
            across 2<13 12<5
        "#]],
    );
}

/// What touches the places that somebody wants to look at comes first, in whatever family.
#[test]
fn near_ones_first() {
    check_near(
        "0 spawn 1
         0 spawn 2
         1 write x
         1 write y
         2 read x
         2 read y",
        &[2],
        &[Family::Late, Family::Order],
        expect![[r#"
            late *<2
            order 4<2
            order 2<4
            late *<3
            late *<5
            late *<4
            order 5<3
            order 3<5
        "#]],
    );
}

/// A read and a write of one thread, and another's write.
#[test]
fn an_update_that_is_torn() {
    check(
        "0 spawn 1
         0 spawn 2
         1 read x
         1 write x
         2 write x",
        &[Family::Torn],
        expect![[r#"
            torn 2<4 4<3
        "#]],
    );
}

/// In sections of a lock, sections come in other orders: threads are held back where they take it.
#[test]
fn sections_of_a_lock() {
    check(
        "0 spawn 1
         0 spawn 2
         1 lock m
         1 read x
         1 unlock m
         1 lock m
         1 write x
         1 unlock m
         2 lock m
         2 write x
         2 unlock m",
        &[Family::Late, Family::Torn],
        expect![[r#"
            late *<5
            late *<2
            late *<8
            torn 2<8 8<5
        "#]],
    );
}

/// In one section, nothing comes between.
#[test]
fn one_section_is_not_torn() {
    check(
        "0 spawn 1
         0 spawn 2
         1 lock m
         1 read x
         1 write x
         1 unlock m
         2 lock m
         2 write x
         2 unlock m",
        &[Family::Torn],
        expect![[""]],
    );
}

/// What a thread did before it created the other, and after it has joined it, is ordered.
#[test]
fn creation_and_join_order() {
    check(
        "0 write x
         0 spawn 1
         1 write x
         0 join 1
         0 read x",
        &[Family::Late, Family::Order, Family::Torn],
        expect![[r#"
            late *<4
            torn 0<2 2<4
        "#]],
    );
}

/// A cycle of three: whoever holds one waits before the next. No two threads hold what the other wants.
#[test]
fn locks_in_a_ring() {
    check(
        "0 spawn 1
         0 spawn 2
         0 spawn 3
         1 lock a
         1 lock b
         1 unlock b
         1 unlock a
         2 lock b
         2 lock c
         2 unlock c
         2 unlock b
         3 lock c
         3 lock a
         3 unlock a
         3 unlock c",
        &[Family::Cycle],
        expect![[r#"
            cycle *<4
            cycle *<8
            cycle *<12
        "#]],
    );
}

/// Of two, there is an order for each, too.
#[test]
fn two_locks_in_both_orders() {
    let text = "0 spawn 1
         0 spawn 2
         1 lock a
         1 lock b
         1 unlock b
         1 unlock a
         2 lock b
         2 lock a
         2 unlock a
         2 unlock b";
    check(
        text,
        &[Family::Cycle],
        expect![[r#"
            cycle 2<7 6<3
            cycle *<3
            cycle *<7
        "#]],
    );
}

/// What is suggested for one object only, with the one that is right, if one function takes all locks, or each place its
/// own.
fn of_objects(is_wrapper: bool) -> (Vec<[PlaceOrder; 2]>, PlaceOrder) {
    let mut trace = toy::trace(
        "0 spawn 1
         0 spawn 2
         1 lock m
         1 unlock m
         2 lock n
         2 unlock n
         2 lock m
         2 unlock m",
    );
    for (idx, site) in trace.sites.iter_mut().enumerate() {
        site.offset = idx as u64;
    }
    for (idx, object) in trace.objects.iter_mut().enumerate() {
        object.name = 100 + idx as u64;
    }
    for event in trace.events.iter_mut().filter(|it| is_wrapper && it.kind.takes_lock()) {
        event.site = SiteId(3);
    }
    let m = trace.events[2];
    let key = Side::key(m.kind, trace.site_hash(m.site));
    let second = Side::key_on(key, trace.objects[m.object.idx()].name);
    let suggested = hypotheses(&trace, &BTreeSet::new()).others;
    let of_objects = suggested.iter().filter(|it| it.family == Family::Object);
    (of_objects.map(|it| it.orders).collect(), PlaceOrder { first: 0, second })
}

/// A function that takes all locks is held back at the one that two threads take; where each lock is taken in a place of
/// its own, the place says enough.
#[test]
fn a_place_that_serves_many_objects() {
    let (found, right) = of_objects(true);
    assert_eq!(found, [[right, PlaceOrder::NONE]]);
    assert!(of_objects(false).0.is_empty());
}
