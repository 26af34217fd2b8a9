//@ expect: deadlock
//@ execs: 2000
//@ flags: -std=c++20
//@ cause: changed.notify_all(); | changed.wait(hold);
//@ says: changed T0 T1
// The stop request is tested before a plain condition wait; nothing wakes the wait if it comes in between.
#include <condition_variable>
#include <mutex>
#include <stop_token>
#include <thread>

static std::mutex lock;
static std::condition_variable changed;

static void worker(std::stop_token stop)
{
    std::unique_lock<std::mutex> hold(lock);
    while (!stop.stop_requested())
        changed.wait(hold);
}

int main()
{
    std::jthread thread(worker);
    thread.request_stop();
    changed.notify_all(); // not under the lock: may fall between the test and the wait
}
