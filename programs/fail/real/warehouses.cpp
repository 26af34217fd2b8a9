//@ expect: deadlock
//@ execs: 300
//@ cause: Guard guard(mutex_); // the sender | Guard guard(mutex_); // the receiver
//@ says: north.mutex_ south.mutex_ T1 T2
// Warehouses that move goods between each other, each guarded by a recursive lock of its own: `ship` holds the sender's,
// takes it a second time in `take`, which gives it back, and then wants the receiver's.
#include <map>
#include <memory>
#include <mutex>
#include <stdexcept>
#include <string>
#include <thread>

class Guarded {
protected:
    mutable std::recursive_mutex mutex_;
    using Guard = std::unique_lock<std::recursive_mutex>;
public:
    virtual ~Guarded() = default;
};

class Warehouse : public Guarded {
public:
    explicit Warehouse(std::string name) : name_(std::move(name)) {}

    void put(const std::string &item, int n)
    {
        Guard guard(mutex_); // the receiver
        stock_[item] += n;
    }

    bool take(const std::string &item, int n)
    {
        Guard guard(mutex_);
        auto it = stock_.find(item);
        if (it == stock_.end() || it->second < n)
            return false;
        it->second -= n;
        return true;
    }

    template <typename Policy>
    bool ship(Warehouse &to, const std::string &item, int n, Policy policy)
    {
        Guard guard(mutex_); // the sender
        if (!policy(stock_[item], n))
            return false;
        if (!take(item, n))
            return false;
        to.put(item, n);
        return true;
    }

private:
    std::string name_;
    std::map<std::string, int> stock_;
};

int main()
{
    Warehouse north("north"), south("south");
    north.put("bolts", 10);
    south.put("nuts", 10);
    auto keep_one = [](int have, int n) { return have > n; };
    std::thread a([&] { north.ship(south, "bolts", 3, keep_one); });
    std::thread b([&] { south.ship(north, "nuts", 3, keep_one); });
    a.join();
    b.join();
}
