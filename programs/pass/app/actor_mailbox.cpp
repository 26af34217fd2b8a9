//@ expect: pass
//@ execs: 100
//@ flags: -std=c++17
// Actors with mailboxes on std::condition_variable_any over a lock of their own making; a supervisor
// asks two workers, one of which fails and is restarted; replies come back by mail.
#include <atomic>
#include <cassert>
#include <condition_variable>
#include <deque>
#include <exception>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <stdexcept>
#include <thread>
#include <variant>
#include <vector>

/// A ticket lock: all that std::condition_variable_any asks for is lock() and unlock().
class TicketLock {
public:
    void lock()
    {
        unsigned ticket = next.fetch_add(1);
        while (serving.load() != ticket)
            std::this_thread::yield();
    }

    void unlock() { serving.store(serving.load() + 1); }

private:
    std::atomic<unsigned> next{0}, serving{0};
};

template <class Message> class Mailbox {
public:
    void send(Message message)
    {
        {
            std::lock_guard<TicketLock> hold(lock);
            messages.push_back(std::move(message));
        }
        arrived.notify_one();
    }

    Message receive()
    {
        std::unique_lock<TicketLock> hold(lock);
        arrived.wait(hold, [this] { return !messages.empty(); });
        Message message = std::move(messages.front());
        messages.pop_front();
        return message;
    }

    std::optional<Message> try_receive()
    {
        std::lock_guard<TicketLock> hold(lock);
        if (messages.empty())
            return std::nullopt;
        Message message = std::move(messages.front());
        messages.pop_front();
        return message;
    }

private:
    TicketLock lock;
    std::condition_variable_any arrived;
    std::deque<Message> messages;
};

struct Reply {
    int worker;
    int question;
    int answer;
};

struct Failed {
    int worker;
    int question;
    std::exception_ptr why;
};

struct Stopped {
    int worker;
    int n_answered;
};

using Report = std::variant<Reply, Failed, Stopped>;

struct Ask {
    int question;
};

struct Stop {};

using Order = std::variant<Ask, Stop>;

class Worker {
public:
    Worker(int id, Mailbox<Report> &reports) : id(id), reports(reports), thread([this] { run(); }) {}

    ~Worker()
    {
        if (thread.joinable())
            thread.join();
    }

    void ask(int question) { orders.send(Ask{question}); }
    void stop() { orders.send(Stop{}); }

private:
    void run()
    {
        int n_answered = 0;
        for (;;) {
            Order order = orders.receive();
            if (std::holds_alternative<Stop>(order)) {
                reports.send(Stopped{id, n_answered});
                return;
            }
            int question = std::get<Ask>(order).question;
            try {
                reports.send(Reply{id, question, answer(question)});
                n_answered++;
            } catch (...) {
                reports.send(Failed{id, question, std::current_exception()});
            }
        }
    }

    static int answer(int question)
    {
        if (question == 13)
            throw std::domain_error("unlucky");
        return question + 100;
    }

    int id;
    Mailbox<Report> &reports;
    Mailbox<Order> orders;
    std::thread thread;
};

int main()
{
    Mailbox<Report> reports;
    std::map<int, int> answers;
    int n_failed = 0, n_stopped = 0, n_answered = 0;
    {
        std::vector<std::unique_ptr<Worker>> workers;
        for (int id = 0; id < 2; id++)
            workers.push_back(std::make_unique<Worker>(id, reports));
        workers[0]->ask(1);
        workers[1]->ask(13);
        workers[0]->ask(2);
        while (answers.size() < 3) {
            Report report = reports.receive();
            if (auto *reply = std::get_if<Reply>(&report)) {
                assert(answers.emplace(reply->question, reply->answer).second);
            } else if (auto *failed = std::get_if<Failed>(&report)) {
                assert(failed->worker == 1);
                n_failed++;
                try {
                    std::rethrow_exception(failed->why);
                } catch (const std::domain_error &) {
                    workers[1]->ask(3);
                }
            }
        }
        for (auto &worker : workers)
            worker->stop();
    }
    while (std::optional<Report> report = reports.try_receive()) {
        Stopped stopped = std::get<Stopped>(*report);
        n_stopped++;
        n_answered += stopped.n_answered;
    }
    assert(n_failed == 1 && n_stopped == 2 && n_answered == 3);
    for (int question = 1; question <= 3; question++)
        assert(answers.at(question) == question + 100);
}
