//@ expect: pass
//@ execs: 20
// A text grows byte by byte, in place or not, by two threads in turn.
#include <pthread.h>
#include <stdlib.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static char *text;
static size_t length;

static void *worker(void *arg)
{
    for (int i = 0; i < 12; i++) {
        pthread_mutex_lock(&lock);
        text = realloc(text, length + 1);
        text[length++] = 'a' + i;
        pthread_mutex_unlock(&lock);
    }
    return arg;
}

int main(void)
{
    pthread_t a, b;
    pthread_create(&a, NULL, worker, NULL);
    pthread_create(&b, NULL, worker, NULL);
    pthread_join(a, NULL);
    pthread_join(b, NULL);
    char last = text[length - 1];
    text = realloc(text, 5);
    text[4] = last;
    free(text);
    return length != 24;
}
