//@ expect: pass
//@ execs: 200
// A static initialiser that throws the first time: the exception reaches one caller, the next one retries.
#include <atomic>
#include <cassert>
#include <stdexcept>
#include <thread>

static std::atomic<int> attempts{0}, failures{0};

static int connect()
{
    if (++attempts == 1)
        throw std::runtime_error("not yet");
    return 5;
}

static int handle()
{
    static const int it = connect();
    return it;
}

static void client()
{
    try {
        assert(handle() == 5);
    } catch (const std::runtime_error &) {
        ++failures;
    }
}

int main()
{
    std::thread a(client), b(client), c(client);
    a.join();
    b.join();
    c.join();
    assert(attempts == 2 && failures == 1);
}
