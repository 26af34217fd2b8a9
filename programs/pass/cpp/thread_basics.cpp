//@ expect: pass
//@ execs: 200
// std::thread: ids, moves, arguments by value and reference, hardware_concurrency, detach.
#include <atomic>
#include <cassert>
#include <functional>
#include <thread>
#include <vector>

static void add(int &to, int amount)
{
    to += amount;
}

int main()
{
    std::thread::id none, inner;
    std::vector<std::thread> pool;
    int sums[2] = {0, 0};
    pool.emplace_back(add, std::ref(sums[0]), 3);
    pool.emplace_back([&] { inner = std::this_thread::get_id(); });
    std::thread moved = std::move(pool[0]);
    assert(!pool[0].joinable() && moved.joinable());
    std::thread::id outer = pool[1].get_id();
    assert(outer != none && outer != std::this_thread::get_id());
    moved.join();
    pool[1].join();
    assert(inner == outer && sums[0] == 3);
    assert(std::thread::hardware_concurrency() < 100000); // zero if it can't be known
    static std::atomic<bool> gone{false};
    std::thread([] { gone = true; }).detach();
    while (!gone)
        std::this_thread::yield();
}
