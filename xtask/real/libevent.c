// Two threads make events of a base active and add timers; the base ends when it has seen all of them.
#include <assert.h>
#include <event2/event.h>
#include <event2/thread.h>
#include <pthread.h>

#define N 4
static struct event_base *base;
static struct event *events[2], *timers[2];
static int n_active, n_timers;

static void on_event(evutil_socket_t fd, short what, void *arg) {
    if (++n_active >= 2 && n_timers == 2) event_base_loopbreak(base);
}

static void on_timer(evutil_socket_t fd, short what, void *arg) {
    if (++n_timers == 2) event_base_loopbreak(base);
}

static void *sender(void *arg) {
    int id = *(int *)arg;
    for (int i = 0; i < N; i++) event_active(events[id], EV_WRITE, 0);
    struct timeval soon = {0, 1000 * (id + 1)};
    assert(event_add(timers[id], &soon) == 0);
    return NULL;
}

int main(void) {
    assert(evthread_use_pthreads() == 0);
    assert((base = event_base_new()));
    pthread_t t[2];
    int ids[2] = {0, 1};
    for (int i = 0; i < 2; i++) {
        events[i] = event_new(base, -1, EV_PERSIST, on_event, NULL);
        timers[i] = event_new(base, -1, 0, on_timer, NULL);
    }
    for (int i = 0; i < 2; i++) pthread_create(&t[i], NULL, sender, &ids[i]);
    event_base_loop(base, EVLOOP_NO_EXIT_ON_EMPTY);
    for (int i = 0; i < 2; i++) pthread_join(t[i], NULL);
    assert(n_timers == 2);
    for (int i = 0; i < 2; i++) event_free(events[i]), event_free(timers[i]);
    event_base_free(base);
    libevent_global_shutdown();
    return 0;
}
