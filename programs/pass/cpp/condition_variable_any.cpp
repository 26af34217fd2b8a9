//@ expect: pass
//@ execs: 200
//@ flags: -std=c++17
// std::condition_variable_any over a std::shared_mutex, with wait_for that may time out.
#include <cassert>
#include <chrono>
#include <condition_variable>
#include <mutex>
#include <shared_mutex>
#include <thread>

static std::shared_mutex lock;
static std::condition_variable_any changed;
static int version;

static void watcher()
{
    std::shared_lock<std::shared_mutex> hold(lock);
    while (!changed.wait_for(hold, std::chrono::milliseconds(5), [] { return version == 2; }))
        ;
    assert(version == 2);
}

static void publisher()
{
    for (int i = 0; i < 2; i++) {
        std::unique_lock<std::shared_mutex> hold(lock);
        version++;
        hold.unlock();
        changed.notify_all();
    }
}

int main()
{
    std::thread a(watcher), b(watcher), c(publisher);
    a.join();
    b.join();
    c.join();
}
