// A message that several threads read, and that the last one frees. The decision who is the last takes two steps.
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

struct message {
    atomic_int references;
    char text[32];
};

static void release(struct message *message) {
    atomic_fetch_sub(&message->references, 1);
    if (atomic_load(&message->references) == 0)
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
