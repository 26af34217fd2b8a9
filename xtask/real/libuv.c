// Work in the pool, an async handle sent from another thread, a timer, a file: the loop ends when all is done.
#include <assert.h>
#include <uv.h>

static uv_async_t async;
static uv_timer_t timer;
static uv_mutex_t lock;
static int n_worked, n_done, n_sent, n_seen, has_fired;

static void work(uv_work_t *it) {
    uv_mutex_lock(&lock);
    n_worked++;
    uv_mutex_unlock(&lock);
}

static void after(uv_work_t *it, int status) {
    assert(status == 0);
    n_done++;
}

static void on_async(uv_async_t *it) {
    uv_mutex_lock(&lock);
    n_seen = n_sent;
    uv_mutex_unlock(&lock);
    if (n_seen == 3) uv_close((uv_handle_t *)it, NULL);
}

static void on_timer(uv_timer_t *it) {
    has_fired = 1;
    uv_close((uv_handle_t *)it, NULL);
}

static void on_stat(uv_fs_t *it) {
    assert(it->result == 0);
    uv_fs_req_cleanup(it);
}

static void sender(void *arg) {
    for (int i = 0; i < 3; i++) {
        uv_mutex_lock(&lock);
        n_sent++;
        uv_mutex_unlock(&lock);
        uv_async_send(&async);
    }
}

int main(void) {
    uv_loop_t loop;
    uv_work_t pieces[4];
    uv_fs_t stat;
    uv_thread_t thread;
    assert(uv_loop_init(&loop) == 0 && uv_mutex_init(&lock) == 0);
    assert(uv_async_init(&loop, &async, on_async) == 0 && uv_timer_init(&loop, &timer) == 0);
    uv_timer_start(&timer, on_timer, 5, 0);
    for (int i = 0; i < 4; i++) assert(uv_queue_work(&loop, &pieces[i], work, after) == 0);
    assert(uv_fs_stat(&loop, &stat, "/", on_stat) == 0);
    assert(uv_thread_create(&thread, sender, NULL) == 0);
    uv_run(&loop, UV_RUN_DEFAULT);
    uv_thread_join(&thread);
    assert(n_worked == 4 && n_done == 4 && n_seen == 3 && has_fired);
    assert(uv_loop_close(&loop) == 0);
    uv_mutex_destroy(&lock);
    return 0;
}
