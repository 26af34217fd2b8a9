//@ expect: assert
//@ execs: 50
//@ cause: pthread_once(&once, use_files); | use_memory
//@ says: once T1 T2
// Both initialise the same once block, each in its own way; whoever comes later finds it done. One of them relies on
// having come first.
#include <assert.h>
#include <pthread.h>

static pthread_once_t once = PTHREAD_ONCE_INIT;
static int mode;

static void use_files(void) { mode = 1; }
static void use_memory(void) { mode = 2; }

static void *loader(void *arg)
{
    (void)arg;
    pthread_once(&once, use_files);
    assert(mode == 1); // unless the cache came first
    return NULL;
}

static void *cache(void *arg)
{
    (void)arg;
    pthread_once(&once, use_memory);
    return NULL;
}

int main(void)
{
    pthread_t a, b;
    pthread_create(&a, NULL, loader, NULL);
    pthread_create(&b, NULL, cache, NULL);
    pthread_join(a, NULL);
    pthread_join(b, NULL);
    return 0;
}
