//@ races among: a b
// Two threads append to one vector: whatever the library does first races.
#include <thread>
#include <vector>

static std::vector<int> numbers;

int main()
{
    numbers.reserve(8);
    std::thread one([] { numbers.push_back(1); }); //= a
    std::thread two([] { numbers.push_back(2); }); //= b
    one.join();
    two.join();
}
