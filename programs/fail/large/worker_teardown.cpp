//@ expect: deadlock
//@ execs: 4000
//@ unnamed: stopping_ = true; | wake_.wait(hold);
//@ says: wake_ T0 T2
// A pool of workers with a queue for each, and stealing. The end of work is announced under the pool's lock, but a worker
// looks at the announcement before it takes the lock of the queue on whose condition it sleeps.
#include <array>
#include <atomic>
#include <condition_variable>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

class Tally {
public:
    void add(int what)
    {
        std::lock_guard<std::mutex> hold(lock_);
        sum_ += what, n_++;
    }

private:
    std::mutex lock_;
    long sum_ = 0;
    int n_ = 0;
};

class Queue {
public:
    void push(std::function<void()> task)
    {
        std::lock_guard<std::mutex> hold(lock_);
        tasks_.push_back(std::move(task));
        wake_.notify_one();
    }

    bool try_pop(std::function<void()> &task)
    {
        std::lock_guard<std::mutex> hold(lock_);
        if (tasks_.empty())
            return false;
        task = std::move(tasks_.front());
        tasks_.pop_front();
        return true;
    }

    // Until something is there, or everything ends.
    void sleep(const std::atomic<bool> &stopping)
    {
        if (stopping)
            return;
        std::unique_lock<std::mutex> hold(lock_);
        if (tasks_.empty())
            wake_.wait(hold);
    }

    std::size_t n_left()
    {
        std::lock_guard<std::mutex> hold(lock_);
        return tasks_.size();
    }

    void wake() { wake_.notify_all(); }

private:
    std::mutex lock_;
    std::condition_variable wake_;
    std::deque<std::function<void()>> tasks_;
};

template <std::size_t N> class Pool {
public:
    Pool()
    {
        for (std::size_t me = 0; me < N; me++)
            threads_[me] = std::thread([this, me] { work(me); });
    }

    void submit(std::size_t to, std::function<void()> task) { queues_[to % N].push(std::move(task)); }

    void stop()
    {
        {
            std::lock_guard<std::mutex> hold(lock_);
            stopping_ = true;
        }
        for (Queue &queue : queues_)
            n_left_ += queue.n_left();
        for (Queue &queue : queues_)
            queue.wake();
        for (std::thread &thread : threads_)
            thread.join();
    }

private:
    void work(std::size_t me)
    {
        std::function<void()> task;
        while (true) {
            if (queues_[me].try_pop(task) || queues_[(me + 1) % N].try_pop(task)) {
                task();
                continue;
            }
            if (stopping_)
                return;
            queues_[me].sleep(stopping_);
        }
    }

    std::array<Queue, N> queues_;
    std::mutex lock_;
    std::size_t n_left_ = 0;
    std::atomic<bool> stopping_{false};
    std::array<std::thread, N> threads_;
};

int main()
{
    Tally tally;
    Pool<3> pool;
    for (int i = 0; i < 6; i++)
        pool.submit(i, [&tally, i] {
            tally.add(i);
            tally.add(-i);
        });
    pool.stop();
}
