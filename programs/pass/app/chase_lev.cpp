//@ expect: pass
//@ execs: 100
// A work-stealing deque (Chase and Lev, with the orders of Lê, Pop, Cohen and Zappa Nardelli) that
// grows: the owner pushes and pops at the bottom, thieves steal at the top. Every item is taken once.
#include <atomic>
#include <cassert>
#include <cstdint>
#include <memory>
#include <thread>
#include <vector>

class Deque {
    struct Array {
        explicit Array(int64_t size) : size(size), items(new std::atomic<int>[size]) {}

        int get(int64_t at) const { return items[at % size].load(std::memory_order_relaxed); }
        void put(int64_t at, int item) { items[at % size].store(item, std::memory_order_relaxed); }

        int64_t size;
        std::unique_ptr<std::atomic<int>[]> items;
    };

public:
    static constexpr int EMPTY = -1, LOST = -2;

    Deque() : array(new Array(2)) { all.emplace_back(array.load()); }

    void push(int item)
    {
        int64_t b = bottom.load(std::memory_order_relaxed);
        int64_t t = top.load(std::memory_order_acquire);
        Array *a = array.load(std::memory_order_relaxed);
        if (b - t > a->size - 1)
            a = grow(a, t, b);
        a->put(b, item);
        std::atomic_thread_fence(std::memory_order_release);
        bottom.store(b + 1, std::memory_order_relaxed);
    }

    int pop()
    {
        int64_t b = bottom.load(std::memory_order_relaxed) - 1;
        Array *a = array.load(std::memory_order_relaxed);
        bottom.store(b, std::memory_order_relaxed);
        std::atomic_thread_fence(std::memory_order_seq_cst);
        int64_t t = top.load(std::memory_order_relaxed);
        if (t > b) {
            bottom.store(b + 1, std::memory_order_relaxed);
            return EMPTY;
        }
        int item = a->get(b);
        if (t == b) {
            if (!top.compare_exchange_strong(t, t + 1, std::memory_order_seq_cst,
                                             std::memory_order_relaxed))
                item = EMPTY;
            bottom.store(b + 1, std::memory_order_relaxed);
        }
        return item;
    }

    int steal()
    {
        int64_t t = top.load(std::memory_order_acquire);
        std::atomic_thread_fence(std::memory_order_seq_cst);
        int64_t b = bottom.load(std::memory_order_acquire);
        if (t >= b)
            return EMPTY;
        Array *a = array.load(std::memory_order_acquire);
        int item = a->get(t);
        if (!top.compare_exchange_strong(t, t + 1, std::memory_order_seq_cst,
                                         std::memory_order_relaxed))
            return LOST;
        return item;
    }

private:
    /// Thieves may still read the old array: it lives as long as the deque.
    Array *grow(Array *old, int64_t t, int64_t b)
    {
        all.emplace_back(new Array(old->size * 2));
        Array *fresh = all.back().get();
        for (int64_t at = t; at < b; at++)
            fresh->put(at, old->get(at));
        array.store(fresh, std::memory_order_release);
        return fresh;
    }

    std::atomic<int64_t> top{0}, bottom{0};
    std::atomic<Array *> array;
    std::vector<std::unique_ptr<Array>> all;
};

enum { N_ITEMS = 6 };

static Deque deque_of_items;
static std::atomic<int> taken[N_ITEMS];
static std::atomic<bool> is_over;

static void take(int item)
{
    assert(item >= 0 && item < N_ITEMS);
    assert(taken[item].fetch_add(1) == 0);
}

static void thief()
{
    while (!is_over.load()) {
        int item = deque_of_items.steal();
        if (item >= 0)
            take(item);
        else
            std::this_thread::yield();
    }
}

int main()
{
    std::thread one(thief), two(thief);
    for (int i = 0; i < N_ITEMS; i++) {
        deque_of_items.push(i);
        if (i == 3) {
            int item = deque_of_items.pop();
            if (item >= 0)
                take(item);
        }
    }
    for (int item = deque_of_items.pop(); item != Deque::EMPTY; item = deque_of_items.pop())
        take(item);
    is_over.store(true);
    one.join();
    two.join();
    for (auto &it : taken)
        assert(it.load() == 1);
}
