//@ expect: pass
//@ execs: 200
//@ flags: -std=c++20
// std::counting_semaphore limits how many threads are inside; binary_semaphore and try_acquire_for pass a result.
#include <atomic>
#include <cassert>
#include <chrono>
#include <semaphore>
#include <thread>

static std::counting_semaphore<2> places(2);
static std::binary_semaphore mail(0);
static std::atomic<int> inside{0};
static int letter;

static void visitor()
{
    places.acquire();
    assert(++inside <= 2);
    --inside;
    places.release();
}

static void postman()
{
    letter = 5;
    mail.release();
}

int main()
{
    std::thread a(visitor), b(visitor), c(visitor), d(postman);
    while (!mail.try_acquire_for(std::chrono::milliseconds(2)))
        ;
    assert(letter == 5);
    a.join();
    b.join();
    c.join();
    d.join();
}
