// A configuration that is loaded when it is first needed. The check without the lock reads a flag that is set too early.
#include <atomic>
#include <cassert>
#include <mutex>
#include <thread>

struct Config {
    int workers = 0;
    int port = 0;
};

class ConfigCache {
public:
    const Config &get() {
        if (!loaded_.load()) {
            std::lock_guard guard(mutex_);
            if (!loaded_.load()) {
                loaded_.store(true);
                load();
            }
        }
        return config_;
    }

private:
    void load() {
        config_.workers = 4;
        config_.port = 8080;
    }

    std::mutex mutex_;
    std::atomic<bool> loaded_{false};
    Config config_;
};

int main() {
    ConfigCache cache;
    auto serve = [&] { assert(cache.get().port == 8080); };
    std::thread first(serve), second(serve);
    first.join();
    second.join();
}
