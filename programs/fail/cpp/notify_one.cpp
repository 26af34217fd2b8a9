//@ expect: deadlock
//@ execs: 500
//@ cause: loaded.notify_one(); | loaded.wait(
//@ says: loaded T0
// Both workers may be waiting for the configuration, but it is announced with notify_one.
#include <condition_variable>
#include <mutex>
#include <thread>

static std::mutex lock;
static std::condition_variable loaded;
static bool configured;

static void worker()
{
    std::unique_lock<std::mutex> hold(lock);
    loaded.wait(hold, [] { return configured; });
}

int main()
{
    std::thread a(worker), b(worker);
    {
        std::lock_guard<std::mutex> hold(lock);
        configured = true;
    }
    loaded.notify_one(); // should be notify_all
    a.join();
    b.join();
}
