//@ expect: assert
//@ execs: 4000
//@ unnamed: node->keys.resize(half); | std::lock_guard<std::mutex> above(parent->lock);
//@ says: tree.parent_ T1 T3
// A tree of two levels with locks that are taken hand over hand. A leaf that splits is released before its new sibling is
// known to the parent: searches in between find neither the key here nor the sibling. Readers try six times.
#include <algorithm>
#include <array>
#include <cassert>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

using Key = int;

struct Leaf {
    std::mutex lock;
    std::vector<Key> keys;
    int n_reads = 0;
};

template <std::size_t Fanout> struct Inner {
    std::mutex lock;
    std::vector<Key> lows;
    std::vector<Leaf *> children;

    Leaf *child_for(Key key) const
    {
        auto it = std::upper_bound(lows.begin(), lows.end(), key);
        return children[std::max<std::ptrdiff_t>(it - lows.begin() - 1, 0)];
    }

    void insert_child(Key low, Leaf *child)
    {
        auto at = std::upper_bound(lows.begin(), lows.end(), low) - lows.begin();
        lows.insert(lows.begin() + at, low);
        children.insert(children.begin() + at, child);
        assert(children.size() <= Fanout);
    }
};

template <std::size_t Fanout, std::size_t LeafMax> class Tree {
public:
    Tree() { parent_.lows = {0}, parent_.children = {fresh()}; }

    void insert(Key key)
    {
        std::unique_lock<std::mutex> above(parent_.lock);
        Leaf *node = parent_.child_for(key);
        std::unique_lock<std::mutex> here(node->lock);
        above.unlock();
        auto at = std::lower_bound(node->keys.begin(), node->keys.end(), key);
        if (at != node->keys.end() && *at == key)
            return;
        node->keys.insert(at, key);
        if (node->keys.size() <= LeafMax)
            return;
        split(node, here);
    }

    bool contains(Key key)
    {
        std::unique_lock<std::mutex> above(parent_.lock);
        Leaf *node = parent_.child_for(key);
        std::unique_lock<std::mutex> here(node->lock);
        above.unlock();
        node->n_reads++;
        return std::binary_search(node->keys.begin(), node->keys.end(), key);
    }

    std::size_t size()
    {
        std::lock_guard<std::mutex> above(parent_.lock);
        std::size_t n = 0;
        for (Leaf *leaf : parent_.children) {
            std::lock_guard<std::mutex> here(leaf->lock);
            n += leaf->keys.size();
        }
        return n;
    }

private:
    void split(Leaf *node, std::unique_lock<std::mutex> &here)
    {
        Leaf *sibling = fresh();
        std::size_t half = node->keys.size() / 2;
        sibling->keys.assign(node->keys.begin() + half, node->keys.end());
        node->keys.resize(half);
        here.unlock();
        Inner<Fanout> *parent = &parent_;
        std::lock_guard<std::mutex> above(parent->lock);
        parent->insert_child(sibling->keys.front(), sibling);
    }

    Leaf *fresh()
    {
        std::lock_guard<std::mutex> hold(pool_lock_);
        pool_.push_back(std::make_unique<Leaf>());
        return pool_.back().get();
    }

    Inner<Fanout> parent_;
    std::mutex pool_lock_;
    std::vector<std::unique_ptr<Leaf>> pool_;
};

int main()
{
    Tree<16, 6> tree;
    for (Key key = 0; key < 60; key += 10)
        tree.insert(key);
    std::vector<std::thread> threads;
    // Only one of all these keys is new, and its leaf is full.
    threads.emplace_back([&] {
        for (Key key : {20, 30, 25, 25})
            tree.insert(key);
    });
    threads.emplace_back([&] {
        for (Key key : {0, 10, 20, 10})
            tree.insert(key);
    });
    std::array<int, 2> hits{};
    for (int reader = 0; reader < 2; reader++)
        threads.emplace_back([&, reader] {
            for (Key key = 10; key < 60; key += 20) {
                bool is_found = false;
                for (int attempt = 0; attempt < 6 && !is_found; attempt++)
                    is_found = tree.contains(key);
                assert(is_found);
                hits[reader]++;
            }
        });
    for (std::thread &thread : threads)
        thread.join();
    assert(tree.size() == 7);
    assert(hits[0] == 3 && hits[1] == 3);
}
