//@ expect: pass
//@ execs: 200
// A worker takes work from its own queue, then from the others'; if there is none, it spins, yields, and sleeps.
#include <atomic>
#include <cassert>
#include <condition_variable>
#include <deque>
#include <mutex>
#include <thread>
#include <vector>

namespace {
constexpr int N_WORKERS = 2, N_TASKS = 4;
struct Queue {
    std::mutex mutex;
    std::deque<int> tasks;
};
Queue queues[N_WORKERS];
std::atomic<int> n_queued{0}, n_done{0};
std::mutex parking;
std::condition_variable wake;

bool take(int queue)
{
    std::unique_lock<std::mutex> lock(queues[queue].mutex, std::try_to_lock);
    if (!lock || queues[queue].tasks.empty())
        return false;
    queues[queue].tasks.pop_front();
    n_queued--;
    return true;
}

bool is_over() { return n_done == N_TASKS; }

void idle(int n_idle)
{
    if (n_idle < 8)
        return;
    if (n_idle < 16) {
        std::this_thread::yield();
        return;
    }
    std::unique_lock<std::mutex> lock(parking);
    wake.wait(lock, [] { return n_queued > 0 || is_over(); });
}

void work(int me)
{
    for (int n_idle = 0; !is_over(); n_idle++) {
        if (!take(me) && !take((me + 1) % N_WORKERS)) {
            idle(n_idle);
            continue;
        }
        n_idle = 0;
        n_done++;
        std::lock_guard<std::mutex> lock(parking);
        wake.notify_all();
    }
}
}

int main()
{
    std::vector<std::thread> workers;
    for (int i = 0; i < N_WORKERS; i++)
        workers.emplace_back(work, i);
    for (int i = 0; i < N_TASKS; i++) {
        {
            std::lock_guard<std::mutex> lock(queues[0].mutex);
            queues[0].tasks.push_back(i);
            n_queued++;
        }
        std::lock_guard<std::mutex> lock(parking);
        wake.notify_one();
    }
    for (auto &worker : workers)
        worker.join();
    assert(n_done == N_TASKS);
}
