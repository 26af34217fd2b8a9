use std::{
    hint,
    sync::{Arc, Mutex},
    thread,
};

use shop::{Account, Cache, Jobs, Stock, transfer};

#[test]
fn two_customers() {
    let stock = Stock::default();
    stock.add("loom", 1);
    let customers: Vec<_> = (0..2)
        .map(|_| {
            let stock = stock.clone();
            thread::spawn(move || stock.take("loom", 1))
        })
        .collect();
    let n_sold = customers.into_iter().map(|it| it.join().unwrap()).filter(|it| *it).count();
    assert_eq!(n_sold, 1);
}

#[test]
fn workers_end() {
    let jobs = Arc::new(Jobs::default());
    thread::scope(|scope| {
        for _ in 0..2 {
            scope.spawn(|| {
                while let Some(job) = jobs.next() {
                    hint::black_box(job);
                }
            });
        }
        jobs.push(1);
        jobs.close();
    });
}

#[test]
fn computed_once() {
    let cache = Cache::new();
    thread::scope(|scope| {
        for _ in 0..2 {
            scope.spawn(|| assert_eq!(*cache.get(&7, |it| it * 2), 14));
        }
    });
    assert_eq!(cache.n_computed.into_inner(), 1);
}

#[test]
fn both_ways() {
    let (a, b) = (Arc::new(Account(Mutex::new(10))), Arc::new(Account(Mutex::new(10))));
    let (c, d) = (Arc::clone(&a), Arc::clone(&b));
    let other = thread::spawn(move || transfer(&d, &c, 3));
    transfer(&a, &b, 5);
    other.join().unwrap();
}
