// One producer, one consumer: what comes out must be what went in, in order.
#include "readerwritercircularbuffer.h"
#include "readerwriterqueue.h"
#include <cassert>
#include <thread>

int main() {
    const int n = 30;
    moodycamel::BlockingReaderWriterQueue<int> queue(4);
    moodycamel::BlockingReaderWriterCircularBuffer<int> ring(4);
    std::thread producer([&] {
        for (int i = 0; i < n; i++) queue.enqueue(i), ring.wait_enqueue(i);
    });
    std::thread consumer([&] {
        for (int i = 0; i < n; i++) {
            int a = -1, b = -1;
            queue.wait_dequeue(a);
            if (!ring.wait_dequeue_timed(b, 1000000)) ring.wait_dequeue(b);
            assert(a == i && b == i);
        }
    });
    producer.join(), consumer.join();
}
