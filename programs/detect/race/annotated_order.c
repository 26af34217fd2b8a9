//@ none
// The flag is plain memory, but the program annotates it as synchronisation.
#include <pthread.h>
#include <stdatomic.h>

void AnnotateHappensBefore(const char *file, int line, const volatile void *address);
void AnnotateHappensAfter(const char *file, int line, const volatile void *address);

static atomic_int ready;
static int data;
int seen; // what is never looked at would not be read

static void *first(void *arg)
{
    data = 42;
    AnnotateHappensBefore(__FILE__, __LINE__, &ready);
    atomic_store_explicit(&ready, 1, memory_order_relaxed);
    return arg;
}

static void *second(void *arg)
{
    if (atomic_load_explicit(&ready, memory_order_relaxed)) {
        AnnotateHappensAfter(__FILE__, __LINE__, &ready);
        seen = data;
    }
    return arg;
}

int main(void)
{
    pthread_t a, b;
    pthread_create(&a, NULL, first, NULL);
    pthread_create(&b, NULL, second, NULL);
    pthread_join(a, NULL);
    pthread_join(b, NULL);
    return 0;
}
