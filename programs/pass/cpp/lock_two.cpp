//@ expect: pass
//@ execs: 200
//@ flags: -std=c++17
// std::lock and std::scoped_lock take two mutexes in any order without deadlock.
#include <cassert>
#include <mutex>
#include <thread>

struct Account {
    std::mutex lock;
    int balance = 100;
};

static void transfer(Account &from, Account &to, int amount)
{
    std::scoped_lock both(from.lock, to.lock);
    from.balance -= amount;
    to.balance += amount;
}

static void transfer_old_style(Account &from, Account &to, int amount)
{
    std::unique_lock<std::mutex> a(from.lock, std::defer_lock), b(to.lock, std::defer_lock);
    std::lock(a, b);
    from.balance -= amount;
    to.balance += amount;
}

int main()
{
    Account left, right;
    std::thread a([&] { transfer(left, right, 10); transfer(left, right, 1); });
    std::thread b([&] { transfer_old_style(right, left, 20); });
    a.join();
    b.join();
    assert(left.balance == 109 && right.balance == 91);
}
