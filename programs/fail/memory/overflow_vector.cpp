//@ expect: misuse
//@ execs: 200
//@ cause: scores[scores.size()] =
//@ says: T1
// One element beyond a vector's last: there is room for it only if the other thread has made some.
#include <mutex>
#include <thread>
#include <vector>

static std::mutex lock;
static std::vector<int> scores(4);

int main()
{
    std::thread a([] {
        std::lock_guard<std::mutex> guard(lock);
        scores[scores.size()] = 7;
    });
    std::thread b([] {
        std::lock_guard<std::mutex> guard(lock);
        scores.push_back(1);
    });
    a.join();
    b.join();
}
