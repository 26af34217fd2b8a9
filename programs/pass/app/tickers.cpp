//@ expect: pass
//@ execs: 100
//@ flags: -std=c++17
// Detached tickers that sleep and tick forever while main works and then simply returns: the process
// ends with them asleep, or in the middle of a tick. What they touch lives forever.
#include <atomic>
#include <cassert>
#include <chrono>
#include <condition_variable>
#include <mutex>
#include <thread>

using namespace std::chrono_literals;

struct World {
    std::mutex lock;
    std::condition_variable ticked;
    long n_ticks = 0;
    std::atomic<long> n_slow{0};
};

static World &world()
{
    static World &it = *new World;
    return it;
}

static void tick_fast()
{
    for (;;) {
        std::this_thread::sleep_for(1ms);
        std::lock_guard<std::mutex> hold(world().lock);
        world().n_ticks++;
        world().ticked.notify_all();
    }
}

static void tick_slowly()
{
    auto next = std::chrono::steady_clock::now();
    for (;;) {
        next += 3ms;
        std::this_thread::sleep_until(next);
        world().n_slow++;
    }
}

static void poll_for_ever()
{
    for (;;)
        std::this_thread::yield();
}

int main()
{
    World &it = world();
    auto begin = std::chrono::steady_clock::now();
    std::thread(tick_fast).detach();
    std::thread(tick_slowly).detach();
    std::thread(poll_for_ever).detach();
    {
        std::unique_lock<std::mutex> hold(it.lock);
        it.ticked.wait(hold, [&it] { return it.n_ticks >= 3; });
    }
    // However long main sleeps, the slow one may not even have begun; but once it has ticked, its time is over.
    while (it.n_slow == 0)
        std::this_thread::sleep_for(1ms);
    assert(std::chrono::steady_clock::now() - begin >= 3ms);
    std::lock_guard<std::mutex> hold(it.lock);
    assert(it.n_ticks >= 3);
}
