//@ expect: pass
//@ execs: 200
//@ flags: -std=c++20
// std::atomic::wait and notify: a relay of four legs between two threads, and an atomic_flag at the start.
#include <atomic>
#include <cassert>
#include <thread>

static std::atomic_flag start = ATOMIC_FLAG_INIT;
static std::atomic<int> leg{0};
static int distance;

static void runner(int me)
{
    start.wait(false);
    for (int i = me; i < 4; i += 2) {
        for (int seen = leg.load(); seen != i; seen = leg.load())
            leg.wait(seen);
        distance += 100;
        leg.store(i + 1);
        leg.notify_all();
    }
}

int main()
{
    std::thread a(runner, 0), b(runner, 1);
    start.test_and_set();
    start.notify_all();
    a.join();
    b.join();
    assert(distance == 400);
}
