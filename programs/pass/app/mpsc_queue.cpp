//@ expect: pass
//@ execs: 100
// A queue of linked nodes with many producers and one consumer (Vyukov's): push is an exchange and a
// store; between the two the consumer sees a gap and waits. Nodes are freed by the consumer.
#include <atomic>
#include <cassert>
#include <thread>
#include <vector>

template <class T> class Queue {
    struct Node {
        std::atomic<Node *> next{nullptr};
        T value{};
    };

public:
    Queue() : head(new Node), tail(head.load()) {}

    ~Queue()
    {
        for (Node *node = tail; node;) {
            Node *next = node->next.load();
            delete node;
            node = next;
        }
    }

    void push(T value)
    {
        Node *node = new Node;
        node->value = value;
        Node *before = head.exchange(node, std::memory_order_acq_rel);
        before->next.store(node, std::memory_order_release);
    }

    bool pop(T &value)
    {
        Node *next = tail->next.load(std::memory_order_acquire);
        if (!next)
            return false;
        value = next->value;
        delete tail;
        tail = next;
        return true;
    }

private:
    std::atomic<Node *> head;
    Node *tail;
};

enum { N_PRODUCERS = 3, N_EACH = 3 };

int main()
{
    Queue<int> queue;
    std::vector<std::thread> producers;
    for (int p = 0; p < N_PRODUCERS; p++) {
        producers.emplace_back([&queue, p] {
            for (int i = 0; i < N_EACH; i++)
                queue.push(p * 100 + i);
        });
    }
    int seen[N_PRODUCERS] = {};
    for (int n = 0; n < N_PRODUCERS * N_EACH;) {
        int value;
        if (!queue.pop(value)) {
            std::this_thread::yield();
            continue;
        }
        // What one producer pushed comes in its order.
        int p = value / 100;
        assert(p >= 0 && p < N_PRODUCERS);
        assert(value % 100 == seen[p]);
        seen[p]++;
        n++;
    }
    for (std::thread &it : producers)
        it.join();
    int rest;
    assert(!queue.pop(rest));
}
