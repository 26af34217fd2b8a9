//@ expect: pass
//@ execs: 100
//@ flags: -std=c++17
// Read, copy, update: readers take the current configuration with std::atomic_load of a shared_ptr;
// writers copy it, change the copy and swap it in, again if another was faster. Old ones live until
// their last reader is gone.
#include <atomic>
#include <cassert>
#include <memory>
#include <string>
#include <thread>
#include <vector>

static std::atomic<int> n_alive;

struct Config {
    Config() { n_alive++; }
    Config(const Config &other) : version(other.version), parts(other.parts) { n_alive++; }
    ~Config()
    {
        version = -1;
        n_alive--;
    }

    int version = 0;
    std::vector<std::string> parts;
};

static std::shared_ptr<const Config> current = std::make_shared<const Config>();

static void reader()
{
    int last = 0;
    for (int i = 0; i < 3; i++) {
        std::shared_ptr<const Config> seen = std::atomic_load(&current);
        assert(seen->version >= last);
        assert((int)seen->parts.size() == seen->version);
        for (const std::string &part : seen->parts)
            assert(part.size() == 1 + sizeof "writer" - 1);
        last = seen->version;
    }
}

static void writer(char name)
{
    for (int i = 0; i < 2; i++) {
        std::shared_ptr<const Config> old = std::atomic_load(&current);
        std::shared_ptr<Config> fresh;
        do {
            fresh = std::make_shared<Config>(*old);
            fresh->version++;
            fresh->parts.push_back(std::string("writer") + name);
        } while (!std::atomic_compare_exchange_strong(&current, &old,
                                                      std::shared_ptr<const Config>(fresh)));
    }
}

int main()
{
    std::thread readers(reader), one(writer, 'a'), two(writer, 'b');
    readers.join();
    one.join();
    two.join();
    assert(current->version == 4);
    assert(current.use_count() == 1);
    assert(n_alive == 1);
    std::weak_ptr<const Config> weak = current;
    current.reset();
    assert(weak.expired() && n_alive == 0);
}
