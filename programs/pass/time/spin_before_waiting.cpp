//@ expect: pass
//@ execs: 100
//@ timing: assert
// A receiver looks a hundred times before it waits in earnest, for a second. Its sender sleeps for a second and a half: a
// hundred looks don't take as long.
#include <atomic>
#include <cassert>
#include <chrono>
#include <condition_variable>
#include <mutex>
#include <thread>

static std::atomic<bool> is_sent;
static std::mutex lock;
static std::condition_variable sent;

static bool receive()
{
    auto end = std::chrono::steady_clock::now() + std::chrono::seconds(1);
    for (int i = 0; i < 100; i++)
        if (is_sent)
            return true;
    std::unique_lock<std::mutex> hold(lock);
    return sent.wait_until(hold, end, [] { return is_sent.load(); });
}

int main()
{
    bool is_received = false;
    std::thread sender([] {
        std::this_thread::sleep_for(std::chrono::milliseconds(1500));
        std::lock_guard<std::mutex> hold(lock);
        is_sent = true;
        sent.notify_one();
    });
    std::thread receiver([&] { is_received = receive(); });
    receiver.join();
    assert(!is_received);
    sender.join();
}
