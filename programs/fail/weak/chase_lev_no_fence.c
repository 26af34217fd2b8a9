//@ expect: assert
//@ execs: 2000
//@ memory-model: tso
//@ unnamed: atomic_store_explicit(&bottom, b,
//@ says: top T0 T1
// Chase and Lev's deque without the fence between the owner's store to `bottom` and its load of `top`: a thief that still
// reads the old `bottom` takes the same task. x86 does this.
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>

#define N 4
static atomic_long top, bottom;
static atomic_int tasks[N], taken[N + 1];

static void push(int task)
{
    long b = atomic_load_explicit(&bottom, memory_order_relaxed);
    atomic_store_explicit(&tasks[b % N], task, memory_order_relaxed);
    atomic_store_explicit(&bottom, b + 1, memory_order_release);
}

static int take(void)
{
    long b = atomic_load_explicit(&bottom, memory_order_relaxed) - 1;
    atomic_store_explicit(&bottom, b, memory_order_release);
    long t = atomic_load_explicit(&top, memory_order_acquire);
    if (t > b) {
        atomic_store_explicit(&bottom, b + 1, memory_order_relaxed);
        return 0;
    }
    int task = atomic_load_explicit(&tasks[b % N], memory_order_relaxed);
    if (t == b) {
        if (!atomic_compare_exchange_strong(&top, &t, t + 1))
            task = 0;
        atomic_store_explicit(&bottom, b + 1, memory_order_relaxed);
    }
    return task;
}

static int steal(void)
{
    long t = atomic_load_explicit(&top, memory_order_acquire);
    atomic_thread_fence(memory_order_seq_cst);
    long b = atomic_load_explicit(&bottom, memory_order_acquire);
    if (t >= b)
        return 0;
    int task = atomic_load_explicit(&tasks[t % N], memory_order_relaxed);
    if (!atomic_compare_exchange_strong(&top, &t, t + 1))
        return 0;
    return task;
}

static void done(int task)
{
    if (task)
        assert(atomic_fetch_add_explicit(&taken[task], 1, memory_order_relaxed) == 0);
}

static void *thief(void *arg)
{
    (void)arg;
    done(steal());
    done(steal());
    return NULL;
}

int main(void)
{
    pthread_t t;
    pthread_create(&t, NULL, thief, NULL);
    push(1);
    push(2);
    done(take());
    done(take());
    pthread_join(t, NULL);
    return 0;
}
