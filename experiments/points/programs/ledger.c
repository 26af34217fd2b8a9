/* Two ledgers, each with its lock, summed up at every booking. One thread books from the first to the second,
   the other from the second to the first, and takes the locks in that order. */
#include <assert.h>
#include <pthread.h>

enum { N_LINES = 16, N_ROUNDS = 3 };
struct ledger {
    pthread_mutex_t lock;
    long lines[N_LINES], sum;
};
static struct ledger left = {PTHREAD_MUTEX_INITIALIZER, {0}, 0};
static struct ledger right = {PTHREAD_MUTEX_INITIALIZER, {0}, 0};

static void enter(struct ledger *it, int line, long amount)
{
    it->lines[line] += amount;
    it->sum = 0;
    for (int i = 0; i < N_LINES; i++)
        it->sum += it->lines[i];
}

static void book(struct ledger *from, struct ledger *to, int line)
{
    pthread_mutex_lock(&from->lock);
    enter(from, line, -1);
    pthread_mutex_lock(&to->lock);
    enter(to, line, 1);
    pthread_mutex_unlock(&to->lock);
    pthread_mutex_unlock(&from->lock);
}

static void *forth(void *arg)
{
    for (int i = 0; i < N_ROUNDS; i++)
        book(&left, &right, i);
    return arg;
}

static void *back(void *arg)
{
    book(&right, &left, N_LINES - 1);
    return arg;
}

int main(void)
{
    pthread_t one, other;
    pthread_create(&one, NULL, forth, NULL);
    pthread_create(&other, NULL, back, NULL);
    pthread_join(one, NULL);
    pthread_join(other, NULL);
    assert(left.sum + right.sum == 0);
    return 0;
}
