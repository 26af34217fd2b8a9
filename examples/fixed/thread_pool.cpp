// A thread pool whose shutdown sets its flag under the lock, so that no worker is between its check and its wait.
#include <atomic>
#include <condition_variable>
#include <deque>
#include <functional>
#include <mutex>
#include <thread>
#include <vector>

class Pool {
public:
    explicit Pool(int workers) {
        for (int i = 0; i < workers; i++)
            threads_.emplace_back([this] { work(); });
    }

    void submit(std::function<void()> task) {
        {
            std::lock_guard guard(mutex_);
            tasks_.push_back(std::move(task));
        }
        ready_.notify_one();
    }

    ~Pool() {
        {
            std::lock_guard guard(mutex_);
            stop_ = true;
        }
        ready_.notify_all();
        for (auto &thread : threads_)
            thread.join();
    }

private:
    void work() {
        for (;;) {
            std::unique_lock guard(mutex_);
            while (tasks_.empty() && !stop_)
                ready_.wait(guard);
            if (tasks_.empty())
                return;
            auto task = std::move(tasks_.front());
            tasks_.pop_front();
            guard.unlock();
            task();
        }
    }

    std::mutex mutex_;
    std::condition_variable ready_;
    std::deque<std::function<void()>> tasks_;
    std::atomic<bool> stop_{false};
    std::vector<std::thread> threads_;
};

int main() {
    std::atomic<int> done{0};
    {
        Pool pool(2);
        pool.submit([&] { done++; });
    }
    return done == 1 ? 0 : 1;
}
