//@ expect: assert
//@ execs: 4000
//@ cause: value_ = std::move(next); | display = it;
//@ says: display.version T1 T2
// A store that tells its observers of each change. A change is made under one lock and told under another, so that two
// changes can be told in the other order: who keeps what it was told last keeps an old value.
#include <array>
#include <cassert>
#include <functional>
#include <memory>
#include <mutex>
#include <numeric>
#include <thread>
#include <vector>

template <typename Value> class Store {
public:
    using Observer = std::function<void(const Value &)>;

    void observe(Observer observer)
    {
        std::lock_guard<std::mutex> hold(observers_lock_);
        observers_.push_back(std::move(observer));
    }

    template <typename Change> void change(Change &&how)
    {
        Value value;
        {
            std::lock_guard<std::mutex> hold(value_lock_);
            Value next = value_;
            how(next);
            value_ = std::move(next);
            value = value_;
        }
        std::lock_guard<std::mutex> hold(observers_lock_);
        for (Observer &observer : observers_)
            observer(value);
    }

    Value get()
    {
        std::lock_guard<std::mutex> hold(value_lock_);
        return value_;
    }

private:
    std::mutex value_lock_, observers_lock_;
    Value value_{};
    std::vector<Observer> observers_;
};

struct Settings {
    int version = 0;
    int volume = 5, balance = 0;
};

class Mixer {
public:
    void set_input(int input, int level)
    {
        std::lock_guard<std::mutex> hold(locks_[input]);
        levels_[input] = level;
    }

    int loudness()
    {
        int sum = 0;
        for (std::size_t i = 0; i < levels_.size(); i++) {
            std::lock_guard<std::mutex> hold(locks_[i]);
            sum += levels_[i];
        }
        return sum;
    }

private:
    std::array<std::mutex, 4> locks_;
    std::array<int, 4> levels_{};
};

int main()
{
    Store<Settings> store;
    Mixer mixer;
    Settings display, saved;
    int n_told = 0;
    store.observe([&](const Settings &it) { display = it; });
    store.observe([&](const Settings &it) { saved.volume = it.volume; });
    store.observe([&](const Settings &) { n_told++; });
    std::vector<std::thread> threads;
    threads.emplace_back([&] {
        for (int i = 0; i < 3; i++)
            mixer.set_input(i, i * 2);
        store.change([](Settings &it) { it.version++, it.volume++; });
    });
    threads.emplace_back([&] {
        for (int i = 0; i < 4; i++)
            mixer.set_input(i, i + 1);
        int loudness = mixer.loudness();
        for (int i = 0; i < 3; i++)
            mixer.loudness();
        store.change([&](Settings &it) { it.version++, it.balance = loudness; });
    });
    threads.emplace_back([&] {
        for (int i = 0; i < 2; i++)
            mixer.set_input(3 - i, mixer.loudness() % 5);
    });
    for (std::thread &thread : threads)
        thread.join();
    assert(n_told == 2);
    assert(display.version == store.get().version);
}
