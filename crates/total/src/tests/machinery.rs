//! What every part relies on: the order that must be, and locks.

use super::Figure;

#[test]
fn order_is_transitive() {
    let figure = Figure::new(
        "
        T1:1 spawn 2
        T2:10 spawn 3
        T3:20 write x
        T2:11 join 3
        T1:2 write y
        T1:3 join 2
        T1:4 write x",
    );
    let order = &figure.order;
    assert!(order.is_before(0, 2));
    assert!(order.is_before(2, 6));
    assert!(order.is_concurrent(2, 4));
    assert!(!order.is_before(3, 3) && !order.is_concurrent(3, 3));
}

#[test]
fn a_notification_orders() {
    let figure = Figure::new(
        "
        T1:1 lock m
        T1:2 wait c m
        T2:10 write x
        T2:11 notify c
        T1:2 wake c m
        T1:3 read x",
    );
    assert!(figure.order.is_before(2, 5));
    assert_eq!(figure.locks.at(5).len(), 1);
    assert_eq!(figure.locks.at(2).len(), 0);
}

#[test]
fn lock_order_does_not_count() {
    let figure = Figure::new(
        "
        T1:1 lock m
        T1:2 unlock m
        T2:10 lock m
        T2:11 unlock m",
    );
    assert!(figure.order.is_concurrent(1, 2));
    assert_eq!(figure.locks.at(3).len(), 1);
    assert_eq!(figure.locks.at(2).len(), 0);
}
