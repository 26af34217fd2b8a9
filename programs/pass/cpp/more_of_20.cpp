//@ expect: pass
//@ execs: 100
//@ flags: -std=c++20
// More of C++20: atomic shared_ptr, synchronised streams, atomic_ref, a barrier with completion.
#include <atomic>
#include <barrier>
#include <cassert>
#include <iostream>
#include <latch>
#include <memory>
#include <memory_resource>
#include <semaphore>
#include <sstream>
#include <syncstream>
#include <thread>
#include <vector>

static std::atomic<std::shared_ptr<int>> current{std::make_shared<int>(0)};
static int plain;

int main()
{
    std::ostringstream out;
    int n_phases = 0;
    std::barrier phases(2, [&n_phases]() noexcept { n_phases++; });
    std::latch done(2);
    std::pmr::synchronized_pool_resource pool;
    auto work = [&](int me) {
        std::shared_ptr<int> old = current.load();
        while (!current.compare_exchange_weak(old, std::make_shared<int>(*old + 1))) {
        }
        std::atomic_ref<int>(plain).fetch_add(1);
        phases.arrive_and_wait();
        {
            std::osyncstream(out) << "line of " << me << "\n";
            std::pmr::vector<int> numbers(&pool);
            for (int i = 0; i < 5; i++)
                numbers.push_back(i);
        }
        phases.arrive_and_wait();
        done.count_down();
    };
    std::jthread one(work, 1), two(work, 2);
    done.wait();
    assert(*current.load() == 2 && plain == 2 && n_phases == 2);
    assert(out.str().size() == 2 * sizeof "line of 1" );
}
