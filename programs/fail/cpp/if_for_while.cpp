//@ expect: assert
//@ execs: 1000
//@ cause: items--; | assert(items > 0);
//@ says: items T1 T2
// A condition variable waited for without a predicate: a consumer that comes later takes the item first.
#include <cassert>
#include <condition_variable>
#include <mutex>
#include <thread>

static std::mutex lock;
static std::condition_variable filled;
static int items;

static void consume()
{
    std::unique_lock<std::mutex> held(lock);
    if (items == 0)
        filled.wait(held);
    assert(items > 0);
    items--;
}

static void produce()
{
    for (int i = 0; i < 2; i++) {
        std::lock_guard<std::mutex> held(lock);
        items++;
        filled.notify_one();
    }
}

int main()
{
    std::thread one(consume), two(consume), three(produce);
    one.join();
    two.join();
    three.join();
    return 0;
}
