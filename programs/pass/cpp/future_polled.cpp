//@ expect: pass
//@ execs: 50
// A future is asked again and again, without waiting, whether it is ready.
#include <cassert>
#include <chrono>
#include <future>
#include <thread>

int main()
{
    std::promise<int> promise;
    std::future<int> future = promise.get_future();
    std::thread thread([&promise] { promise.set_value(7); });
    while (future.wait_for(std::chrono::seconds(0)) != std::future_status::ready)
        ;
    assert(future.get() == 7);
    thread.join();
}
