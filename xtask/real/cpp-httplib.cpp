// A server and two clients in one process.
#include "httplib.h"
#include <cassert>
#include <mutex>
#include <thread>

int main() {
    httplib::Server server;
    std::mutex lock;
    int n_requests = 0;
    server.Get("/hello", [&](const httplib::Request &, httplib::Response &response) {
        std::lock_guard<std::mutex> guard(lock);
        n_requests++;
        response.set_content("hello", "text/plain");
    });
    int port = server.bind_to_any_port("127.0.0.1");
    assert(port > 0);
    std::thread listener([&] { server.listen_after_bind(); });
    auto get = [&] {
        httplib::Client client("127.0.0.1", port);
        for (int i = 0; i < 2; i++) {
            auto result = client.Get("/hello");
            assert(result && result->body == "hello");
        }
    };
    std::thread first(get), second(get);
    first.join(), second.join();
    server.stop();
    listener.join();
    assert(n_requests == 4);
}
