//@ expect: pass
//@ execs: 200
// A global object whose destructor, after main, stops and joins its worker thread.
#include <condition_variable>
#include <cstdlib>
#include <mutex>
#include <thread>

class Service {
    std::mutex lock;
    std::condition_variable changed;
    bool stop = false;
    int jobs = 0, done = 0;
    std::thread worker{[this] { loop(); }};

    void loop()
    {
        std::unique_lock<std::mutex> hold(lock);
        for (;;) {
            changed.wait(hold, [this] { return stop || jobs > done; });
            if (jobs == done)
                return;
            done++;
        }
    }

public:
    void submit()
    {
        std::lock_guard<std::mutex> hold(lock);
        jobs++;
        changed.notify_one();
    }
    ~Service()
    {
        {
            std::lock_guard<std::mutex> hold(lock);
            stop = true;
        }
        changed.notify_one();
        worker.join();
        if (done != 2)
            std::_Exit(9);
    }
};

static Service service;

int main()
{
    service.submit();
    service.submit();
}
