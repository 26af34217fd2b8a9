// Two threads log through a small queue, which blocks them when it is full; no line may be lost.
#include <cassert>
#include <mutex>
#include <spdlog/async.h>
#include <spdlog/sinks/base_sink.h>
#include <thread>

struct Counting : spdlog::sinks::base_sink<std::mutex> {
    int n_lines = 0;
    void sink_it_(const spdlog::details::log_msg &) override { n_lines++; }
    void flush_() override {}
};

int main() {
    auto sink = std::make_shared<Counting>();
    {
        auto pool = std::make_shared<spdlog::details::thread_pool>(4, 1);
        auto logger = std::make_shared<spdlog::async_logger>("it", sink, pool, spdlog::async_overflow_policy::block);
        auto work = [&](int id) {
            for (int i = 0; i < 5; i++) logger->info("{} {}", id, i);
        };
        std::thread first(work, 1), second(work, 2);
        first.join(), second.join();
        logger->flush();
    }
    assert(sink->n_lines == 10);
}
