//@ expect: exception
//@ execs: 500
//@ cause: if (!solved) { | solved = true;
//@ says: solved T1 T2
// Two solvers race to fulfil one promise; "solved" is tested and set in two steps, and set_value throws.
#include <atomic>
#include <future>
#include <thread>

static std::promise<int> answer;
static std::atomic<bool> solved{false};

static void solver(int value)
{
    if (!solved) {
        solved = true;
        answer.set_value(value);
    }
}

int main()
{
    std::future<int> result = answer.get_future();
    std::thread a(solver, 1), b(solver, 2);
    int got = result.get();
    a.join();
    b.join();
    return got == 1 || got == 2 ? 0 : 1;
}
