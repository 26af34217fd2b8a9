//@ expect: panic
//@ execs: 4000
//@ unnamed: *stock -= n; | self.shelves.iter().map(|shelf| shelf.lock()
//@ unsaid: shelves
// A warehouse with a lock for each shelf. A snapshot copies shelf after shelf, and asks the movement counter before and
// after; but a move counts itself only when both shelves have been changed, so a snapshot fits in between.
use std::{
    collections::BTreeMap,
    sync::{
        Arc, Mutex,
        atomic::{AtomicUsize, Ordering::SeqCst},
    },
    thread,
};

const SHELVES: usize = 5;

#[derive(Clone, Default)]
struct Shelf {
    items: BTreeMap<u32, u32>,
    n_changes: u32,
}

#[derive(Default)]
struct Journal {
    lines: Vec<(usize, u32)>,
    n_refused: usize,
}

struct Warehouse {
    shelves: Vec<Mutex<Shelf>>,
    journal: Mutex<Journal>,
    n_moves: AtomicUsize,
}

impl Warehouse {
    fn new() -> Warehouse {
        let shelf = |idx: usize| {
            let items = (0..3).map(|item| (item, 10 + idx as u32)).collect();
            Mutex::new(Shelf { items, n_changes: 0 })
        };
        Warehouse {
            shelves: (0..SHELVES).map(shelf).collect(),
            journal: Mutex::default(),
            n_moves: AtomicUsize::new(0),
        }
    }

    fn take(&self, from: usize, item: u32, n: u32) -> bool {
        let shelf = &self.shelves[from];
        let mut shelf = shelf.lock().unwrap();
        shelf.n_changes += 1;
        match shelf.items.get_mut(&item) {
            Some(stock) if *stock >= n => {
                *stock -= n;
                true
            }
            _ => false,
        }
    }

    fn put(&self, to: usize, item: u32, n: u32) {
        let shelf = &self.shelves[to];
        let mut shelf = shelf.lock().unwrap();
        shelf.n_changes += 1;
        *shelf.items.entry(item).or_default() += n;
    }

    fn shift(&self, from: usize, to: usize, item: u32, n: u32) {
        self.note(from, item);
        if !self.take(from, item, n) {
            self.journal.lock().unwrap().n_refused += 1;
            return;
        }
        self.put(to, item, n);
        self.n_moves.fetch_add(1, SeqCst);
        self.note(to, item);
    }

    fn note(&self, shelf: usize, item: u32) {
        self.journal.lock().unwrap().lines.push((shelf, item));
    }

    fn snapshot(&self) -> Option<Vec<Shelf>> {
        let before = self.n_moves.load(SeqCst);
        let shelves = self.shelves.iter().map(|shelf| shelf.lock().unwrap().clone()).collect();
        (self.n_moves.load(SeqCst) == before).then_some(shelves)
    }
}

fn total(shelves: &[Shelf]) -> u32 {
    shelves.iter().flat_map(|it| it.items.values()).sum()
}

fn main() {
    let warehouse = Arc::new(Warehouse::new());
    let expected = total(&warehouse.snapshot().expect("nobody moves anything yet"));
    let mover = |moves: &'static [(usize, usize)]| {
        let warehouse = Arc::clone(&warehouse);
        thread::spawn(move || {
            for (idx, &(from, to)) in moves.iter().enumerate() {
                if from == to {
                    // Only counted again, on the spot.
                    warehouse.note(from, idx as u32);
                } else {
                    warehouse.shift(from, to, idx as u32 % 3, 2);
                }
            }
        })
    };
    let movers = [mover(&[(1, 1), (0, 4), (2, 2)]), mover(&[(3, 3), (2, 2), (4, 4), (1, 1)])];
    let auditor = {
        let warehouse = Arc::clone(&warehouse);
        thread::spawn(move || {
            for _ in 0..2 {
                if let Some(shelves) = warehouse.snapshot() {
                    assert_eq!(total(&shelves), expected);
                }
            }
        })
    };
    for thread in movers.into_iter().chain([auditor]) {
        thread.join().unwrap();
    }
}
