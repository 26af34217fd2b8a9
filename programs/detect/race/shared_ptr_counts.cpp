//@ none
// Reference counts are atomic, and the last owner frees the object.
#include <memory>
#include <thread>

struct Big {
    int values[16] = {};
};

int main()
{
    auto shared = std::make_shared<Big>();
    shared->values[3] = 7;
    std::thread one([copy = shared] { (void)copy->values[3]; });
    std::thread two([copy = shared] { (void)copy->values[4]; });
    shared.reset();
    one.join();
    two.join();
}
