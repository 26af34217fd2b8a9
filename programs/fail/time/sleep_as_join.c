//@ expect: assert
//@ execs: 500
//@ cause: pthread_mutex_lock(&disk);
//@ says: disk T1 T2
// "It will be ready in a second": sleeping in place of waiting fails if a backup has the disk first.
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>
#include <unistd.h>

static pthread_mutex_t disk = PTHREAD_MUTEX_INITIALIZER;
static atomic_int loaded;

static void *use_disk(void *arg)
{
    pthread_mutex_lock(&disk);
    usleep((useconds_t)(intptr_t)arg);
    pthread_mutex_unlock(&disk);
    return NULL;
}

static void *loader(void *arg)
{
    use_disk(arg);
    atomic_store(&loaded, 1);
    return NULL;
}

static void *user(void *arg)
{
    usleep((useconds_t)(intptr_t)arg);
    assert(atomic_load(&loaded));
    return NULL;
}

int main(void)
{
    pthread_t t[3];
    pthread_create(&t[0], NULL, loader, (void *)(intptr_t)1000);
    pthread_create(&t[1], NULL, use_disk, (void *)(intptr_t)900000);
    pthread_create(&t[2], NULL, user, (void *)(intptr_t)300000);
    for (int i = 0; i < 3; i++)
        pthread_join(t[i], NULL);
    return 0;
}
