//@ expect: pass
//@ execs: 20
// Each block is freed by the function that belongs to the one that allocated it.
#include <cstdlib>
#include <memory>
#include <mutex>
#include <new>
#include <string>
#include <thread>
#include <vector>

struct Plain {
    long words[3];
};
struct Own {
    int number;
    static void *operator new(std::size_t size) { return std::malloc(size); }
    static void operator delete(void *it) { std::free(it); }
};
struct alignas(64) Aligned {
    char bytes[64];
};
struct Base {
    virtual ~Base() = default;
};
struct Derived : Base {
    std::string name = "a name that is too long for the string itself";
};

static std::mutex lock;
static std::vector<std::shared_ptr<Base>> shared;

static void work()
{
    delete new Plain;
    delete[] new Plain[3];
    delete[] new std::string[2];
    delete new Own;
    delete new Aligned;
    delete new (std::nothrow) int;
    delete[] new (std::nothrow) char[7];
    ::operator delete(::operator new(9));
    ::operator delete[](::operator new[](9));
    std::free(std::malloc(5));
    delete static_cast<int *>(nullptr);
    std::free(nullptr);
    std::unique_ptr<int[]> numbers(new int[5]());
    alignas(Plain) char room[sizeof(Plain)];
    (new (room) Plain)->~Plain();
    std::lock_guard<std::mutex> guard(lock);
    shared.push_back(std::make_shared<Derived>());
    shared.emplace_back(new Derived);
}

int main()
{
    std::thread a(work);
    work();
    a.join();
    shared.clear();
}
