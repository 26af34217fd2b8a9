//@ none
// std::call_once initialises the data.
#include <mutex>
#include <thread>

static std::once_flag once;
static int table[4];
int seen[2]; // what is never looked at would not be read

int main()
{
    auto use = [](int me) {
        std::call_once(once, [] { table[2] = 2; });
        seen[me] = table[2];
    };
    std::thread one(use, 0), two(use, 1);
    one.join();
    two.join();
}
