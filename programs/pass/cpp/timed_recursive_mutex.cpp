//@ expect: pass
//@ execs: 200
// std::recursive_mutex, std::timed_mutex and std::recursive_timed_mutex, each in its own way.
#include <cassert>
#include <chrono>
#include <mutex>
#include <thread>

using namespace std::chrono_literals;
static std::recursive_mutex nested;
static std::timed_mutex timed;
static std::recursive_timed_mutex both;
static int a_count, b_count, c_count;

static void worker()
{
    {
        std::lock_guard<std::recursive_mutex> outer(nested), inner(nested);
        a_count++;
    }
    while (!timed.try_lock_for(2ms))
        ;
    b_count++;
    timed.unlock();
    std::unique_lock<std::recursive_timed_mutex> hold(both);
    assert(both.try_lock_until(std::chrono::steady_clock::now() + 1ms)); // recursive: always had
    c_count++;
    both.unlock();
}

int main()
{
    std::thread x(worker), y(worker), z(worker);
    x.join();
    y.join();
    z.join();
    assert(a_count == 3 && b_count == 3 && c_count == 3);
}
