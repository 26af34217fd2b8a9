// Two threads log to a target that a thread of the library's writes, and send numbers through a ring buffer.
#include <assert.h>
#include <pthread.h>
#include <stdio.h>
#include <syslog.h>
#include <unistd.h>

#include <qb/qblog.h>
#include <qb/qbrb.h>

#define N 3
static int n_lines;
static qb_ringbuffer_t *ring;

static void count(int32_t target, struct qb_log_callsite *site, struct timespec *time, const char *text) {
    n_lines++;
}

static void *sender(void *arg) {
    for (int i = 0; i < N; i++) {
        qb_log(LOG_ERR, "sender %d", i);
        while (qb_rb_chunk_write(ring, &i, sizeof i) < 0) usleep(100);
    }
    return arg;
}

static void *receiver(void *arg) {
    for (int i = 0, taken; i < N; i++) {
        while (qb_rb_chunk_read(ring, &taken, sizeof taken, 100000) < 0) {}
        assert(taken == i);
        qb_log(LOG_ERR, "receiver %d", i);
    }
    return arg;
}

int main(void) {
    char name[64], path[128];
    snprintf(name, sizeof name, "driver-%d", getpid());
    // An execution that failed has left them behind, and another process may have had the number.
    const char *ends[] = {"header", "data"};
    for (int i = 0; i < 2; i++) {
        snprintf(path, sizeof path, "/dev/shm/qb-%s-%s", name, ends[i]);
        unlink(path);
    }
    ring = qb_rb_open(name, 64, QB_RB_FLAG_CREATE | QB_RB_FLAG_SHARED_THREAD, 0);
    assert(ring);
    qb_log_init("driver", LOG_USER, LOG_EMERG);
    qb_log_ctl(QB_LOG_SYSLOG, QB_LOG_CONF_ENABLED, QB_FALSE);
    int target = qb_log_custom_open(count, NULL, NULL, NULL);
    assert(target >= 0);
    qb_log_filter_ctl(target, QB_LOG_FILTER_ADD, QB_LOG_FILTER_FILE, "*", LOG_ERR);
    qb_log_ctl(target, QB_LOG_CONF_ENABLED, QB_TRUE);
    qb_log_ctl(target, QB_LOG_CONF_THREADED, QB_TRUE);
    assert(qb_log_thread_start() == 0);
    pthread_t threads[2];
    pthread_create(&threads[0], NULL, sender, NULL);
    pthread_create(&threads[1], NULL, receiver, NULL);
    for (int i = 0; i < 2; i++) pthread_join(threads[i], NULL);
    qb_log_fini();
    qb_rb_close(ring);
    assert(n_lines > 0 && n_lines <= 2 * N);
    return 0;
}
