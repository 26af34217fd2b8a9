//@ expect: pass
//@ execs: 200
// A C++ thread_local object is built at first use in each thread and destroyed before join returns.
#include <atomic>
#include <cassert>
#include <thread>

static std::atomic<int> alive{0}, built{0};

struct Arena {
    int used = 0;
    Arena() { ++alive, ++built; }
    ~Arena() { --alive; }
    int take(int n) { return used += n; }
};

static thread_local Arena arena;

static void worker(int n)
{
    arena.take(n);
    ++built, --built;
    assert(arena.take(n) == 2 * n);
    assert(alive >= 1);
}

int main()
{
    std::thread a(worker, 1), b(worker, 2), idle([] {});
    a.join();
    b.join();
    idle.join();
    assert(alive == 0 && built == 2);
}
