//@ expect: pass
//@ execs: 1000
//@ flags: -std=c++17
// A queue after Michael and Scott (1996). Its nodes are not freed while it is used.
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
        for (;;) {
            Node *last = tail.load();
            Node *next = last->next.load();
            if (next) {
                tail.compare_exchange_strong(last, next);
            } else if (last->next.compare_exchange_strong(next, node)) {
                tail.compare_exchange_strong(last, node);
                return;
            }
        }
    }
    std::optional<int> pop() {
        for (;;) {
            Node *first = head.load();
            Node *last = tail.load();
            Node *next = first->next.load();
            if (!next)
                return std::nullopt;
            if (first == last)
                tail.compare_exchange_strong(last, next);
            else if (head.compare_exchange_strong(first, next))
                return next->value;
        }
    }
};

int main() {
    raddle::linear<Queue>()
        .op("push", 2, [](Queue &queue, long x) { queue.push(static_cast<int>(x)); })
        .op("pop", [](Queue &queue) { return queue.pop(); })
        .check();
}
