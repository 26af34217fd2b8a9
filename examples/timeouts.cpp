// A consumer that gives up after 50 ms. A timeout is taken for "no item", although one may have come at the last moment.
#include <cassert>
#include <chrono>
#include <condition_variable>
#include <mutex>
#include <optional>
#include <thread>

using namespace std::chrono_literals;

class Slot {
public:
    // Returns false if nobody wants the item any more.
    bool put(int item) {
        std::lock_guard guard(mutex_);
        if (closed_)
            return false;
        item_ = item;
        filled_.notify_one();
        return true;
    }

    std::optional<int> take() {
        std::unique_lock guard(mutex_);
        while (!item_) {
            if (filled_.wait_for(guard, 50ms) == std::cv_status::timeout) {
                closed_ = true;
                return std::nullopt;
            }
        }
        return item_;
    }

private:
    std::mutex mutex_;
    std::condition_variable filled_;
    std::optional<int> item_;
    bool closed_ = false;
};

int main() {
    Slot slot;
    bool accepted = false;
    std::thread producer([&] {
        std::this_thread::sleep_for(50ms);
        accepted = slot.put(42);
    });
    std::optional<int> taken = slot.take();
    producer.join();
    assert(accepted == taken.has_value());
}
