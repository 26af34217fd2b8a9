//@ expect: deadlock
//@ execs: 500
//@ cause: std::lock_guard<std::recursive_mutex> hold(lock); | static const int value = load();
//@ says: lock T1 T2
// A function-local static whose initialiser takes a lock, reached by another thread that holds the lock.
#include <mutex>
#include <thread>

static std::recursive_mutex lock;
static int loads;

static int load()
{
    std::lock_guard<std::recursive_mutex> hold(lock);
    return ++loads;
}

static int settings()
{
    static const int value = load();
    return value;
}

static void report()
{
    std::lock_guard<std::recursive_mutex> hold(lock);
    loads += settings();
}

int main()
{
    std::thread a(settings), b(report);
    a.join();
    b.join();
}
