//@ expect: deadlock
//@ execs: 500
//@ flags: -std=c++20
//@ cause: bool awaited = waiters > 0; | waiters++;
//@ says: value T1
// The value is stored without notify if nobody waited when its making began; a later waiter sleeps on.
#include <atomic>
#include <chrono>
#include <thread>

static std::atomic<int> value{0}, waiters{0};

static void waiter()
{
    if (value == 0) {
        waiters++;
        value.wait(0);
    }
}

static void setter()
{
    bool awaited = waiters > 0;
    std::this_thread::sleep_for(std::chrono::milliseconds(1)); // the value takes time to make
    value = 1;
    if (awaited)
        value.notify_all();
}

int main()
{
    std::thread a(waiter), b(setter);
    a.join();
    b.join();
}
