// A message that several threads read, and that the last one frees. The decrement itself says who is the last.
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

struct message {
    atomic_int references;
    char text[32];
};

static void release(struct message *message) {
    if (atomic_fetch_sub(&message->references, 1) == 1)
        free(message);
}

static void *reader(void *arg) {
    struct message *message = arg;
    (void)strlen(message->text);
    release(message);
    return NULL;
}

int main(void) {
    struct message *message = malloc(sizeof *message);
    atomic_init(&message->references, 2);
    strcpy(message->text, "hello");
    pthread_t one, other;
    pthread_create(&one, NULL, reader, message);
    pthread_create(&other, NULL, reader, message);
    pthread_join(one, NULL);
    pthread_join(other, NULL);
}
