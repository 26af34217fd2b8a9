//@ race: a b
//@ tsan: differs: gcc 12 needs the library to be built with it
// C++20: the latch is counted down before the data is written.
//@ flags: -std=c++20
#include <latch>
#include <thread>

static std::latch done{1};
static int data;
int seen; // what is never looked at would not be read

int main()
{
    std::thread one([] {
        done.count_down();
        data = 42; //= a
    });
    std::thread two([] {
        done.wait();
        seen = data; //= b
    });
    one.join();
    two.join();
}
