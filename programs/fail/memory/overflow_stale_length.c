//@ expect: misuse
//@ execs: 200
//@ cause: int n = length; | length = 2;
//@ says: text T1
// A length is read under the lock, the text is written under it: in between, another thread replaces both.
#include <pthread.h>
#include <stdlib.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static char *text;
static int length;

static void *filler(void *arg)
{
    pthread_mutex_lock(&lock);
    int n = length;
    pthread_mutex_unlock(&lock);
    pthread_mutex_lock(&lock);
    for (int i = 0; i < n; i++)
        text[i] = 'x';
    pthread_mutex_unlock(&lock);
    return arg;
}

static void *replacer(void *arg)
{
    pthread_mutex_lock(&lock);
    free(text);
    text = malloc(2);
    length = 2;
    pthread_mutex_unlock(&lock);
    return arg;
}

int main(void)
{
    text = malloc(13);
    length = 13;
    pthread_t a, b;
    pthread_create(&a, NULL, filler, NULL);
    pthread_create(&b, NULL, replacer, NULL);
    pthread_join(a, NULL);
    pthread_join(b, NULL);
    free(text);
    return 0;
}
