//@ expect: linearizability
//@ execs: 4000
//@ flags: -std=c++17
//@ unsaid: insert
//@ undetected: results of operations are no accesses
// A lazy list (Heller et al., 2005) without its validation: a thread locks two neighbours that it has found, and does not
// look whether they are still neighbours and still in the list. What it inserts behind a removed node is lost.
#include <atomic>
#include <climits>
#include <mutex>
#include <raddle.hpp>

class Set {
    struct Node {
        int key;
        std::atomic<Node *> next;
        std::atomic<bool> is_removed{false};
        std::mutex lock;
        Node(int key, Node *next) : key(key), next(next) {}
    };
    Node last{INT_MAX, nullptr};
    Node first{INT_MIN, &last};

    struct Neighbours {
        Node *before;
        Node *at;
    };
    Neighbours find(int key) {
        Node *before = &first;
        Node *at = before->next.load();
        while (at->key < key) {
            before = at;
            at = at->next.load();
        }
        return {before, at};
    }

  public:
    bool insert(int key) {
        auto [before, at] = find(key);
        std::scoped_lock guard(before->lock, at->lock);
        if (at->key == key)
            return false;
        before->next.store(new Node(key, at));
        return true;
    }
    bool remove(int key) {
        auto [before, at] = find(key);
        std::scoped_lock guard(before->lock, at->lock);
        if (at->key != key)
            return false;
        at->is_removed.store(true);
        before->next.store(at->next.load());
        return true;
    }
    bool contains(int key) {
        Node *at = find(key).at;
        return at->key == key && !at->is_removed.load();
    }
};

int main() {
    raddle::linear<Set>()
        .op("insert", 3, [](Set &set, long x) { return set.insert(static_cast<int>(x)); })
        .op("remove", 3, [](Set &set, long x) { return set.remove(static_cast<int>(x)); })
        .op("contains", 3, [](Set &set, long x) { return set.contains(static_cast<int>(x)); })
        .check();
}
