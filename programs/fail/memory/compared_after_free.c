//@ expect: misuse
//@ execs: 200
//@ cause: const char *known = user; | free(user);
//@ says: T1 T2
//@ undetected: the name is looked up under the lock and compared after it, and no detector looks at that
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static char *user;
static const char *wanted = "alice";
int is_same;

static void *comparer(void *arg)
{
    pthread_mutex_lock(&lock);
    const char *known = user;
    pthread_mutex_unlock(&lock);
    if (known)
        is_same = strcmp(known, wanted) == 0;
    return arg;
}

static void *closer(void *arg)
{
    pthread_mutex_lock(&lock);
    free(user);
    user = NULL;
    pthread_mutex_unlock(&lock);
    return arg;
}

int main(void)
{
    user = strdup("alfred");
    pthread_t a, b;
    pthread_create(&a, NULL, comparer, NULL);
    pthread_create(&b, NULL, closer, NULL);
    pthread_join(a, NULL);
    pthread_join(b, NULL);
    return 0;
}
