//@ expect: misuse
//@ execs: 100
//@ says: new[] delete T1
// An array is deleted as if it were one object.
#include <thread>

int main()
{
    int *numbers = new int[10];
    std::thread consumer([numbers] { delete numbers; });
    consumer.join();
}
