//@ expect: pass
//@ execs: 10
// Threads that work until a clock says that five seconds are over.
#include <atomic>
#include <cassert>
#include <chrono>
#include <mutex>
#include <thread>

static std::atomic<long> n_atomic;
static std::mutex lock;
static long n_locked;

int main()
{
    auto end = std::chrono::steady_clock::now() + std::chrono::seconds(5);
    std::thread one([end] {
        while (std::chrono::steady_clock::now() < end)
            n_atomic++;
    });
    std::thread two([end] {
        while (std::chrono::steady_clock::now() < end) {
            std::lock_guard<std::mutex> hold(lock);
            n_locked++;
        }
    });
    std::thread three([end] {
        while (std::chrono::steady_clock::now() < end) {
            std::lock_guard<std::mutex> hold(lock);
            n_locked++;
        }
    });
    one.join();
    two.join();
    three.join();
    // How far each came is nobody's to promise; that time has passed for all of them is.
    assert(std::chrono::steady_clock::now() >= end);
}
