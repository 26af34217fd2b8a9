//@ expect: pass
//@ execs: 100
//@ flags: -std=c++17
// A pool of workers: tasks with results, tasks that throw, tasks that submit tasks, a bounded wait for
// idleness, and a shutdown that drains what was accepted.
#include <cassert>
#include <chrono>
#include <condition_variable>
#include <deque>
#include <functional>
#include <future>
#include <memory>
#include <mutex>
#include <stdexcept>
#include <string>
#include <thread>
#include <type_traits>
#include <vector>

class Pool {
public:
    explicit Pool(unsigned n_workers)
    {
        for (unsigned i = 0; i < n_workers; i++)
            workers.emplace_back([this] { work(); });
    }

    Pool(const Pool &) = delete;
    Pool &operator=(const Pool &) = delete;

    ~Pool() { close(); }

    template <class F, class... Args>
    auto submit(F &&function, Args &&...args) -> std::future<std::invoke_result_t<F, Args...>>
    {
        using Result = std::invoke_result_t<F, Args...>;
        auto task = std::make_shared<std::packaged_task<Result()>>(
            std::bind(std::forward<F>(function), std::forward<Args>(args)...));
        std::future<Result> result = task->get_future();
        {
            std::lock_guard<std::mutex> hold(lock);
            if (is_closed)
                throw std::runtime_error("closed");
            tasks.emplace_back([task] { (*task)(); });
        }
        has_work.notify_one();
        return result;
    }

    bool wait_idle_for(std::chrono::milliseconds limit)
    {
        std::unique_lock<std::mutex> hold(lock);
        return is_idle.wait_for(hold, limit, [this] { return tasks.empty() && n_busy == 0; });
    }

    void wait_idle()
    {
        std::unique_lock<std::mutex> hold(lock);
        is_idle.wait(hold, [this] { return tasks.empty() && n_busy == 0; });
    }

    void close()
    {
        {
            std::lock_guard<std::mutex> hold(lock);
            if (is_closed)
                return;
            is_closed = true;
        }
        has_work.notify_all();
        for (std::thread &worker : workers)
            worker.join();
        assert(tasks.empty());
        assert(n_busy == 0);
    }

    unsigned done() const
    {
        std::lock_guard<std::mutex> hold(lock);
        return n_done;
    }

private:
    void work()
    {
        std::unique_lock<std::mutex> hold(lock);
        for (;;) {
            has_work.wait(hold, [this] { return is_closed || !tasks.empty(); });
            if (tasks.empty())
                return;
            std::function<void()> task = std::move(tasks.front());
            tasks.pop_front();
            n_busy++;
            hold.unlock();
            task();
            task = nullptr;
            hold.lock();
            n_busy--;
            n_done++;
            if (tasks.empty() && n_busy == 0)
                is_idle.notify_all();
        }
    }

    mutable std::mutex lock;
    std::condition_variable has_work, is_idle;
    std::deque<std::function<void()>> tasks;
    unsigned n_busy = 0, n_done = 0;
    bool is_closed = false;
    std::vector<std::thread> workers;
};

static int square(int x)
{
    return x * x;
}

static void results_and_exceptions()
{
    Pool pool(2);
    std::vector<std::future<int>> squares;
    for (int i = 0; i < 4; i++)
        squares.push_back(pool.submit(square, i));
    auto failing = pool.submit([]() -> std::string { throw std::out_of_range("seven"); });
    auto text = pool.submit([](const std::string &a, const std::string &b) { return a + b; },
                            std::string("con"), std::string("cat"));
    int sum = 0;
    for (auto &it : squares)
        sum += it.get();
    assert(sum == 0 + 1 + 4 + 9);
    assert(text.get() == "concat");
    bool is_thrown = false;
    try {
        failing.get();
    } catch (const std::out_of_range &error) {
        is_thrown = std::string(error.what()) == "seven";
    }
    assert(is_thrown);
    pool.wait_idle();
    assert(pool.done() == 6);
}

static void tasks_that_submit()
{
    Pool pool(2);
    std::promise<int> deep;
    std::future<int> answer = deep.get_future();
    pool.submit([&] {
        auto inner = pool.submit([&deep] { deep.set_value(42); });
        (void)inner;
    }).wait();
    assert(answer.get() == 42);
    // Both may be true: the two tasks are done, but a worker may not have said so yet.
    if (pool.wait_idle_for(std::chrono::milliseconds(50)))
        assert(pool.done() == 2);
    pool.close();
    assert(pool.done() == 2);
    bool is_refused = false;
    try {
        pool.submit(square, 3);
    } catch (const std::runtime_error &) {
        is_refused = true;
    }
    assert(is_refused);
}

static void shutdown_drains()
{
    std::future<int> last;
    {
        Pool pool(1);
        for (int i = 0; i < 3; i++)
            pool.submit(square, i);
        last = pool.submit(square, 9);
    }
    assert(last.wait_for(std::chrono::seconds(0)) == std::future_status::ready);
    assert(last.get() == 81);
}

int main()
{
    results_and_exceptions();
    tasks_that_submit();
    shutdown_drains();
}
