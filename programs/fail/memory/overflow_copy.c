//@ expect: misuse
//@ execs: 200
//@ cause: packet->size = 40;
//@ says: copy T1
// A size is checked, then read again for the copy: another thread has changed it.
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

struct packet {
    int size;
    char body[60];
};

static struct packet *packet;
int seen; // what is never looked at would not be copied

static void *receiver(void *arg)
{
    char *copy = calloc(1, 16);
    if (__atomic_load_n(&packet->size, __ATOMIC_SEQ_CST) <= 16)
        memcpy(copy, packet->body, __atomic_load_n(&packet->size, __ATOMIC_SEQ_CST));
    seen = copy[0];
    free(copy);
    return arg;
}

static void *sender(void *arg)
{
    __atomic_store_n(&packet->size, 40, __ATOMIC_SEQ_CST); // packet->size = 40;
    return arg;
}

int main(void)
{
    packet = calloc(1, sizeof *packet);
    packet->size = 8;
    pthread_t a, b;
    pthread_create(&a, NULL, receiver, NULL);
    pthread_create(&b, NULL, sender, NULL);
    pthread_join(a, NULL);
    pthread_join(b, NULL);
    free(packet);
    return 0;
}
