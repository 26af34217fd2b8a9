//@ race: store load
// Accesses that may be unaligned, by the sanitizers' own functions.
#include <pthread.h>
#include <stdint.h>

uint32_t __sanitizer_unaligned_load32(const void *from);
void __sanitizer_unaligned_store32(void *to, uint32_t value);

static char bytes[16];

static void *store(void *arg)
{
    __sanitizer_unaligned_store32(bytes + 3, 7); //= store
    return arg;
}

int main(void)
{
    pthread_t thread;
    pthread_create(&thread, NULL, store, NULL);
    uint32_t seen = __sanitizer_unaligned_load32(bytes + 3); //= load
    pthread_join(thread, NULL);
    return seen != 0 && seen != 7;
}
