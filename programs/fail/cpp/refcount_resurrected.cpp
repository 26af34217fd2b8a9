//@ expect: assert
//@ execs: 500
//@ cause: if (Node *n = shared.load()) { | n->magic = 0xdead;
//@ says: node T1 T2
// A hand-made intrusive pointer whose copy reads the pointer and then counts: the object may be gone by then.
#include <atomic>
#include <cassert>
#include <thread>

struct Node {
    std::atomic<int> refs{1}, magic{0x600d};
};
static Node node;
static std::atomic<Node *> shared{&node};

static void release(Node *n)
{
    if (--n->refs == 0)
        n->magic = 0xdead; // poison in place of delete
}

static void copier()
{
    if (Node *n = shared.load()) {
        n->refs++; // too late if the owner has let go
        assert(n->magic == 0x600d);
        release(n);
    }
}

static void owner()
{
    release(shared.exchange(nullptr));
}

int main()
{
    std::thread a(copier), b(owner);
    a.join();
    b.join();
}
