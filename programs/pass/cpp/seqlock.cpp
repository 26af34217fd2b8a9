//@ expect: pass
//@ execs: 200
// A sequence lock over atomic data: the reader retries until it has a whole pair.
#include <atomic>
#include <cassert>
#include <thread>

static std::atomic<unsigned> sequence{0};
static std::atomic<int> x{0}, y{0};

static void writer()
{
    for (int i = 1; i <= 2; i++) {
        sequence.fetch_add(1); // odd: a write is under way
        x.store(i);
        y.store(-i);
        sequence.fetch_add(1);
    }
}

static void reader()
{
    int a, b;
    unsigned before, after;
    do {
        before = sequence.load();
        a = x.load();
        b = y.load();
        after = sequence.load();
    } while (before != after || before % 2 != 0);
    assert(a == -b);
}

int main()
{
    std::thread w(writer), r(reader), s(reader);
    w.join();
    r.join();
    s.join();
}
