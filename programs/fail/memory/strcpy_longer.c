//@ expect: misuse
//@ execs: 200
//@ cause: char *copy = malloc(strlen(name) + 1); | name = "a longer name";
//@ says: copy T1
// Room is made for a name, and then it is copied: in between, another thread gives it a longer one.
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static const char *name = "name";
int seen; // what is never looked at would not be copied

static void *reader(void *arg)
{
    pthread_mutex_lock(&lock);
    char *copy = malloc(strlen(name) + 1);
    pthread_mutex_unlock(&lock);
    pthread_mutex_lock(&lock);
    strcpy(copy, name);
    pthread_mutex_unlock(&lock);
    seen = copy[0];
    free(copy);
    return arg;
}

static void *writer(void *arg)
{
    pthread_mutex_lock(&lock);
    name = "a longer name";
    pthread_mutex_unlock(&lock);
    return arg;
}

int main(void)
{
    pthread_t a, b;
    pthread_create(&a, NULL, reader, NULL);
    pthread_create(&b, NULL, writer, NULL);
    pthread_join(a, NULL);
    pthread_join(b, NULL);
    return 0;
}
