// A work-stealing deque: the owner takes at the bottom, thieves at the top. For the last task, both believe that it is theirs.
#include <atomic>
#include <cassert>
#include <thread>

class Deque {
public:
    void push(int task) {
        int bottom = bottom_.load();
        tasks_[bottom % SIZE].store(task);
        bottom_.store(bottom + 1);
    }

    int take() {
        int bottom = bottom_.load() - 1;
        bottom_.store(bottom);
        int top = top_.load();
        if (top > bottom) {
            bottom_.store(top);
            return NONE;
        }
        int task = tasks_[bottom % SIZE].load();
        if (top == bottom)
            bottom_.store(bottom + 1), top_.store(top + 1);
        return task;
    }

    int steal() {
        int top = top_.load();
        if (top >= bottom_.load())
            return NONE;
        int task = tasks_[top % SIZE].load();
        return top_.compare_exchange_strong(top, top + 1) ? task : NONE;
    }

    static constexpr int NONE = -1;

private:
    static constexpr int SIZE = 8;
    std::atomic<int> top_{0}, bottom_{0};
    std::atomic<int> tasks_[SIZE];
};

int main() {
    Deque deque;
    std::atomic<int> runs[2] = {};
    deque.push(0);
    deque.push(1);
    auto run = [&](int task) {
        if (task != Deque::NONE)
            runs[task]++;
    };
    std::thread thief([&] { run(deque.steal()), run(deque.steal()); });
    run(deque.take());
    run(deque.take());
    thief.join();
    assert(runs[0] == 1 && runs[1] == 1);
}
