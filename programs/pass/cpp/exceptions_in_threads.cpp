//@ expect: pass
//@ execs: 200
// Exceptions thrown and caught in several threads at once, unwinding through locked scopes.
#include <cassert>
#include <mutex>
#include <stdexcept>
#include <thread>

static std::mutex lock;
static int unwound, caught;

struct Guard {
    ~Guard() { unwound++; } // under the lock: it was taken first
};

static void dive(int depth)
{
    std::lock_guard<std::mutex> hold(lock);
    Guard guard;
    if (depth > 0)
        throw std::out_of_range("deep");
}

static void worker()
{
    for (int i = 0; i < 3; i++) {
        try {
            dive(i);
        } catch (const std::exception &) {
            std::lock_guard<std::mutex> hold(lock);
            caught++;
        }
    }
}

int main()
{
    std::thread a(worker), b(worker);
    a.join();
    b.join();
    assert(unwound == 6 && caught == 4);
}
