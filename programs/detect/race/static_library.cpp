//@ race: one other
//@ flags: -static-libstdc++ -static-libgcc
// The C++ library is part of the program, with uninstrumented atomic instructions, which do not order these two accesses.
#include <thread>

int hits; // what is never looked at would not be written

int main()
{
    std::thread first([] {
        hits = 1; //= one
    });
    std::thread second([] {
        hits = 2; //= other
    });
    first.join();
    second.join();
    return 0;
}
