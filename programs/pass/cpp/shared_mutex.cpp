//@ expect: pass
//@ execs: 200
//@ flags: -std=c++17
// std::shared_mutex and shared_timed_mutex: shared readers, one writer, try and timed forms.
#include <cassert>
#include <chrono>
#include <map>
#include <mutex>
#include <shared_mutex>
#include <thread>

static std::shared_mutex lock;
static std::shared_timed_mutex timed;
static std::map<int, int> table;
static int misses;

static void writer(int key)
{
    std::unique_lock<std::shared_mutex> hold(lock);
    table[key] = key * key;
}

static void reader(int key)
{
    std::shared_lock<std::shared_mutex> hold(lock);
    auto it = table.find(key);
    if (it != table.end()) {
        assert(it->second == key * key);
        return;
    }
    hold.unlock();
    std::unique_lock<std::shared_timed_mutex> count(timed, std::chrono::milliseconds(5));
    if (!count)
        count.lock();
    misses++;
}

int main()
{
    std::thread a(writer, 3), b(writer, 4), c(reader, 3), d(reader, 4);
    a.join();
    b.join();
    c.join();
    d.join();
    assert(misses >= 0 && misses <= 2 && table.size() == 2);
}
