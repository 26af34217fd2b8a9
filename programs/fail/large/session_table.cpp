//@ expect: assert
//@ execs: 4000
//@ cause: shard.sessions.erase(name); | auto it = shard.sessions.find(name);
//@ says: sessions T1 T2
//@ undetected: both sections are correctly locked; what was collected is not read again
// A table of sessions in shards. The sweeper collects what is too old under the shard's lock, logs that without it, and then
// erases by name: a session that was renewed in between is erased all the same.
#include <array>
#include <atomic>
#include <cassert>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

struct Session {
    int last_seen;
    int n_requests = 0;
};

struct Clock {
    std::atomic<int> now{0};
};

class Journal {
public:
    void write(const std::string &line)
    {
        std::lock_guard<std::mutex> hold(lock_);
        lines_.push_back(line);
    }

private:
    std::mutex lock_;
    std::vector<std::string> lines_;
};

template <std::size_t Shards> class Table {
public:
    explicit Table(Journal &journal) : journal_(journal) {}

    void open(const std::string &name, int now)
    {
        Shard &shard = shard_of(name);
        std::lock_guard<std::mutex> hold(shard.lock);
        shard.sessions[name] = std::make_unique<Session>(Session{now});
    }

    bool renew(const std::string &name, int now)
    {
        Shard &shard = shard_of(name);
        std::lock_guard<std::mutex> hold(shard.lock);
        auto it = shard.sessions.find(name);
        if (it == shard.sessions.end())
            return false;
        Session *session = it->second.get();
        session->last_seen = now;
        session->n_requests++;
        return true;
    }

    bool request(const std::string &name)
    {
        Shard &shard = shard_of(name);
        std::lock_guard<std::mutex> hold(shard.lock);
        auto it = shard.sessions.find(name);
        if (it == shard.sessions.end())
            return false;
        it->second->n_requests++;
        return true;
    }

    void sweep(int now, int limit)
    {
        for (Shard &shard : shards_) {
            std::vector<std::string> old;
            {
                std::lock_guard<std::mutex> hold(shard.lock);
                for (auto &[name, session] : shard.sessions)
                    if (session->last_seen + limit < now)
                        old.push_back(name);
            }
            for (const std::string &name : old) {
                journal_.write("closes " + name);
                std::lock_guard<std::mutex> hold(shard.lock);
                shard.sessions.erase(name);
            }
        }
    }

private:
    struct Shard {
        std::mutex lock;
        std::map<std::string, std::unique_ptr<Session>> sessions;
    };

    Shard &shard_of(const std::string &name) { return shards_[name.size() % Shards]; }

    std::array<Shard, Shards> shards_;
    Journal &journal_;
};

int main()
{
    Clock clock;
    Journal journal;
    Table<4> table(journal);
    const std::vector<std::string> names = {"a", "bb", "ccc", "dddd", "eeeee"};
    for (const std::string &name : names)
        table.open(name, 0);
    std::vector<std::thread> threads;
    threads.emplace_back([&] {
        for (int round = 0; round < 5; round++) {
            int now = ++clock.now;
            table.sweep(now, 4);
        }
    });
    for (int user = 0; user < 2; user++)
        threads.emplace_back([&, user] {
            for (int round = 0; round < 4; round++) {
                const std::string &name = names[user * 2];
                // As long as it can be renewed it must be there.
                if (table.renew(name, clock.now))
                    assert(table.request(name));
                table.request(names[user * 2 + 1]);
            }
        });
    for (std::thread &thread : threads)
        thread.join();
}
