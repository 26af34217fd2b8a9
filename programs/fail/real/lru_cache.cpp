//@ expect: assert
//@ execs: 500
//@ cause: if (size() < capacity) | entries[key] = value;
//@ says: T1 T2
// A cache of the standard library's containers under std::mutex: room is looked for in one critical section and filled
// in the next.
#include <cassert>
#include <map>
#include <mutex>
#include <thread>

class Cache {
public:
    explicit Cache(std::size_t capacity) : capacity(capacity) {}

    void put(int key, int value)
    {
        if (size() < capacity)
            insert(key, value);
    }

    std::size_t size()
    {
        std::lock_guard<std::mutex> hold(lock);
        return entries.size();
    }

private:
    void insert(int key, int value)
    {
        std::lock_guard<std::mutex> hold(lock);
        entries[key] = value;
        assert(entries.size() <= capacity);
    }

    std::mutex lock;
    std::map<int, int> entries;
    std::size_t capacity;
};

int main()
{
    Cache cache(1);
    std::thread one([&] { cache.put(1, 10); });
    std::thread two([&] { cache.put(2, 20); });
    one.join();
    two.join();
}
