//@ expect: pass
//@ execs: 200
// A function-local static is constructed once although three threads arrive together.
#include <atomic>
#include <cassert>
#include <thread>

static std::atomic<int> built{0};

struct Table {
    int rows[4];
    Table()
    {
        ++built;
        for (int i = 0; i < 4; i++)
            rows[i] = i * i;
    }
};

static const Table &table()
{
    static const Table it;
    return it;
}

int main()
{
    auto use = [](int row) { assert(table().rows[row] == row * row); };
    std::thread a(use, 1), b(use, 2), c(use, 3);
    a.join();
    b.join();
    c.join();
    assert(built == 1);
}
