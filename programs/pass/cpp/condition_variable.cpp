//@ expect: pass
//@ execs: 200
// A closing queue on std::condition_variable: two consumers drain it and both come home.
#include <cassert>
#include <condition_variable>
#include <deque>
#include <mutex>
#include <thread>

static std::mutex lock;
static std::condition_variable changed;
static std::deque<int> queue;
static bool closed;

static int consume()
{
    int sum = 0;
    std::unique_lock<std::mutex> hold(lock);
    for (;;) {
        changed.wait(hold, [] { return closed || !queue.empty(); });
        if (queue.empty())
            return sum;
        sum += queue.front();
        queue.pop_front();
    }
}

int main()
{
    int sums[2];
    std::thread a([&] { sums[0] = consume(); }), b([&] { sums[1] = consume(); });
    for (int i = 1; i <= 3; i++) {
        std::lock_guard<std::mutex> hold(lock);
        queue.push_back(i);
        changed.notify_one();
    }
    {
        std::lock_guard<std::mutex> hold(lock);
        closed = true;
    }
    changed.notify_all();
    a.join();
    b.join();
    assert(sums[0] + sums[1] == 6);
}
