//@ none
// A future passes a value to another thread.
#include <future>
#include <thread>

static int data;
int seen; // what is never looked at would not be read

int main()
{
    std::promise<void> done;
    auto wait = done.get_future();
    std::thread one([&] { data = 42; done.set_value(); });
    std::thread two([&] { wait.wait(); seen = data; });
    one.join();
    two.join();
}
