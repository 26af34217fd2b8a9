//@ expect: crash
//@ execs: 50
//@ cause: limit.store(-1); | deeper(0, limit.load());
//@ says: limit T1 T2
// One order of two threads makes a recursion endless: the stack overflows.
#include <pthread.h>
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

static void *work(void *arg)
{
    deeper(0, limit.load());
    return arg;
}

int main(void)
{
    pthread_t one, other;
    pthread_create(&one, nullptr, work, nullptr);
    pthread_create(&other, nullptr, lift, nullptr);
    pthread_join(one, nullptr);
    pthread_join(other, nullptr);
    return 0;
}
