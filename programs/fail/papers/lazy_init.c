//@ expect: assert
//@ execs: 500
//@ cause: entries++; | entries += 2; | assert(entries < 3);
//@ says: entries T1 T3
// A table is made by whoever comes first; the two others add to it and rely on who that was.
#include <assert.h>
#include <pthread.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int entries;

static void *make(void *arg)
{
    pthread_mutex_lock(&lock);
    entries++;
    pthread_mutex_unlock(&lock);
    return arg;
}

static void *fill(void *arg)
{
    pthread_mutex_lock(&lock);
    entries += 2;
    pthread_mutex_unlock(&lock);
    return arg;
}

static void *use(void *arg)
{
    pthread_mutex_lock(&lock);
    assert(entries < 3); // it never meets a table that is both made and filled
    pthread_mutex_unlock(&lock);
    return arg;
}

int main(void)
{
    void *(*const bodies[])(void *) = {use, make, fill};
    pthread_t t[3];
    for (int i = 0; i < 3; i++)
        pthread_create(&t[i], NULL, bodies[i], NULL);
    for (int i = 0; i < 3; i++)
        pthread_join(t[i], NULL);
    return 0;
}
