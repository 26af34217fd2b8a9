//@ none
//@ tsan: differs: it does not see the instruction that takes the lock
// A lock in assembly: acquired by an exchange, released by a plain store.
#include <pthread.h>
#include <stdlib.h>

void take(int *lock);
void give(int *lock);
__asm__(".text\n"
        ".globl take\n"
        "take:\n"
        "    movl $1, %eax\n"
        "    xchgl %eax, (%rdi)\n"
        "    testl %eax, %eax\n"
        "    jz 1f\n"
        "    pause\n"
        "    jmp take\n"
        "1:  ret\n"
        ".globl give\n"
        "give:\n"
        "    movl $0, (%rdi)\n"
        "    ret\n");

static int lock;
static pthread_mutex_t inner = PTHREAD_MUTEX_INITIALIZER;
static int count;

static void *work(void *arg)
{
    for (int i = 0; i < 2; i++) {
        take(&lock);
        count++;
        pthread_mutex_lock(&inner); // others may run, and find the lock taken
        pthread_mutex_unlock(&inner);
        count++;
        give(&lock);
    }
    return arg;
}

int main(void)
{
    pthread_t a, b;
    pthread_create(&a, NULL, work, NULL);
    pthread_create(&b, NULL, work, NULL);
    pthread_join(a, NULL);
    pthread_join(b, NULL);
    if (count != 8)
        abort();
    return 0;
}
