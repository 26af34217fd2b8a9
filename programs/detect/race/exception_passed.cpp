//@ none
// An exception is passed to another thread, which releases it last or first.
#include <exception>
#include <future>
#include <string>
#include <thread>

struct Failure {
    std::string what;
    int code;
};

int main()
{
    std::promise<int> promise;
    auto future = promise.get_future();
    std::thread one([&] {
        try {
            throw Failure{"a text that is long enough for the heap", 3};
        } catch (...) {
            promise.set_exception(std::current_exception());
        }
    });
    int code = 0;
    try {
        future.get();
    } catch (const Failure &failure) {
        code = failure.code + static_cast<int>(failure.what.size());
    }
    one.join();
    return code == 3 + 39 ? 0 : 1;
}
