//@ expect: assert
//@ execs: 200
//@ cause: ++*counter;
//@ says: T1 T2
// A lost update in memory that the program has mapped itself.
#include <assert.h>
#include <pthread.h>
#include <sys/mman.h>

static int *counter;

static void *add(void *arg)
{
    ++*counter;
    return arg;
}

int main(void)
{
    pthread_t threads[2];
    counter = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    assert(counter != MAP_FAILED);
    for (int i = 0; i < 2; i++)
        pthread_create(&threads[i], NULL, add, NULL);
    for (int i = 0; i < 2; i++)
        pthread_join(threads[i], NULL);
    assert(*counter == 2);
    munmap(counter, 4096);
    return 0;
}
