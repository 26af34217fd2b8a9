//@ expect: assert
//@ execs: 8000
//@ flags: -std=c++20
//@ cause: assert(parts == | parts++;
//@ says: parts T1 T3
// A latch for one among two loaders: the reader may start after the first.
#include <atomic>
#include <cassert>
#include <latch>
#include <thread>

static std::latch loaded{1};
static std::atomic<int> parts{0};

static void loader(bool counts)
{
    parts++;
    if (counts)
        loaded.count_down();
}

static void reader()
{
    loaded.wait();
    assert(parts == 2);
}

int main()
{
    std::thread a(loader, false), b(loader, true), c(reader);
    a.join();
    b.join();
    c.join();
}
