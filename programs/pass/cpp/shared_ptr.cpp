//@ expect: pass
//@ execs: 200
// Copies of a shared_ptr in several threads: the object dies once, with the last of them; weak_ptr notices.
#include <atomic>
#include <cassert>
#include <memory>
#include <thread>

static std::atomic<int> alive{0};

struct Thing {
    int value = 6;
    Thing() { alive++; }
    ~Thing() { alive--; }
};

int main()
{
    auto owner = std::make_shared<Thing>();
    std::weak_ptr<Thing> watch = owner;
    auto holder = [](std::shared_ptr<Thing> mine) {
        auto copy = mine;
        mine.reset();
        assert(copy->value == 6 && alive == 1);
    };
    std::thread a(holder, owner), b(holder, owner);
    std::thread c([watch] {
        if (auto locked = watch.lock())
            assert(locked->value == 6);
    });
    owner.reset();
    a.join();
    b.join();
    c.join();
    assert(alive == 0 && watch.expired());
}
