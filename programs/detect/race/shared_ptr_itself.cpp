//@ races among: a b
//@ fails: misuse
//@ library: the block that counts may be freed by code of the C++ library
// The pointer itself is not atomic.
#include <memory>
#include <thread>

static std::shared_ptr<int> current = std::make_shared<int>(1);

int main()
{
    std::thread one([] { current = std::make_shared<int>(2); }); //= a
    std::thread two([] { auto copy = current; }); //= b
    one.join();
    two.join();
}
