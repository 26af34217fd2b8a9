//@ expect: assert
//@ execs: 500
//@ cause: assert(write(ends[1], &message[0], 1) == 1); | assert(write(ends[1], &message[1], 1) == 1);
//@ says: T1 T2
// Header and body of a message are two writes to a shared pipe: another sender's fall in between.
#include <assert.h>
#include <pthread.h>
#include <unistd.h>

static int ends[2];

static void *sender(void *arg)
{
    const char *message = arg;
    assert(write(ends[1], &message[0], 1) == 1);
    assert(write(ends[1], &message[1], 1) == 1);
    return NULL;
}

int main(void)
{
    pthread_t a, b;
    char got[4];
    assert(pipe(ends) == 0);
    pthread_create(&a, NULL, sender, "Aa");
    pthread_create(&b, NULL, sender, "Bb");
    for (int i = 0; i < 4; i++)
        assert(read(ends[0], &got[i], 1) == 1);
    pthread_join(a, NULL);
    pthread_join(b, NULL);
    assert(got[1] == got[0] + ('a' - 'A'));
    return 0;
}
