//@ race: a b
//@ tsan: differs: it finds the race, and says that a sleep is what seems to order it
// A sleep instead of a join: the thread has long finished, but nothing orders its accesses.
#include <pthread.h>
#include <unistd.h>

static int result;
int seen; // what is never looked at would not be read

static void *work(void *arg)
{
    result = 42; //= a
    return arg;
}

int main(void)
{
    pthread_t thread;
    pthread_create(&thread, NULL, work, NULL);
    pthread_detach(thread);
    sleep(1);
    seen = result; //= b
    return 0;
}
