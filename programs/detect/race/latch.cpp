//@ none
//@ tsan: differs: gcc 12 needs the library to be built with it
// C++20: a latch publishes data.
//@ flags: -std=c++20
#include <latch>
#include <thread>

static std::latch done{1};
static int data;
int seen; // what is never looked at would not be read

int main()
{
    std::thread one([] { data = 42; done.count_down(); });
    std::thread two([] { done.wait(); seen = data; });
    one.join();
    two.join();
}
