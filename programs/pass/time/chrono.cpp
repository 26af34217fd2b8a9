//@ expect: pass
//@ execs: 200
// std::chrono clocks and sleeps agree: sleep_for and sleep_until never wake early.
#include <cassert>
#include <chrono>
#include <mutex>
#include <thread>

using namespace std::chrono_literals;
using steady = std::chrono::steady_clock;

static std::mutex lock;
static int naps;

static void napper()
{
    for (int i = 0; i < 2; i++) {
        auto start = steady::now();
        std::this_thread::sleep_for(1ms);
        assert(steady::now() - start >= 1ms);
        auto wake = steady::now() + 2ms;
        std::this_thread::sleep_until(wake);
        assert(steady::now() >= wake);
        std::lock_guard<std::mutex> hold(lock);
        naps++;
    }
}

int main()
{
    std::thread a(napper), b(napper);
    a.join();
    b.join();
    assert(naps == 4);
}
