//@ expect: pass
//@ execs: 200
// Once blocks left by exceptions and by pthread_exit are tried again by another thread.
#include <cassert>
#include <mutex>
#include <pthread.h>
#include <stdexcept>
#include <thread>

static pthread_once_t once = PTHREAD_ONCE_INIT;
static std::once_flag flag;
static int tries, throws;

static void leave_early()
{
    if (++tries == 1)
        pthread_exit(nullptr);
}

static void *enter(void *arg)
{
    pthread_once(&once, leave_early);
    return arg;
}

static void thrower()
{
    try {
        std::call_once(flag, [] {
            if (++throws < 3)
                throw std::runtime_error("not yet");
        });
    } catch (const std::runtime_error &) {
        std::call_once(flag, [] {
            if (++throws < 3)
                throw 1;
        });
    }
}

int main()
{
    pthread_t threads[3];
    for (auto &it : threads)
        pthread_create(&it, nullptr, enter, nullptr);
    for (auto it : threads)
        pthread_join(it, nullptr);
    assert(tries == 2);
    for (int i = 0; i < 3; i++) {
        try {
            thrower();
        } catch (int) {
        }
    }
    assert(throws == 3);
    throws = 3;
    std::once_flag other;
    int runs = 0;
    auto body = [&] { std::call_once(other, [&] { runs++; }); };
    std::thread a(body), b(body);
    a.join();
    b.join();
    assert(runs == 1);
}
