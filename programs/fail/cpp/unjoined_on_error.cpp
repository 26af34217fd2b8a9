//@ expect: abort
//@ execs: 500
//@ cause: state = 1; | if (state == 1) | state = 2;
//@ says: state T0 T1
// The early return forgets to join: destroying a joinable std::thread calls std::terminate.
#include <atomic>
#include <thread>

static std::atomic<int> state{0};

static int run()
{
    std::thread worker([] {
        state = 1; // working
        state = 2; // done
    });
    if (state == 1)
        return 0; // "it is busy, come back later"
    worker.join();
    return 0;
}

int main()
{
    return run();
}
