//@ expect: pass
//@ execs: 20
// A program with operators of its own, all on `malloc` and `free`.
#include <cstdlib>
#include <new>
#include <string>
#include <thread>

void *operator new(std::size_t size)
{
    if (void *block = std::malloc(size))
        return block;
    throw std::bad_alloc();
}
void *operator new[](std::size_t size) { return operator new(size); }
void operator delete(void *block) noexcept { std::free(block); }
void operator delete(void *block, std::size_t) noexcept { std::free(block); }
void operator delete[](void *block) noexcept { std::free(block); }
void operator delete[](void *block, std::size_t) noexcept { std::free(block); }

static void work()
{
    delete[] new int[4];
    std::string text = "long enough to be allocated somewhere";
    text += text;
    std::free(::operator new(3));
}

int main()
{
    std::thread a(work);
    work();
    a.join();
}
