//@ race: write read
// Two holders of the read side: it orders them after the last writer, and one of them writes.
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>

void AnnotateRWLockCreate(const char *file, int line, const volatile void *lock);
void AnnotateRWLockDestroy(const char *file, int line, const volatile void *lock);
void AnnotateRWLockAcquired(const char *file, int line, const volatile void *lock, long is_write);
void AnnotateRWLockReleased(const char *file, int line, const volatile void *lock, long is_write);

static atomic_int readers; // -1: a writer
static int first;

static void take(int is_write)
{
    for (;;) {
        int seen = atomic_load_explicit(&readers, memory_order_relaxed);
        int next = is_write ? -1 : seen + 1;
        if ((is_write ? seen == 0 : seen >= 0) &&
            atomic_compare_exchange_weak_explicit(&readers, &seen, next, memory_order_relaxed,
                                                  memory_order_relaxed))
            break;
        sched_yield();
    }
    AnnotateRWLockAcquired(__FILE__, __LINE__, &readers, is_write);
}

static void give_back(int is_write)
{
    AnnotateRWLockReleased(__FILE__, __LINE__, &readers, is_write);
    atomic_fetch_add_explicit(&readers, is_write ? 1 : -1, memory_order_relaxed);
}

static void *writer(void *arg)
{
    take(0);
    first = 1; //= write
    give_back(0);
    return arg;
}

static void *reader(void *arg)
{
    take(0);
    int differ = first; //= read
    give_back(0);
    return differ ? arg : NULL;
}

int main(void)
{
    pthread_t t[3];
    AnnotateRWLockCreate(__FILE__, __LINE__, &readers);
    pthread_create(&t[0], NULL, writer, NULL);
    pthread_create(&t[1], NULL, reader, NULL);
    pthread_create(&t[2], NULL, reader, NULL);
    for (int i = 0; i < 3; i++)
        pthread_join(t[i], NULL);
    AnnotateRWLockDestroy(__FILE__, __LINE__, &readers);
    return 0;
}
