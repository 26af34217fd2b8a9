//@ none
// A function-local static is initialised once, under the compiler's guard.
#include <thread>

struct Table {
    int values[8];
    Table() { for (int i = 0; i < 8; i++) values[i] = i; }
};

static const Table &table()
{
    static Table it;
    return it;
}

int seen[2]; // what is never looked at would not be read

int main()
{
    std::thread one([] { seen[0] = table().values[3]; });
    std::thread two([] { seen[1] = table().values[3]; });
    one.join();
    two.join();
}
