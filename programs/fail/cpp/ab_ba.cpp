//@ expect: deadlock
//@ execs: 500
//@ cause: std::lock_guard<std::mutex> hold(lock);
//@ says: lock T1 T2
// Observer and subject call into one another with their own std::mutex held.
#include <mutex>
#include <thread>

struct Subject;
struct Observer {
    std::mutex lock;
    int seen = 0;
    void notice(int value)
    {
        std::lock_guard<std::mutex> hold(lock);
        seen = value;
    }
    void refresh(Subject &subject);
};

struct Subject {
    std::mutex lock;
    int value = 0;
    int get()
    {
        std::lock_guard<std::mutex> hold(lock);
        return value;
    }
    void set(int v, Observer &observer)
    {
        std::lock_guard<std::mutex> hold(lock);
        value = v;
        observer.notice(v);
    }
};

void Observer::refresh(Subject &subject)
{
    std::lock_guard<std::mutex> hold(lock);
    seen = subject.get();
}

int main()
{
    Subject subject;
    Observer observer;
    std::thread a([&] { subject.set(1, observer); });
    std::thread b([&] { observer.refresh(subject); });
    a.join();
    b.join();
}
