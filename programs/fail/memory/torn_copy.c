//@ expect: assert
//@ execs: 1000
//@ cause: memset(page[0] | memset(page[1] | memcpy(copy[0] | memcpy(copy[1]
//@ says: page[0][0] page[1][0] T1 T2
// Two memset halves of a shared page without a lock: the reader's memcpy may see both fillings.
#include <assert.h>
#include <pthread.h>
#include <string.h>

static char page[2][64];

static void *writer(void *arg)
{
    (void)arg;
    memset(page[0], 'x', sizeof page[0]);
    memset(page[1], 'x', sizeof page[1]);
    return NULL;
}

static void *reader(void *arg)
{
    (void)arg;
    char copy[2][64];
    memcpy(copy[0], page[0], sizeof copy[0]);
    memcpy(copy[1], page[1], sizeof copy[1]);
    assert(copy[0][5] == copy[1][5]);
    return NULL;
}

int main(void)
{
    pthread_t a, b;
    pthread_create(&a, NULL, writer, NULL);
    pthread_create(&b, NULL, reader, NULL);
    pthread_join(a, NULL);
    pthread_join(b, NULL);
    return 0;
}
