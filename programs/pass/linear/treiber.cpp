//@ expect: pass
//@ execs: 1000
//@ flags: -std=c++17
// A Treiber stack: nodes are freed with the stack only, so that no node comes back while an operation looks at it.
#include <atomic>
#include <optional>
#include <raddle.hpp>

class Stack {
    struct Node {
        int value;
        Node *next;
        Node *made_before;
    };
    std::atomic<Node *> top{nullptr};
    std::atomic<Node *> all{nullptr};

  public:
    ~Stack() {
        for (Node *node = all.load(); node;) {
            Node *before = node->made_before;
            delete node;
            node = before;
        }
    }
    void push(int value) {
        Node *node = new Node{value, nullptr, all.load()};
        while (!all.compare_exchange_weak(node->made_before, node)) {
        }
        node->next = top.load();
        while (!top.compare_exchange_weak(node->next, node)) {
        }
    }
    std::optional<int> pop() {
        Node *node = top.load();
        while (node && !top.compare_exchange_weak(node, node->next)) {
        }
        return node ? std::optional<int>(node->value) : std::nullopt;
    }
};

int main() {
    raddle::linear<Stack>()
        .op("push", 2, [](Stack &stack, long x) { stack.push(static_cast<int>(x)); })
        .op("pop", [](Stack &stack) { return stack.pop(); })
        .check();
}
