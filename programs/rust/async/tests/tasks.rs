//! Each program on one thread and on several.

macro_rules! explored {
    ($($group:ident::$name:ident),* $(,)?) => {
        mod current {$(
            mod $name {
                #[tokio::test]
                async fn wrong() {
                    tasks::$group::$name::wrong().await;
                }

                #[tokio::test]
                async fn right() {
                    tasks::$group::$name::right().await;
                }
            }
        )*}

        mod multi {$(
            mod $name {
                #[tokio::test(flavor = "multi_thread", worker_threads = 2)]
                async fn wrong() {
                    tasks::$group::$name::wrong().await;
                }

                #[tokio::test(flavor = "multi_thread", worker_threads = 2)]
                async fn right() {
                    tasks::$group::$name::right().await;
                }
            }
        )*}
    };
}

explored! {
    order::two_tasks,
    order::lost_wakeup,
    order::check_then_act,
    locks::across_await,
    locks::two_mutexes,
    locks::semaphore_leak,
    channels::broadcast_lag,
    channels::watch_skips,
    channels::double_select,
    stopping::cancelled,
    stopping::timeout,
    stopping::shutdown,
}
