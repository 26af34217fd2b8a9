//@ race: a b
// The program declares the race on one of its two counters benign.
#include <pthread.h>
#include <stddef.h>

void AnnotateBenignRaceSized(const char *file, int line, const volatile void *address, size_t size,
                             const char *why);

static struct {
    int hits;
    int bytes;
} statistics;

static void *first(void *arg)
{
    statistics.hits++;
    statistics.bytes++; //= a
    return arg;
}

static void *second(void *arg)
{
    statistics.hits++;
    statistics.bytes++; //= b
    return arg;
}

int main(void)
{
    pthread_t a, b;
    AnnotateBenignRaceSized(__FILE__, __LINE__, &statistics.hits, sizeof statistics.hits,
                            "only roughly counted");
    pthread_create(&a, NULL, first, NULL);
    pthread_create(&b, NULL, second, NULL);
    pthread_join(a, NULL);
    pthread_join(b, NULL);
    return 0;
}
