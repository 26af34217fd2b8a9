//@ expect: pass
//@ execs: 100
// Coroutines of the program's own on small stacks, each thread with its scheduler: they lock, wait and
// throw on those stacks.
#include <cassert>
#include <condition_variable>
#include <cstdlib>
#include <mutex>
#include <stdexcept>
#include <sys/mman.h>
#include <thread>
#include <ucontext.h>

enum { STACK = 32 << 10 };

static std::mutex lock;
static std::condition_variable changed;
static int turn, n_thrown;

struct Pair {
    ucontext_t main, inner;
    int me;
    bool is_done;
};

static void body(unsigned low, unsigned high)
{
    Pair *it = (Pair *)((unsigned long)high << 32 | low);
    for (int i = 0; i < 2; i++) {
        {
            std::unique_lock<std::mutex> hold(lock);
            changed.wait(hold, [&] { return turn % 2 == it->me; });
            turn++;
            changed.notify_all();
        }
        try {
            throw std::runtime_error("inside");
        } catch (const std::runtime_error &) {
            std::lock_guard<std::mutex> hold(lock);
            n_thrown++;
        }
        swapcontext(&it->inner, &it->main);
    }
    it->is_done = true;
}

static void run(int me)
{
    Pair it{};
    it.me = me;
    // The stack ends where the mapping ends: what is above can't be read.
    char *memory = (char *)mmap(nullptr, STACK + 8192, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    assert(memory != MAP_FAILED);
    assert(mprotect(memory + 4096, STACK, PROT_READ | PROT_WRITE) == 0);
    getcontext(&it.inner);
    it.inner.uc_stack.ss_sp = memory + 4096;
    it.inner.uc_stack.ss_size = STACK;
    it.inner.uc_link = &it.main;
    unsigned long address = (unsigned long)&it;
    makecontext(&it.inner, (void (*)())body, 2, (unsigned)address, (unsigned)(address >> 32));
    while (!it.is_done)
        swapcontext(&it.main, &it.inner);
    munmap(memory, STACK + 8192);
}

int main()
{
    std::thread one(run, 0), two(run, 1);
    one.join();
    two.join();
    assert(turn == 4 && n_thrown == 4);
}
