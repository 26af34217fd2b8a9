//@ expect: pass
//@ execs: 20
// Structures that end in as much as was allocated, fields of some bits, and the beginning of a structure only.
#include <pthread.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

struct message {
    short length;
    char text[];
};
struct packed {
    unsigned a : 3, b : 7, c : 14;
} __attribute__((packed));
struct variant {
    int tag;
    union {
        char small;
        long large[8];
    } u;
};

static void *worker(void *arg)
{
    struct message *message = malloc(sizeof *message + 5);
    message->length = 5;
    memcpy(message->text, "hell", 5);
    struct packed *bits = malloc(sizeof *bits);
    bits->a = 1;
    bits->b = 2;
    bits->c = 3;
    struct variant *variant = malloc(offsetof(struct variant, u.small) + 1);
    variant->tag = 1;
    variant->u.small = message->text[4] + bits->c;
    int result = variant->u.small;
    free(variant);
    free(bits);
    free(message);
    return result == 3 ? arg : NULL;
}

int main(void)
{
    pthread_t a;
    void *result;
    pthread_create(&a, NULL, worker, &a);
    worker(NULL);
    pthread_join(a, &result);
    return result != &a;
}
