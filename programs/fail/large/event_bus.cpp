//@ expect: assert
//@ execs: 4000
//@ cause: state_ = CLOSED; | assert(state_ == OPEN);
//@ says: handlers state_ T2 T3
//@ undetected: both sections are correctly locked; that nobody is called after it has closed is not visible in the locks
// A bus with topics. The handlers of a topic are copied under its lock and called without it; a component that unsubscribes
// from all of its topics and closes can still be called.
#include <algorithm>
#include <cassert>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <utility>
#include <vector>

struct Event {
    std::string topic;
    int payload;
};

class Bus {
public:
    using Handler = std::function<void(const Event &)>;

    explicit Bus(const std::vector<std::string> &topics)
    {
        for (const std::string &name : topics)
            topics_[name];
    }

    void subscribe(const std::string &name, int id, Handler handler)
    {
        Topic &topic = topics_.at(name);
        std::lock_guard<std::mutex> hold(topic.lock);
        topic.handlers.emplace_back(id, std::move(handler));
    }

    void unsubscribe(const std::string &name, int id)
    {
        Topic &topic = topics_.at(name);
        std::lock_guard<std::mutex> hold(topic.lock);
        auto is_its = [id](const auto &it) { return it.first == id; };
        auto &all = topic.handlers;
        all.erase(std::remove_if(all.begin(), all.end(), is_its), all.end());
    }

    void publish(const Event &event)
    {
        Topic &topic = topics_.at(event.topic);
        std::unique_lock<std::mutex> hold(topic.lock);
        const auto handlers = topic.handlers;
        topic.n_events++;
        hold.unlock();
        for (const auto &[id, handler] : handlers)
            handler(event);
    }

private:
    struct Topic {
        std::mutex lock;
        std::vector<std::pair<int, Handler>> handlers;
        int n_events = 0;
    };
    std::map<std::string, Topic> topics_;
};

class Component {
public:
    Component(Bus &bus, int id, std::vector<std::string> topics) : bus_(bus), id_(id), topics_(std::move(topics))
    {
        for (const std::string &topic : topics_)
            bus_.subscribe(topic, id_, [this](const Event &event) { handle(event); });
    }

    void close()
    {
        for (const std::string &topic : topics_)
            bus_.unsubscribe(topic, id_);
        std::lock_guard<std::mutex> hold(lock_);
        state_ = CLOSED;
    }

private:
    void handle(const Event &event)
    {
        std::lock_guard<std::mutex> hold(lock_);
        assert(state_ == OPEN);
        n_handled_++, last_ = event.payload;
    }

    enum State { OPEN, CLOSED };
    Bus &bus_;
    int id_;
    std::vector<std::string> topics_;
    std::mutex lock_;
    State state_ = OPEN;
    int n_handled_ = 0, last_ = 0;
};

int main()
{
    const std::vector<std::string> topics = {"disk", "light", "net", "power", "sound", "user"};
    Bus bus(topics);
    Component status(bus, 1, {"disk", "net", "power", "user"});
    Component sounds(bus, 2, {"user", "power"});
    Component indexer(bus, 3, {"disk", "light", "net", "sound"});
    std::vector<std::thread> threads;
    threads.emplace_back([&] {
        for (int i = 0; i < 4; i++)
            bus.publish({i % 2 ? "user" : "power", i});
        for (int i = 0; i < 3; i++)
            bus.publish({"user", -i});
    });
    threads.emplace_back([&] {
        for (int i = 0; i < 4; i++)
            bus.publish({i == 3 ? "disk" : "power", i});
    });
    threads.emplace_back([&] { indexer.close(); });
    for (std::thread &thread : threads)
        thread.join();
    status.close();
    sounds.close();
}
