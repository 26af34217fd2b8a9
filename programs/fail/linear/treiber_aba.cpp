//@ expect: linearizability
//@ execs: 4000
// A Treiber stack whose nodes come back from a free list at once: between a pop's read of `next` and its
// compare-and-swap, the same node is popped and pushed again, and the swap installs a node that is not in the stack (ABA).
#include <atomic>
#include <optional>
#include <raddle.hpp>

class Stack {
    struct Node {
        int value = 0;
        std::atomic<Node *> next{nullptr};
    };
    Node nodes[12];
    std::atomic<Node *> top{nullptr};
    std::atomic<Node *> unused{nullptr};

    static void link(std::atomic<Node *> &list, Node *node) {
        Node *old = list.load();
        do
            node->next.store(old);
        while (!list.compare_exchange_weak(old, node));
    }

    static Node *unlink(std::atomic<Node *> &list) {
        Node *node = list.load();
        while (node && !list.compare_exchange_weak(node, node->next.load())) {
        }
        return node;
    }

  public:
    Stack() {
        for (Node &node : nodes)
            link(unused, &node);
    }
    void push(int value) {
        Node *node = unlink(unused);
        node->value = value;
        link(top, node);
    }
    std::optional<int> pop() {
        Node *node = unlink(top);
        if (!node)
            return std::nullopt;
        int value = node->value;
        link(unused, node);
        return value;
    }
};

int main() {
    raddle::linear<Stack>()
        .op("push", 2, [](Stack &stack, long x) { stack.push(static_cast<int>(x)); })
        .op("pop", [](Stack &stack) { return stack.pop(); })
        .check();
}
