//@ expect: pass
//@ execs: 200
//@ flags: -std=c++20
// std::latch for the start, std::barrier with a completion step between phases.
#include <barrier>
#include <cassert>
#include <latch>
#include <thread>

static std::latch ready{3};
static int page; // turned only by the completion step
static int cells[2][2];
static auto turn_page = []() noexcept { page++; };
static std::barrier<decltype(turn_page)> barrier(2, turn_page);

static void worker(int me)
{
    ready.arrive_and_wait();
    for (int i = 0; i < 2; i++) {
        assert(page == i);
        cells[i][me] = 1;
        barrier.arrive_and_wait();
        assert(cells[i][1 - me] == 1);
    }
}

int main()
{
    std::thread a(worker, 0), b(worker, 1);
    ready.count_down();
    a.join();
    b.join();
    assert(page == 2);
}
