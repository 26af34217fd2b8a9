//@ expect: misuse
//@ execs: 100
//@ cause: free(open_request);
//@ says: request T1 T2
// Both workers free the same request: it is named as a whole, not by its first field.
#include <pthread.h>
#include <stdlib.h>

struct request {
    int number;
    char text[60];
};

static struct request *open_request;

static void *worker(void *arg)
{
    free(open_request);
    return arg;
}

int main(void)
{
    open_request = malloc(sizeof(struct request));
    open_request->number = 1;
    pthread_t a, b;
    pthread_create(&a, NULL, worker, NULL);
    pthread_create(&b, NULL, worker, NULL);
    pthread_join(a, NULL);
    pthread_join(b, NULL);
    return 0;
}
