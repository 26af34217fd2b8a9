//@ expect: pass
//@ execs: 200
// Random back-off between two try_lock rounds from a seeded engine, with yields.
#include <cassert>
#include <mutex>
#include <random>
#include <thread>

static std::mutex left, right;
static int shared_value;

static void worker(std::mutex &first, std::mutex &second, unsigned seed)
{
    std::minstd_rand dice(seed);
    for (;;) {
        std::unique_lock<std::mutex> a(first);
        std::unique_lock<std::mutex> b(second, std::try_to_lock);
        if (b) {
            shared_value++;
            return;
        }
        a.unlock();
        for (unsigned n = dice() % 3; n > 0; n--)
            std::this_thread::yield();
    }
}

int main()
{
    std::thread a(worker, std::ref(left), std::ref(right), 1);
    std::thread b(worker, std::ref(right), std::ref(left), 2);
    a.join();
    b.join();
    assert(shared_value == 2);
}
