//@ expect: misuse
//@ execs: 500
//@ cause: delete widget; | n_events++;
//@ says: free T1
// A publisher copies the list of its listeners under the lock and calls them without it; meanwhile one is deleted.
#include <algorithm>
#include <mutex>
#include <thread>
#include <vector>

struct Listener {
    int n_events = 0;
    void notify() { n_events++; }
};

class Publisher {
public:
    void add(Listener *listener)
    {
        std::lock_guard<std::mutex> hold(lock);
        listeners.push_back(listener);
    }

    void remove(Listener *listener)
    {
        std::lock_guard<std::mutex> hold(lock);
        listeners.erase(std::remove(listeners.begin(), listeners.end(), listener), listeners.end());
    }

    void publish()
    {
        std::vector<Listener *> now;
        {
            std::lock_guard<std::mutex> hold(lock);
            now = listeners;
        }
        for (Listener *listener : now)
            listener->notify();
    }

private:
    std::mutex lock;
    std::vector<Listener *> listeners;
};

int main()
{
    Publisher publisher;
    Listener *widget = new Listener;
    publisher.add(widget);
    std::thread events([&] { publisher.publish(); });
    publisher.remove(widget);
    delete widget;
    events.join();
}
