//@ expect: crash
//@ execs: 50
//@ cause: limit.store(-1); | deeper(0, limit.load());
//@ says: limit T0 T1
// The same in `main`, which has another kind of stack, and a handler that has none of its own.
#include <pthread.h>
#include <signal.h>
#include <atomic>

static std::atomic<int> limit{10};

static int deeper(int depth, int end)
{
    char room[256];
    room[depth % 256] = 1;
    __asm__ volatile("" : : "r"(room) : "memory");
    if (depth == end)
        return 0;
    return deeper(depth + 1, end) + room[depth % 256];
}

static void *lift(void *arg)
{
    limit.store(-1);
    return arg;
}

static void handle(int signal)
{
    (void)signal;
}

int main(void)
{
    pthread_t other;
    signal(SIGSEGV, handle);
    pthread_create(&other, nullptr, lift, nullptr);
    deeper(0, limit.load());
    pthread_join(other, nullptr);
    return 0;
}
