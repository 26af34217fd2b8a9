// Two threads send asyncs to a loop and write to its pipe; the loop ends when it has seen all of it.
#include <assert.h>
#include <ev.h>
#include <pthread.h>
#include <unistd.h>

#define N 5
static struct ev_loop *loop;
static ev_async wake;
static ev_io input;
static ev_timer tick;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int queued, taken, n_bytes, pipes[2];

static void end_if_done(void) {
    if (taken == 2 * N && n_bytes == 2) ev_break(loop, EVBREAK_ALL);
}

static void on_wake(EV_P_ ev_async *it, int events) {
    pthread_mutex_lock(&lock);
    taken += queued, queued = 0;
    pthread_mutex_unlock(&lock);
    end_if_done();
}

static void on_input(EV_P_ ev_io *it, int events) {
    char c;
    if (read(pipes[0], &c, 1) == 1) n_bytes++;
    end_if_done();
}

static void on_tick(EV_P_ ev_timer *it, int events) {}

static void *sender(void *arg) {
    for (int i = 0; i < N; i++) {
        pthread_mutex_lock(&lock);
        queued++;
        pthread_mutex_unlock(&lock);
        ev_async_send(loop, &wake);
    }
    assert(write(pipes[1], "x", 1) == 1);
    return arg;
}

int main(void) {
    assert(pipe(pipes) == 0);
    loop = ev_loop_new(EVBACKEND_EPOLL);
    ev_async_init(&wake, on_wake);
    ev_async_start(loop, &wake);
    ev_io_init(&input, on_input, pipes[0], EV_READ);
    ev_io_start(loop, &input);
    ev_timer_init(&tick, on_tick, 0.01, 0.01);
    ev_timer_start(loop, &tick);
    pthread_t t[2];
    for (int i = 0; i < 2; i++) pthread_create(&t[i], NULL, sender, NULL);
    ev_run(loop, 0);
    for (int i = 0; i < 2; i++) pthread_join(t[i], NULL);
    ev_loop_destroy(loop);
    return 0;
}
