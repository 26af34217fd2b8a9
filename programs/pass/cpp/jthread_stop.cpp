//@ expect: pass
//@ execs: 200
//@ flags: -std=c++20
// std::jthread: a stop request wakes a condition_variable_any wait; stop callbacks run once; it joins itself.
#include <atomic>
#include <cassert>
#include <condition_variable>
#include <mutex>
#include <stop_token>
#include <thread>

static std::mutex lock;
static std::condition_variable_any changed;
static std::atomic<int> callbacks{0}, early_callbacks{0};
static int stopped;

static void waiter(std::stop_token stop)
{
    // A callback that is taken back may never have run: the request is seen before callbacks are.
    std::stop_callback note(stop, [] { early_callbacks++; });
    std::unique_lock<std::mutex> hold(lock);
    bool ready = changed.wait(hold, stop, [] { return false; });
    assert(!ready && stop.stop_requested());
    stopped++;
}

int main()
{
    {
        std::jthread a(waiter), b(waiter);
        std::stop_callback note_a(a.get_stop_token(), [] { callbacks++; });
        a.request_stop();
        assert(!a.request_stop()); // only the first request counts
    } // b is stopped and both are joined here
    assert(stopped == 2 && callbacks == 1 && early_callbacks <= 2);
}
