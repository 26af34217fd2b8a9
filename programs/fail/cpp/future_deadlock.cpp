//@ expect: deadlock
//@ execs: 500
//@ cause: ordered[me] = true; | if (ordered[other])
//@ says: T1 T2
// Two tasks wait for one another's future if each finds the other's result "already ordered".
#include <atomic>
#include <future>
#include <thread>

static std::promise<int> promise[2];
static std::future<int> result[2];
static std::atomic<bool> ordered[2];

static void task(int me)
{
    int other = 1 - me, base = 0;
    ordered[me] = true;
    if (ordered[other])
        base = result[other].get();
    promise[me].set_value(base + 1);
}

int main()
{
    for (int i = 0; i < 2; i++)
        result[i] = promise[i].get_future();
    std::thread a(task, 0), b(task, 1);
    a.join();
    b.join();
}
