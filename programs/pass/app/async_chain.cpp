//@ expect: pass
//@ execs: 100
//@ flags: -std=c++17
// Chains of std::async: deferred and on threads of their own, shared futures read by several, promises
// broken and kept, exceptions that travel along the chain.
#include <cassert>
#include <chrono>
#include <future>
#include <numeric>
#include <stdexcept>
#include <string>
#include <thread>
#include <utility>
#include <vector>

using namespace std::chrono_literals;

template <class T, class F> auto then(std::future<T> before, F function)
{
    return std::async(std::launch::async,
                      [before = std::move(before), function]() mutable { return function(before.get()); });
}

static void chain()
{
    auto start = std::async(std::launch::async, [] { return 5; });
    auto doubled = then(std::move(start), [](int x) { return x * 2; });
    auto text = then(std::move(doubled), [](int x) { return std::to_string(x); });
    assert(text.get() == "10");
}

static void failing_chain()
{
    auto start = std::async(std::launch::async, []() -> int { throw std::runtime_error("first"); });
    auto next = then(std::move(start), [](int x) { return x + 1; });
    try {
        next.get();
        assert(!"it threw");
    } catch (const std::runtime_error &error) {
        assert(std::string(error.what()) == "first");
    }
}

static void deferred()
{
    std::thread::id where;
    auto lazy = std::async(std::launch::deferred, [&where] {
        where = std::this_thread::get_id();
        return 1;
    });
    assert(lazy.wait_for(0s) == std::future_status::deferred);
    assert(lazy.get() == 1);
    assert(where == std::this_thread::get_id());
}

static void fan_out_and_in()
{
    std::promise<std::vector<int>> source;
    std::shared_future<std::vector<int>> shared = source.get_future().share();
    std::vector<std::future<int>> parts;
    for (int i = 0; i < 3; i++) {
        parts.push_back(std::async(std::launch::async, [shared, i] {
            const std::vector<int> &all = shared.get();
            return all[i] * all[i];
        }));
    }
    source.set_value({1, 2, 3});
    int sum = 0;
    for (auto &part : parts)
        sum += part.get();
    assert(sum == 14);
}

static void broken()
{
    std::future<int> orphan;
    {
        std::promise<int> promise;
        orphan = promise.get_future();
        std::thread([promise = std::move(promise)]() mutable {
            std::promise<int> dropped = std::move(promise);
        }).detach();
    }
    try {
        orphan.get();
        assert(!"nobody kept the promise");
    } catch (const std::future_error &error) {
        assert(error.code() == std::future_errc::broken_promise);
    }
}

static void at_thread_exit()
{
    std::promise<int> promise;
    auto result = promise.get_future();
    std::thread worker([&promise] {
        promise.set_value_at_thread_exit(7);
    });
    assert(result.get() == 7);
    worker.join();
}

static void timed()
{
    std::promise<void> go;
    auto slow = std::async(std::launch::async, [gone = go.get_future().share()] {
        gone.wait();
        return 3;
    });
    assert(slow.wait_for(5ms) == std::future_status::timeout);
    go.set_value();
    assert(slow.get() == 3);
}

int main()
{
    chain();
    failing_chain();
    deferred();
    fan_out_and_in();
    broken();
    at_thread_exit();
    timed();
}
