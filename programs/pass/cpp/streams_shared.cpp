//@ expect: pass
//@ execs: 50
//@ flags: -std=c++17
// Standard streams, locales and regular expressions from several threads at once.
#include <cassert>
#include <condition_variable>
#include <iostream>
#include <locale>
#include <mutex>
#include <regex>
#include <sstream>
#include <thread>

static std::mutex lock;
static std::condition_variable changed;
static int n_done;

static void work(int me)
{
    std::cout << "thread " << me << std::endl;
    std::printf("thread %d\n", me);
    std::ostringstream text;
    text.imbue(std::locale::classic());
    text << "value=" << me * 10;
    std::smatch match;
    std::string string = text.str();
    assert(std::regex_match(string, match, std::regex("([a-z]+)=([0-9]+)")));
    assert(match[2] == std::to_string(me * 10));
    std::unique_lock<std::mutex> hold(lock);
    n_done++;
    std::notify_all_at_thread_exit(changed, std::move(hold));
}

int main()
{
    std::thread(work, 1).detach();
    std::thread(work, 2).detach();
    std::unique_lock<std::mutex> hold(lock);
    changed.wait(hold, [] { return n_done == 2; });
}
