//@ expect: pass
//@ execs: 400
//@ timing: assert
//@ flags: -std=c++17
// A token bucket: tokens come with time, callers wait for theirs until a deadline of their own, and a
// close lets all of them go. Time is what std::chrono::steady_clock says.
// One of them is late instead of closed if the machine stands still for an hour: a timing assumption.
#include <cassert>
#include <chrono>
#include <condition_variable>
#include <mutex>
#include <thread>
#include <vector>

using namespace std::chrono_literals;
using Clock = std::chrono::steady_clock;

class Limiter {
public:
    Limiter(int burst, Clock::duration per_token)
        : burst(burst), per_token(per_token), n_tokens(burst), last(Clock::now())
    {
    }

    enum class Result { granted, late, closed };

    Result acquire_until(Clock::time_point deadline)
    {
        std::unique_lock<std::mutex> hold(lock);
        for (;;) {
            if (is_closed)
                return Result::closed;
            refill();
            if (n_tokens > 0) {
                n_tokens--;
                n_granted++;
                return Result::granted;
            }
            Clock::time_point next = last + per_token;
            if (next > deadline) {
                // Nothing can come in time, but a close can.
                bool is_woken = changed.wait_until(hold, deadline, [this] { return is_closed; });
                return is_woken ? Result::closed : Result::late;
            }
            changed.wait_until(hold, next);
        }
    }

    void close()
    {
        {
            std::lock_guard<std::mutex> hold(lock);
            is_closed = true;
        }
        changed.notify_all();
    }

    int granted()
    {
        std::lock_guard<std::mutex> hold(lock);
        return n_granted;
    }

private:
    void refill()
    {
        Clock::time_point now = Clock::now();
        while (now - last >= per_token) {
            last += per_token;
            if (n_tokens < burst)
                n_tokens++;
        }
        if (n_tokens == burst)
            last = now;
    }

    std::mutex lock;
    std::condition_variable changed;
    const int burst;
    const Clock::duration per_token;
    int n_tokens, n_granted = 0;
    Clock::time_point last;
    bool is_closed = false;
};

int main()
{
    Clock::time_point start = Clock::now();
    Limiter limiter(2, 10ms);
    std::vector<std::thread> callers;
    int granted[2] = {}, late[2] = {};
    for (int me = 0; me < 2; me++) {
        callers.emplace_back([&, me] {
            for (int i = 0; i < 3; i++) {
                switch (limiter.acquire_until(Clock::now() + 100ms)) {
                case Limiter::Result::granted: granted[me]++; break;
                case Limiter::Result::late: late[me]++; break;
                case Limiter::Result::closed: assert(!"nobody has closed it");
                }
            }
        });
    }
    for (std::thread &it : callers)
        it.join();
    int n_granted = granted[0] + granted[1];
    assert(n_granted + late[0] + late[1] == 6);
    assert(limiter.granted() == n_granted);
    // So many can't come faster than the rate allows.
    assert(Clock::now() - start >= (n_granted - 2) * 10ms);

    Limiter slow(1, 10h);
    assert(slow.acquire_until(Clock::now()) == Limiter::Result::granted);
    Limiter::Result waiting = Limiter::Result::granted;
    std::thread waiter([&] { waiting = slow.acquire_until(Clock::now() + 24h); });
    std::this_thread::sleep_for(1ms);
    slow.close();
    waiter.join();
    assert(waiting == Limiter::Result::closed);
}
