//@ expect: exception
//@ execs: 100
//@ cause: std::thread writer([] { value = 1; }); | int seen = value;
//@ says: value T0 T1
// What leaves the function as an exception is the program's, as ever.
#include <atomic>
#include <raddle.h>
#include <stdexcept>
#include <thread>

static std::atomic<int> value;

static void too_early(void *)
{
    value = 0;
    std::thread writer([] { value = 1; });
    int seen = value;
    writer.join();
    if (seen == 1)
        throw std::runtime_error("seen too early");
}

int main()
{
    raddle_check(too_early, nullptr);
}
