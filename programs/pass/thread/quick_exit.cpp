//@ expect: pass
//@ execs: 50
// quick_exit runs the handlers of at_quick_exit, in reverse order, and those of atexit not.
#include <atomic>
#include <cstdlib>
#include <thread>

static std::atomic<int> n_run;

int main()
{
    std::atexit([] { std::abort(); });
    std::at_quick_exit([] {
        if (n_run.fetch_add(1) != 1)
            std::abort();
        _Exit(0);
    });
    std::at_quick_exit([] {
        if (n_run.fetch_add(1) != 0)
            std::abort();
    });
    std::thread([] { n_run.load(); }).detach();
    std::quick_exit(3);
}
