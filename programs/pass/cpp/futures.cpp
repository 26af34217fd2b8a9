//@ expect: pass
//@ execs: 200
// promise, packaged_task, async and shared_future carry values between threads.
#include <cassert>
#include <future>
#include <thread>
#include <utility>

int main()
{
    std::promise<int> promise;
    std::shared_future<int> number = promise.get_future().share();

    std::packaged_task<int(int)> task([number](int n) { return number.get() + n; });
    std::future<int> sum = task.get_future();
    std::thread adder(std::move(task), 5);

    std::future<int> twice = std::async(std::launch::async, [number] { return 2 * number.get(); });
    std::future<int> lazy = std::async(std::launch::deferred, [number] { return -number.get(); });

    promise.set_value(10);
    assert(sum.get() == 15);
    assert(twice.get() == 20);
    assert(lazy.wait_for(std::chrono::seconds(0)) == std::future_status::deferred);
    assert(lazy.get() == -10);
    adder.join();
}
