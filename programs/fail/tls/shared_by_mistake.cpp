//@ expect: assert
//@ execs: 500
//@ cause: scratch =
//@ says: scratch T1 T2
// A "per-thread" scratch buffer that lost its thread_local: two formatters write into one another.
#include <atomic>
#include <cassert>
#include <thread>

static std::atomic<int> scratch{0}; // should be thread_local

static int format(int value)
{
    scratch = value;
    scratch = scratch * 10;
    return scratch;
}

int main()
{
    std::thread a([] { assert(format(1) == 10); });
    std::thread b([] { assert(format(2) == 20); });
    a.join();
    b.join();
}
