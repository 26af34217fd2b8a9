//! Each module has a bug (`wrong`) that the order does not show in which tokio polls tasks, and the same without it (`right`).

use tokio::task::yield_now;

pub mod channels;
pub mod locks;
pub mod order;
pub mod stopping;

/// What takes a while.
async fn work(rounds: u32) {
    for _ in 0..rounds {
        yield_now().await;
    }
}
