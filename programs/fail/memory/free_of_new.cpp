//@ expect: misuse
//@ execs: 200
//@ cause: job.store(new Job) | delete job.load();
//@ says: malloc delete T2
// Two kinds of jobs: which one the consumer finds depends on who came first.
#include <atomic>
#include <cstdlib>
#include <thread>

struct Job {
    int number;
};

static std::atomic<Job *> job;

int main()
{
    std::thread producer([] { job.store(new Job); });
    std::thread consumer([] {
        if (!job.load())
            job.store(static_cast<Job *>(std::malloc(sizeof(Job))));
        delete job.load();
    });
    producer.join();
    consumer.join();
}
