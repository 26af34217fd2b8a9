//@ expect: assert
//@ execs: 2000
//@ cause: if (tail.load() <= top) | tail.store(bottom);
//@ says: T0 T1
// A work-stealing deque (Chase and Lev) whose owner takes the last task without the compare-exchange on the head: a
// thief may have it, too.
#include <array>
#include <atomic>
#include <cassert>
#include <thread>

template <typename T> class Deque {
public:
    void push(T task)
    {
        long bottom = tail.load();
        tasks[bottom % tasks.size()].store(task);
        tail.store(bottom + 1);
    }

    T pop()
    {
        long bottom = tail.load() - 1;
        tail.store(bottom);
        long top = head.load();
        if (bottom < top) {
            tail.store(top);
            return T{};
        }
        return tasks[bottom % tasks.size()].load();
    }

    T steal()
    {
        long top = head.load();
        if (tail.load() <= top)
            return T{};
        T task = tasks[top % tasks.size()].load();
        return head.compare_exchange_strong(top, top + 1) ? task : T{};
    }

private:
    std::atomic<long> head{0}, tail{0};
    std::array<std::atomic<T>, 4> tasks{};
};

static Deque<int> deque;
static std::atomic<int> n_done;

static void run(int task)
{
    if (task != 0)
        assert(n_done.fetch_add(1) == 0);
}

int main()
{
    deque.push(1);
    std::thread thief([] { run(deque.steal()); });
    run(deque.pop());
    thief.join();
}
