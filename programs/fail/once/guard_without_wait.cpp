//@ expect: assert
//@ execs: 500
//@ cause: limit = 64; | return limit;
//@ says: limit T1 T2
// A hand-made guard in place of a function-local static: the second caller does not wait for the first.
#include <atomic>
#include <cassert>
#include <thread>

static std::atomic<bool> guard{false};
static std::atomic<int> limit{0};

static int get_limit()
{
    if (!guard.exchange(true)) // "I am first": but the others do not wait for me
        limit = 64;
    return limit;
}

int main()
{
    auto use = [] { assert(get_limit() == 64); };
    std::thread a(use), b(use);
    a.join();
    b.join();
}
