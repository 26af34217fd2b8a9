//@ expect: assert
//@ execs: 4000
//@ cause: sum += branches[i].total;
//@ undetected: two totals with locks of their own; nothing says that they belong together
//@ says: total T1 T5
// Transfers keep the locks of both accounts in order; the totals of their branches have locks of their own, and are
// brought up to date one after the other. An audit that sees the version unchanged can still fall between the two.
#include <assert.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

enum { BRANCHES = 4, PER_BRANCH = 3, ACCOUNTS = BRANCHES * PER_BRANCH, OPENING = 100, ROUNDS = 4 };

struct account {
    pthread_mutex_t lock;
    long balance;
    int n_entries;
    bool is_frozen;
};

struct branch {
    pthread_mutex_t lock;
    long total;
    int n_changes;
};

struct teller {
    uint32_t random;
    int n_refused, n_local, n_remote;
};

static struct account accounts[ACCOUNTS];
static struct branch branches[BRANCHES];
static struct {
    pthread_mutex_t lock;
    unsigned version;
    int n_pending;
} ledger = {.lock = PTHREAD_MUTEX_INITIALIZER};

static int branch_of(int account)
{
    return account / PER_BRANCH;
}

static uint32_t draw(struct teller *teller, uint32_t below)
{
    teller->random = teller->random * 1664525u + 1013904223u;
    return (teller->random >> 8) % below;
}

static unsigned version_now(void)
{
    pthread_mutex_lock(&ledger.lock);
    unsigned version = ledger.version;
    pthread_mutex_unlock(&ledger.lock);
    return version;
}

static void begin_change(void)
{
    pthread_mutex_lock(&ledger.lock);
    ledger.n_pending++;
    pthread_mutex_unlock(&ledger.lock);
}

static void end_change(void)
{
    pthread_mutex_lock(&ledger.lock);
    ledger.n_pending--;
    ledger.version++;
    pthread_mutex_unlock(&ledger.lock);
}

static void lock_both(int a, int b)
{
    pthread_mutex_lock(&accounts[a < b ? a : b].lock);
    pthread_mutex_lock(&accounts[a < b ? b : a].lock);
}

static void unlock_both(int a, int b)
{
    pthread_mutex_unlock(&accounts[a].lock);
    pthread_mutex_unlock(&accounts[b].lock);
}

static void move_totals(struct branch *from, struct branch *to, long amount)
{
    pthread_mutex_lock(&from->lock);
    from->total -= amount;
    from->n_changes++;
    pthread_mutex_unlock(&from->lock);
    pthread_mutex_lock(&to->lock);
    to->total += amount;
    to->n_changes++;
    pthread_mutex_unlock(&to->lock);
}

static bool transfer(struct teller *teller, int from, int to, long amount)
{
    if (from == to)
        return false;
    lock_both(from, to);
    bool is_possible = accounts[from].balance >= amount && !accounts[from].is_frozen;
    if (is_possible) {
        accounts[from].balance -= amount;
        accounts[to].balance += amount;
        accounts[from].n_entries++;
        accounts[to].n_entries++;
        if (branch_of(from) != branch_of(to)) {
            begin_change();
            move_totals(&branches[branch_of(from)], &branches[branch_of(to)], amount);
            end_change();
            teller->n_remote++;
        } else {
            teller->n_local++;
        }
    }
    unlock_both(from, to);
    return is_possible;
}

static void *serve(void *arg)
{
    struct teller *teller = arg;
    for (int i = 0; i < ROUNDS; i++) {
        int from = (int)draw(teller, ACCOUNTS), to = (int)draw(teller, ACCOUNTS);
        // Most customers stay with their branch.
        if (i != 1 || teller->n_local != 1)
            to = branch_of(from) * PER_BRANCH + to % PER_BRANCH;
        if (!transfer(teller, from, to, 1 + draw(teller, 40)))
            teller->n_refused++;
    }
    return NULL;
}

static void *freeze_idle(void *arg)
{
    for (int i = 0; i < ACCOUNTS; i++) {
        pthread_mutex_lock(&accounts[i].lock);
        if (accounts[i].balance == 0)
            accounts[i].is_frozen = true;
        pthread_mutex_unlock(&accounts[i].lock);
    }
    return arg;
}

static void *audit(void *arg)
{
    for (int attempt = 0; attempt < 3; attempt++) {
        unsigned before = version_now();
        long sum = 0;
        for (int i = 0; i < BRANCHES; i++) {
            pthread_mutex_lock(&branches[i].lock);
            sum += branches[i].total;
            pthread_mutex_unlock(&branches[i].lock);
        }
        if (version_now() == before) {
            assert(sum == (long)ACCOUNTS * OPENING);
            return arg;
        }
    }
    return arg;
}

int main(void)
{
    for (int i = 0; i < ACCOUNTS; i++) {
        pthread_mutex_init(&accounts[i].lock, NULL);
        accounts[i].balance = OPENING;
    }
    for (int i = 0; i < BRANCHES; i++) {
        pthread_mutex_init(&branches[i].lock, NULL);
        branches[i].total = PER_BRANCH * OPENING;
    }
    struct teller tellers[3] = {{.random = 7}, {.random = 1234}, {.random = 99991}};
    pthread_t threads[5];
    for (int i = 0; i < 3; i++)
        pthread_create(&threads[i], NULL, serve, &tellers[i]);
    pthread_create(&threads[3], NULL, freeze_idle, NULL);
    pthread_create(&threads[4], NULL, audit, NULL);
    for (int i = 0; i < 5; i++)
        pthread_join(threads[i], NULL);
    return 0;
}
