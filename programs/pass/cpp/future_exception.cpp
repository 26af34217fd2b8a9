//@ expect: pass
//@ execs: 200
// Exceptions cross threads through futures and exception_ptr; a promise that is dropped breaks its future.
#include <cassert>
#include <exception>
#include <future>
#include <mutex>
#include <stdexcept>
#include <string>
#include <thread>

static std::mutex lock;
static std::exception_ptr first;

static void failing(int id)
{
    try {
        throw std::runtime_error("worker " + std::to_string(id));
    } catch (...) {
        std::lock_guard<std::mutex> hold(lock);
        if (!first)
            first = std::current_exception();
    }
}

int main()
{
    std::thread a(failing, 1), b(failing, 2);
    auto broken = std::async(std::launch::async, []() -> int { throw std::logic_error("no"); });
    std::future<void> orphan = std::promise<void>().get_future();
    a.join();
    b.join();
    int caught = 0;
    try {
        std::rethrow_exception(first);
    } catch (const std::runtime_error &e) {
        caught += std::string(e.what()).substr(0, 7) == "worker ";
    }
    try {
        broken.get();
    } catch (const std::logic_error &) {
        caught++;
    }
    try {
        orphan.get();
    } catch (const std::future_error &e) {
        caught += e.code() == std::future_errc::broken_promise;
    }
    assert(caught == 3);
}
