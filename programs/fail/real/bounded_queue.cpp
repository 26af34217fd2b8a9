//@ expect: deadlock
//@ execs: 2000
//@ cause: changed.notify_one(); | changed.wait(hold
//@ says: changed
// A bounded queue with one condition variable for both its conditions: the notification wakes one of the wrong kind.
#include <condition_variable>
#include <deque>
#include <mutex>
#include <thread>
#include <vector>

template <typename T> class BoundedQueue {
public:
    explicit BoundedQueue(std::size_t limit) : limit(limit) {}

    void push(T item)
    {
        std::unique_lock<std::mutex> hold(lock);
        while (items.size() == limit)
            changed.wait(hold);
        items.push_back(std::move(item));
        changed.notify_one();
    }

    T pop()
    {
        std::unique_lock<std::mutex> hold(lock);
        while (items.empty())
            changed.wait(hold);
        T item = std::move(items.front());
        items.pop_front();
        changed.notify_one();
        return item;
    }

private:
    std::mutex lock;
    std::condition_variable changed;
    std::deque<T> items;
    std::size_t limit;
};

int main()
{
    BoundedQueue<int> queue(1);
    std::vector<std::thread> threads;
    for (int i = 0; i < 2; i++)
        threads.emplace_back([&] { queue.pop(); });
    for (int i = 0; i < 2; i++)
        threads.emplace_back([&, i] { queue.push(i); });
    for (std::thread &thread : threads)
        thread.join();
}
