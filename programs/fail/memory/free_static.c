//@ expect: misuse
//@ execs: 200
//@ cause: line = initial; | is_own = 0;
//@ says: T2
// Whether the line was allocated is said apart from the line: in between, it is freed although it was not.
#include <pthread.h>
#include <stdlib.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static char initial[16];
static char *line;
static int is_own = 1;

static void *resetter(void *arg)
{
    pthread_mutex_lock(&lock);
    free(line);
    line = initial;
    pthread_mutex_unlock(&lock);
    pthread_mutex_lock(&lock);
    is_own = 0;
    pthread_mutex_unlock(&lock);
    return arg;
}

static void *closer(void *arg)
{
    pthread_mutex_lock(&lock);
    if (is_own)
        free(line);
    line = NULL;
    pthread_mutex_unlock(&lock);
    return arg;
}

int main(void)
{
    line = malloc(16);
    pthread_t a, b;
    pthread_create(&a, NULL, resetter, NULL);
    pthread_create(&b, NULL, closer, NULL);
    pthread_join(a, NULL);
    pthread_join(b, NULL);
    return 0;
}
