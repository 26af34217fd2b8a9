//@ expect: deadlock
//@ execs: 500
//@ flags: -std=c++20
//@ cause: pool.acquire();
//@ says: pool T1 T2
// Two tasks need two permits each and take them one by one from a pool of two.
#include <semaphore>
#include <thread>

static std::counting_semaphore<2> pool(2);

static void task()
{
    pool.acquire();
    pool.acquire();
    pool.release(2);
}

int main()
{
    std::thread a(task), b(task);
    a.join();
    b.join();
}
