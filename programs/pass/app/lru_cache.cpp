//@ expect: pass
//@ execs: 100
//@ flags: -std=c++17
// A cache of the last used values: readers share the lock to look, and take it alone to bring a value
// to the front or to load it; a value is loaded once at a time, whoever asks.
#include <atomic>
#include <cassert>
#include <functional>
#include <future>
#include <list>
#include <memory>
#include <mutex>
#include <optional>
#include <shared_mutex>
#include <string>
#include <thread>
#include <unordered_map>
#include <vector>

class Cache {
public:
    using Value = std::shared_ptr<const std::string>;
    using Load = std::function<std::string(int)>;

    Cache(size_t room, Load load) : room(room), load(std::move(load)) {}

    Value get(int key)
    {
        {
            std::shared_lock<std::shared_mutex> hold(lock);
            auto it = entries.find(key);
            if (it != entries.end() && it->second.value) {
                n_hits++;
                if (order.front() == key)
                    return it->second.value;
            }
        }
        std::unique_lock<std::shared_mutex> hold(lock);
        auto it = entries.find(key);
        if (it != entries.end()) {
            order.splice(order.begin(), order, it->second.place);
            if (it->second.value)
                return it->second.value;
            std::shared_future<Value> coming = it->second.coming;
            hold.unlock();
            return coming.get();
        }
        std::promise<Value> promise;
        order.push_front(key);
        entries.emplace(key, Entry{order.begin(), nullptr, promise.get_future().share()});
        hold.unlock();
        Value value = std::make_shared<const std::string>(load(key));
        hold.lock();
        n_loads++;
        it = entries.find(key);
        assert(it != entries.end() && !it->second.value);
        it->second.value = value;
        drop_oldest();
        hold.unlock();
        promise.set_value(value);
        return value;
    }

    bool forget(int key)
    {
        std::unique_lock<std::shared_mutex> hold(lock);
        auto it = entries.find(key);
        if (it == entries.end() || !it->second.value)
            return false;
        order.erase(it->second.place);
        entries.erase(it);
        return true;
    }

    size_t size() const
    {
        std::shared_lock<std::shared_mutex> hold(lock);
        assert(order.size() == entries.size());
        return entries.size();
    }

    int loads() const { return n_loads; }

    std::optional<bool> try_has(int key) const
    {
        std::shared_lock<std::shared_mutex> hold(lock, std::try_to_lock);
        if (!hold)
            return std::nullopt;
        return entries.count(key) != 0;
    }

private:
    struct Entry {
        std::list<int>::iterator place;
        Value value;
        std::shared_future<Value> coming;
    };

    /// What is being loaded stays.
    void drop_oldest()
    {
        for (auto it = order.end(); entries.size() > room && it != order.begin();) {
            --it;
            if (entries.at(*it).value) {
                entries.erase(*it);
                it = order.erase(it);
            }
        }
    }

    mutable std::shared_mutex lock;
    size_t room;
    Load load;
    std::list<int> order;
    std::unordered_map<int, Entry> entries;
    std::atomic<int> n_hits{0};
    int n_loads = 0;
};

static std::atomic<int> n_loading[3];

static std::string slow_square(int key)
{
    // Two loads of one value never overlap.
    assert(n_loading[key].fetch_add(1) == 0);
    std::this_thread::yield();
    assert(n_loading[key].fetch_sub(1) == 1);
    return std::to_string(key * key);
}

int main()
{
    Cache cache(2, slow_square);
    auto user = [&cache](int first) {
        for (int i = 0; i < 3; i++) {
            int key = (first + i) % 3;
            Cache::Value value = cache.get(key);
            assert(*value == std::to_string(key * key));
        }
    };
    std::thread one(user, 0), two(user, 1);
    bool is_forgotten = cache.forget(2);
    (void)cache.try_has(1);
    one.join();
    two.join();
    assert(cache.size() <= 2);
    assert(cache.loads() >= 3 && cache.loads() <= 6);
    (void)is_forgotten;
    assert(*cache.get(2) == "4");
    assert(cache.forget(2));
    assert(!cache.forget(2));
}
