//@ expect: pass
//@ execs: 200
//@ flags: -std=c++20
// A pointer that a writer replaces while a reader takes copies. (Its library guards it by a bit of its own.)
#include <atomic>
#include <cassert>
#include <memory>
#include <thread>

struct Config {
    int a, b;
};

int main()
{
    std::atomic<std::shared_ptr<Config>> current(std::make_shared<Config>(Config{1, 1}));
    std::thread writer([&] {
        for (int i = 2; i < 4; i++)
            current.store(std::make_shared<Config>(Config{i, i}));
    });
    std::thread reader([&] {
        for (int i = 0; i < 3; i++) {
            auto config = current.load();
            assert(config->a == config->b);
        }
    });
    writer.join();
    reader.join();
}
