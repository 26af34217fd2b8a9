//@ expect: assert
//@ execs: 4000
//@ unsaid: turn T2 T3
// Fails if the worker is held up for a second, which is a timing assumption, and, far more seldom, if two threads take
// turns: an error, also if the first was seen before.
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stddef.h>
#include <unistd.h>

static atomic_int is_late, turn;

static void *worker(void *arg)
{
    int n_turns = 0;
    for (int i = 0; i < 6; i++) {
        n_turns += turn == 2 * i + 1;
        turn = 2 * i + 2;
    }
    assert(!is_late && n_turns < 3);
    return arg;
}

static void *other(void *arg)
{
    for (int i = 0; i < 6; i++)
        if (turn == 2 * i)
            turn = 2 * i + 1;
    return arg;
}

static void *timer(void *arg)
{
    sleep(1);
    is_late = 1;
    return arg;
}

int main(void)
{
    void *(*functions[])(void *) = {timer, worker, other};
    pthread_t threads[3];
    for (int i = 0; i < 3; i++)
        pthread_create(&threads[i], NULL, functions[i], NULL);
    for (int i = 0; i < 3; i++)
        pthread_join(threads[i], NULL);
    return 0;
}
