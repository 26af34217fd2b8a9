//@ expect: assert
//@ execs: 500
//@ cause: config.store(made); | made->limit.store(limit); | ->limit.load()
//@ says: limit T1 T2
// A configuration is published before it is filled in: whoever asks in between reads its default.
#include <atomic>
#include <cassert>
#include <mutex>
#include <thread>

struct Config {
    std::atomic<int> limit{0};
};

static std::atomic<Config *> config{nullptr};
static std::mutex creation;

static Config *get_config(int limit)
{
    Config *known = config.load();
    if (known != nullptr)
        return known;
    std::lock_guard<std::mutex> hold(creation);
    if (config.load() == nullptr) {
        Config *made = new Config;
        config.store(made);
        made->limit.store(limit);
    }
    return config.load();
}

static void serve() { assert(get_config(64)->limit.load() == 64); }

int main()
{
    std::thread one(serve);
    std::thread two(serve);
    one.join();
    two.join();
    delete config.load();
}
