//@ expect: pass
//@ execs: 200
// std::call_once with arguments: one of the three callers' values is kept, and all see the same.
#include <cassert>
#include <mutex>
#include <thread>

static std::once_flag flag;
static int chosen, calls;

static int choose(int mine)
{
    std::call_once(flag, [](int value) { calls++; chosen = value; }, mine);
    return chosen;
}

int main()
{
    int seen[3];
    auto run = [&seen](int i) { seen[i] = choose(10 + i); };
    std::thread a(run, 0), b(run, 1), c(run, 2);
    a.join();
    b.join();
    c.join();
    assert(calls == 1 && chosen >= 10 && chosen <= 12);
    assert(seen[0] == chosen && seen[1] == chosen && seen[2] == chosen);
}
