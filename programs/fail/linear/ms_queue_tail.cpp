//@ expect: linearizability
//@ execs: 4000
//@ flags: -std=c++17
//@ unsaid: push
//@ undetected: results of operations are no accesses
// A queue after Michael and Scott (1996) whose pop does not help: it takes the first node although `tail` still points at
// the dummy before it. `tail` is behind `head` then, and a push that follows it is lost.
#include <atomic>
#include <optional>
#include <raddle.hpp>

class Queue {
    struct Node {
        int value;
        std::atomic<Node *> next{nullptr};
        explicit Node(int value) : value(value) {}
    };
    std::atomic<Node *> head{new Node(0)};
    std::atomic<Node *> tail{head.load()};

  public:
    void push(int value) {
        Node *node = new Node(value);
        Node *last = tail.load();
        Node *none = nullptr;
        // Whoever comes second waits behind the first one's node instead of helping.
        if (!last->next.compare_exchange_strong(none, node)) {
            last = none;
            none = nullptr;
            while (!last->next.compare_exchange_strong(none, node)) {
                last = none;
                none = nullptr;
            }
        }
        tail.store(node);
    }
    std::optional<int> pop() {
        for (;;) {
            Node *first = head.load();
            if (first == tail.load())
                return std::nullopt;
            Node *next = first->next.load();
            if (next && head.compare_exchange_strong(first, next))
                return next->value;
            if (!next)
                return std::nullopt;
        }
    }
};

int main() {
    raddle::linear<Queue>()
        .op("push", 2, [](Queue &queue, long x) { queue.push(static_cast<int>(x)); })
        .op("pop", [](Queue &queue) { return queue.pop(); })
        .check();
}
