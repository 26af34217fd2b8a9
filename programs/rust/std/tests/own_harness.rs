//! A harness that does not speak as libtest does.

fn main() {
    let thread = std::thread::spawn(|| 1);
    assert_eq!(thread.join().unwrap(), 1);
    println!("all is well");
}
