// Experiment 2 in Rust: see telnet.c.
use std::{sync::Mutex, thread};

const STREAM: &[u8] = b"\xff\xfd\x18ready\r\n\xff\xfa\x18\x01\xff\xf0login: ";

struct Screen {
    text: [u8; 80],
    cursor_column: usize,
    cursor_row: usize,
    shown: usize,
    n_options: usize,
}

static SCREEN: Mutex<Screen> =
    Mutex::new(Screen { text: [0; 80], cursor_column: 0, cursor_row: 0, shown: 0, n_options: 0 });
static mut LAST_KEY: usize = 0;

fn protocol() {
    let mut state = 0;
    let mut n_options = 0;
    for (idx, &byte) in STREAM.iter().enumerate() {
        if state == 0 && byte == 0xff {
            state = 1;
        } else if state == 1 {
            n_options += 1;
            state = if byte == 0xfa { 2 } else { 3 };
        } else if state == 2 {
            if byte == 0xf0 {
                state = 0;
            }
        } else if state == 3 {
            state = 0;
        } else {
            let mut screen = SCREEN.lock().unwrap();
            screen.text[idx] = byte;
            screen.cursor_column = idx;
        }
    }
    SCREEN.lock().unwrap().n_options = n_options;
}

fn events() {
    for key in b'a'..b'e' {
        unsafe { LAST_KEY = key.into() };
        let mut screen = SCREEN.lock().unwrap();
        screen.cursor_row = screen.cursor_column + usize::from(key);
    }
}

fn painter() {
    for _ in 0..3 {
        let mut screen = SCREEN.lock().unwrap();
        screen.shown = screen.cursor_row + screen.cursor_column;
    }
    let last_key = unsafe { LAST_KEY };
    SCREEN.lock().unwrap().shown += last_key;
}

fn main() {
    let threads = [protocol, events, painter].map(|role| thread::spawn(role));
    for it in threads {
        it.join().unwrap();
    }
}
