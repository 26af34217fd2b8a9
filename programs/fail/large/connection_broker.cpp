//@ expect: deadlock
//@ execs: 4000
//@ cause: if (waiters_.empty()) | idle_.push_back(connection);
//@ unsaid: granted idle_
// A broker of connections. Who finds none registers and sleeps; who returns one looks for waiters first and puts it among
// the idle ones afterwards, and the two lists have locks of their own.
#include <condition_variable>
#include <deque>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

struct Connection {
    int id;
    int n_used = 0;
};

struct Waiter {
    std::condition_variable granted;
    Connection *connection = nullptr;
};

class Statistics {
public:
    void count(const std::string &what)
    {
        std::lock_guard<std::mutex> hold(lock_);
        counts_[what]++;
    }

private:
    std::mutex lock_;
    std::map<std::string, int> counts_;
};

class Broker {
public:
    explicit Broker(int n)
    {
        for (int id = 0; id < n; id++) {
            all_.push_back(std::make_unique<Connection>(Connection{id}));
            idle_.push_back(all_.back().get());
        }
    }

    Connection *acquire()
    {
        if (Connection *connection = pop_idle())
            return connection;
        statistics.count("waited");
        Waiter me;
        std::unique_lock<std::mutex> hold(waiters_lock_);
        // Perhaps one came back while the lists were changed.
        if (Connection *connection = pop_idle())
            return connection;
        waiters_.push_back(&me);
        me.granted.wait(hold, [&] { return me.connection != nullptr; });
        return me.connection;
    }

    void release(Connection *connection)
    {
        connection->n_used++;
        {
            std::lock_guard<std::mutex> hold(waiters_lock_);
            if (!is_handed_over(connection))
                statistics.count("idle");
            else
                return;
        }
        std::lock_guard<std::mutex> hold(idle_lock_);
        idle_.push_back(connection);
    }

    Statistics statistics;

private:
    bool is_handed_over(Connection *connection)
    {
        if (waiters_.empty())
            return false;
        Waiter *first = waiters_.front();
        waiters_.pop_front();
        first->connection = connection;
        first->granted.notify_one();
        return true;
    }

    Connection *pop_idle()
    {
        std::lock_guard<std::mutex> hold(idle_lock_);
        if (idle_.empty())
            return nullptr;
        Connection *connection = idle_.front();
        idle_.pop_front();
        return connection;
    }

    std::vector<std::unique_ptr<Connection>> all_;
    std::mutex idle_lock_;
    std::deque<Connection *> idle_;
    std::mutex waiters_lock_;
    std::deque<Waiter *> waiters_;
};

int main()
{
    Broker broker(2);
    std::vector<std::thread> clients;
    for (int client = 0; client < 3; client++)
        clients.emplace_back([&broker, client] {
            for (int i = 0; i < 3 - client / 2; i++) {
                Connection *connection = broker.acquire();
                broker.statistics.count("query " + std::to_string((client + i) % 2));
                broker.release(connection);
            }
        });
    for (std::thread &client : clients)
        client.join();
}
