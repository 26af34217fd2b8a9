//@ expect: exception
//@ execs: 500
//@ cause: return !items.empty(); | items.clear();
//@ says: items T1 T2
// at() throws in a thread if the element is taken away between the size check and the access.
#include <mutex>
#include <thread>
#include <vector>

static std::mutex lock;
static std::vector<int> items{7};

static bool any()
{
    std::lock_guard<std::mutex> hold(lock);
    return !items.empty();
}

static void reader()
{
    if (any()) {
        std::lock_guard<std::mutex> hold(lock);
        items.at(0)++;
    }
}

static void eraser()
{
    std::lock_guard<std::mutex> hold(lock);
    items.clear();
}

int main()
{
    std::thread a(reader), b(eraser);
    a.join();
    b.join();
}
