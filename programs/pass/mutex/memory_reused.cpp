//@ expect: pass
//@ execs: 50
//@ flags: -std=c++17
// The memory of a plain mutex becomes a recursive one, a condition variable, a read-write lock: none of
// them is destroyed by a call, nor made by one.
#include <cassert>
#include <mutex>
#include <new>
#include <shared_mutex>
#include <thread>

alignas(16) static unsigned char room[128];

template <class Lock> static void use(int depth)
{
    Lock *lock = new (room) Lock;
    int count = 0;
    auto work = [&] {
        for (int i = 0; i < depth; i++)
            lock->lock();
        count++;
        for (int i = 0; i < depth; i++)
            lock->unlock();
    };
    std::thread other(work);
    work();
    other.join();
    assert(count == 2);
    lock->~Lock();
}

int main()
{
    use<std::mutex>(1);
    use<std::recursive_mutex>(2);
    use<std::mutex>(1);
    use<std::shared_mutex>(1);
    use<std::recursive_mutex>(3);
}
