//@ expect: assert
//@ execs: 500
//@ cause: int n = length; | length = n
//@ says: length T1 T2
// Two spin locks for one list: inserts and removals do not exclude one another.
#include <assert.h>
#include <pthread.h>

static pthread_spinlock_t insert_lock, remove_lock;
static int length = 1;

static void *inserter(void *arg)
{
    (void)arg;
    pthread_spin_lock(&insert_lock);
    int n = length;
    length = n + 1;
    pthread_spin_unlock(&insert_lock);
    return NULL;
}

static void *remover(void *arg)
{
    (void)arg;
    pthread_spin_lock(&remove_lock);
    int n = length;
    length = n - 1;
    pthread_spin_unlock(&remove_lock);
    return NULL;
}

int main(void)
{
    pthread_t a, b;
    pthread_spin_init(&insert_lock, PTHREAD_PROCESS_PRIVATE);
    pthread_spin_init(&remove_lock, PTHREAD_PROCESS_PRIVATE);
    pthread_create(&a, NULL, inserter, NULL);
    pthread_create(&b, NULL, remover, NULL);
    pthread_join(a, NULL);
    pthread_join(b, NULL);
    assert(length == 1);
    return 0;
}
