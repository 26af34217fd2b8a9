//@ expect: pass
//@ execs: 20
// Objects are cut out of one block, up to its last byte.
#include <pthread.h>
#include <stdlib.h>

struct object {
    struct object *next;
    char payload[5];
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static char *arena;
static size_t used;
static struct object *unused;

static struct object *get(void)
{
    pthread_mutex_lock(&lock);
    struct object *it = unused;
    if (it) {
        unused = it->next;
    } else {
        it = (struct object *)(arena + used);
        used += sizeof *it;
    }
    pthread_mutex_unlock(&lock);
    return it;
}

static void put(struct object *it)
{
    pthread_mutex_lock(&lock);
    it->next = unused;
    unused = it;
    pthread_mutex_unlock(&lock);
}

static void *worker(void *arg)
{
    for (int i = 0; i < 3; i++) {
        struct object *a = get(), *b = get();
        a->payload[4] = b->payload[4] = i;
        put(a);
        put(b);
    }
    return arg;
}

int main(void)
{
    arena = malloc(4 * sizeof(struct object));
    pthread_t a;
    pthread_create(&a, NULL, worker, NULL);
    worker(NULL);
    pthread_join(a, NULL);
    free(arena);
    return 0;
}
