//@ race: first second
//@ race: first first
//@ race: second second
//@ tsan: differs: it does not see the instruction that takes the lock
// A ticket lock in assembly orders what it protects, and not the variables beside it.
#include <pthread.h>

struct lock {
    int next, owner;
};

void take(struct lock *lock);
void give(struct lock *lock);
__asm__(".text\n"
        ".globl take\n"
        "take:\n"
        "    movl $1, %eax\n"
        "    lock xaddl %eax, (%rdi)\n"
        "1:  cmpl %eax, 4(%rdi)\n"
        "    je 2f\n"
        "    pause\n"
        "    jmp 1b\n"
        "2:  ret\n"
        ".globl give\n"
        "give:\n"
        "    incl 4(%rdi)\n"
        "    ret\n");

static struct lock lock;
static int count;
static int beside;

static void *work(void *arg)
{
    beside++; //= first
    take(&lock);
    count++;
    give(&lock);
    beside++; //= second
    return arg;
}

int main(void)
{
    pthread_t a, b;
    pthread_create(&a, NULL, work, NULL);
    pthread_create(&b, NULL, work, NULL);
    pthread_join(a, NULL);
    pthread_join(b, NULL);
    return 0;
}
