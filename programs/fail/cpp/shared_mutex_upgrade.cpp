//@ expect: deadlock
//@ execs: 500
//@ flags: -std=c++17
//@ cause: std::shared_lock<std::shared_mutex> hold(lock); | std::unique_lock<std::shared_mutex> fill(lock);
//@ says: lock T2
// A shared lock "upgraded" by taking the exclusive lock inside it, only when the cache is cold.
#include <map>
#include <mutex>
#include <shared_mutex>
#include <thread>

static std::shared_mutex lock;
static std::map<int, int> cache;

static void warm()
{
    std::unique_lock<std::shared_mutex> hold(lock);
    cache[1] = 10;
}

static int lookup()
{
    std::shared_lock<std::shared_mutex> hold(lock);
    auto it = cache.find(1);
    if (it != cache.end())
        return it->second;
    std::unique_lock<std::shared_mutex> fill(lock);
    return cache[1] = 10;
}

int main()
{
    std::thread a(warm), b([] { lookup(); });
    a.join();
    b.join();
}
