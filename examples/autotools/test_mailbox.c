#include <assert.h>
#include <pthread.h>

#include "mailbox.h"

static void *send(void *arg) {
    mailbox_put(7);
    return arg;
}

int main(void) {
    pthread_t sender;
    pthread_create(&sender, 0, send, 0);
    assert(mailbox_take() == 7);
    pthread_join(sender, 0);
    return 0;
}
