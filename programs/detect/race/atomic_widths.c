//@ none
// One thread sets a byte of a word, another looks at the whole word, and the other way round: they see each other.
#include <pthread.h>
#include <stdatomic.h>

static union {
    atomic_uint word;
    atomic_uchar byte;
} ready, back;
static int data, answer;
int seen; // what is never looked at would not be read

static void *give(void *arg)
{
    data = 42;
    atomic_store(&ready.byte, 1);
    if (atomic_load(&back.byte))
        seen = answer;
    return arg;
}

static void *take(void *arg)
{
    if (atomic_load(&ready.word)) {
        answer = data;
        atomic_store(&back.word, 1);
    }
    return arg;
}

int main(void)
{
    pthread_t a, b;
    pthread_create(&a, NULL, give, NULL);
    pthread_create(&b, NULL, take, NULL);
    pthread_join(a, NULL);
    pthread_join(b, NULL);
    return 0;
}
