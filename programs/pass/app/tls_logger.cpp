//@ expect: pass
//@ execs: 100
//@ flags: -std=c++17
// A logger with a buffer for each thread: lines go to the thread's own buffer, which is handed over
// when it is full and when the thread ends, by a thread_local's destructor. The sink is a static that
// is destroyed after main, and counts all lines then.
#include <cassert>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

class Sink {
public:
    ~Sink()
    {
        // 2 workers with 5 lines each, 1 detached one that was waited for, 3 of main.
        if (lines.size() != 2 * 5 + 1 + 3) {
            std::fprintf(stderr, "%zu lines\n", lines.size());
            std::abort();
        }
    }

    void take(std::vector<std::string> &buffer)
    {
        std::lock_guard<std::mutex> hold(lock);
        for (std::string &line : buffer)
            lines.push_back(std::move(line));
        buffer.clear();
        n_flushes++;
    }

    static Sink &get()
    {
        static Sink sink;
        return sink;
    }

    size_t count(const std::string &start)
    {
        std::lock_guard<std::mutex> hold(lock);
        size_t n = 0;
        for (const std::string &line : lines)
            n += line.rfind(start, 0) == 0;
        return n;
    }

private:
    std::mutex lock;
    std::vector<std::string> lines;
    int n_flushes = 0;
};

class Buffer {
public:
    Buffer() : sink(Sink::get()) {}
    ~Buffer()
    {
        if (!lines.empty())
            sink.take(lines);
    }

    void add(std::string line)
    {
        lines.push_back(std::move(line));
        if (lines.size() == 3)
            sink.take(lines);
    }

private:
    Sink &sink;
    std::vector<std::string> lines;
};

static void log(const std::string &line)
{
    static thread_local Buffer buffer;
    buffer.add(line);
}

/// Logs once more from a destructor of its own, which runs before the buffer's.
struct Farewell {
    std::string name;
    ~Farewell()
    {
        if (!name.empty())
            log(name + " leaves");
    }
};

static thread_local Farewell farewell;

static void worker(const char *name)
{
    log(std::string(name) + " begins");
    farewell.name = name;
    for (int i = 0; i < 3; i++)
        log(std::string(name) + " does " + std::to_string(i));
}

static std::mutex gate;
static bool is_detached_done;

static void detached()
{
    {
        log("detached");
        std::vector<std::string> none;
        Sink::get().take(none);
    }
    struct Signal {
        ~Signal()
        {
            std::lock_guard<std::mutex> hold(gate);
            is_detached_done = true;
        }
    };
    // Made last, so destroyed first: the buffer may still be full when main goes on.
    static thread_local std::unique_ptr<Signal> at_end;
    at_end = std::make_unique<Signal>();
}

int main()
{
    log("main 1");
    std::thread one(worker, "one"), two(worker, "two");
    log("main 2");
    std::thread(detached).detach();
    one.join();
    two.join();
    assert(Sink::get().count("one") == 5);
    assert(Sink::get().count("two") == 5);
    for (;;) {
        {
            std::lock_guard<std::mutex> hold(gate);
            if (is_detached_done)
                break;
        }
        std::this_thread::yield();
    }
    while (Sink::get().count("detached") == 0)
        std::this_thread::yield();
    log("main 3");
}
