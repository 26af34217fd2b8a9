//@ expect: assert
//@ execs: 200
//@ cause: int answer() { return late; } | static volatile int late = seven();
//@ says: late T0 T1
// A global object starts a thread in its constructor, before the object that the thread uses is made.
#include <cassert>
#include <thread>

extern int answer();

struct Early {
    std::thread thread{[] { assert(answer() == 42); }};
    ~Early() { thread.join(); }
};

static Early early;

struct Late {
    int value;
    Late() : value(42) {}
};

static int seven() { return 6 * 7; }
static volatile int late = seven();

int answer() { return late; }

int main() { return 0; }
