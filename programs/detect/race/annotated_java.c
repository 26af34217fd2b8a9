//@ none
// A heap and a lock of a virtual machine: objects are made anew and moved, and the lock is only annotated.
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>

void __tsan_java_init(unsigned long heap, unsigned long size);
int __tsan_java_fini(void);
void __tsan_java_alloc(unsigned long object, unsigned long size);
void __tsan_java_free(unsigned long object, unsigned long size);
void __tsan_java_mutex_lock(unsigned long lock);
void __tsan_java_mutex_unlock(unsigned long lock);
void __tsan_java_mutex_read_lock(unsigned long lock);
void __tsan_java_mutex_read_unlock(unsigned long lock);

static _Alignas(64) char heap[1024];
static atomic_int is_held;

static void take(void)
{
    while (atomic_exchange_explicit(&is_held, 1, memory_order_relaxed))
        sched_yield();
}

static void give_back(void)
{
    atomic_store_explicit(&is_held, 0, memory_order_relaxed);
}

static void *writer(void *arg)
{
    take();
    __tsan_java_mutex_lock((unsigned long)heap);
    ++*(int *)(heap + 64);
    __tsan_java_mutex_unlock((unsigned long)heap);
    give_back();
    return arg;
}

static void *reader(void *arg)
{
    take();
    __tsan_java_mutex_read_lock((unsigned long)heap);
    int seen = *(int *)(heap + 64);
    __tsan_java_mutex_read_unlock((unsigned long)heap);
    give_back();
    return seen < 0 ? NULL : arg;
}

int main(void)
{
    pthread_t a, b, c;
    __tsan_java_init((unsigned long)heap, sizeof heap);
    __tsan_java_alloc((unsigned long)heap, 256);
    pthread_create(&a, NULL, writer, NULL);
    pthread_create(&b, NULL, writer, NULL);
    pthread_create(&c, NULL, reader, NULL);
    pthread_join(a, NULL);
    pthread_join(b, NULL);
    pthread_join(c, NULL);
    int is_wrong = *(int *)(heap + 64) != 2;
    __tsan_java_free((unsigned long)heap, 256);
    return is_wrong | __tsan_java_fini();
}
