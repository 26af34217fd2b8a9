//@ expect: pass
//@ execs: 50
// Memory that is unmapped and mapped again at the same address has no history: a mutex that was
// held there, a freed block, another thread's data.
#define _GNU_SOURCE
#include <assert.h>
#include <pthread.h>
#include <string.h>
#include <sys/mman.h>

enum { SIZE = 8192 };

struct shared {
    pthread_mutex_t lock;
    pthread_cond_t changed;
    int count;
};

static void *add(void *arg)
{
    struct shared *it = arg;
    pthread_mutex_lock(&it->lock);
    it->count++;
    pthread_cond_signal(&it->changed);
    pthread_mutex_unlock(&it->lock);
    return NULL;
}

static void *leave_it_locked(void *arg)
{
    struct shared *it = arg;
    pthread_mutex_lock(&it->lock);
    it->count++;
    return NULL;
}

static struct shared *map_at(void *at)
{
    int fixed = at ? MAP_FIXED : 0;
    void *memory =
        mmap(at, SIZE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | fixed, -1, 0);
    assert(memory != MAP_FAILED);
    return memory;
}

int main(void)
{
    pthread_t thread;
    struct shared *it = map_at(NULL);
    for (int i = 0; i < 3; i++) {
        pthread_create(&thread, NULL, leave_it_locked, it);
        pthread_join(thread, NULL);
        assert(it->count == 1);
        // Over it, after it is given back, and after it has moved.
        if (i == 0) {
            it = map_at(it);
        } else if (i == 1) {
            munmap(it, SIZE);
            it = map_at(it);
        } else {
            void *moved = mremap(it, SIZE, 4 * SIZE, MREMAP_MAYMOVE);
            assert(moved != MAP_FAILED);
            munmap(moved, 4 * SIZE);
            it = map_at(it);
        }
        pthread_create(&thread, NULL, add, it);
        pthread_mutex_lock(&it->lock);
        while (it->count == 0)
            pthread_cond_wait(&it->changed, &it->lock);
        pthread_mutex_unlock(&it->lock);
        pthread_join(thread, NULL);
        it->count = 0;
    }
    munmap(it, SIZE);
    return 0;
}
