//@ expect: assert
//@ execs: 500
//@ cause: assert(theirs->n_changes == n_changes); | set->n_changes++;
//@ says: theirs_all.n_changes T1 T2
// The same as hash_set.c for a set that is a search tree: who goes through it follows its nodes while another one hangs
// one in.
#include <assert.h>
#include <pthread.h>
#include <stdlib.h>

#ifndef THREADS
#define THREADS 2
#endif
struct node {
    int number;
    struct node *left, *right;
};
static struct set {
    pthread_mutex_t lock;
    struct node *root;
    volatile int n_changes;
} ours = {.lock = PTHREAD_MUTEX_INITIALIZER}, theirs_all = {.lock = PTHREAD_MUTEX_INITIALIZER};

static struct node **find(struct set *set, int number)
{
    struct node **link = &set->root;
    while (*link && (*link)->number != number)
        link = number < (*link)->number ? &(*link)->left : &(*link)->right;
    return link;
}

static void add(struct set *set, int number)
{
    pthread_mutex_lock(&set->lock);
    struct node **link = find(set, number);
    if (!*link) {
        *link = calloc(1, sizeof **link);
        (*link)->number = number;
    }
    set->n_changes++;
    pthread_mutex_unlock(&set->lock);
}

static int has_all_below(struct set *set, struct set *theirs, struct node *node, int n_changes)
{
    if (!node)
        return 1;
    assert(theirs->n_changes == n_changes); // modified while somebody goes through it
    return has_all_below(set, theirs, node->left, n_changes) && *find(set, node->number)
           && has_all_below(set, theirs, node->right, n_changes);
}

static int contains_all(struct set *set, struct set *theirs)
{
    pthread_mutex_lock(&set->lock);
    int is_all = has_all_below(set, theirs, theirs->root, theirs->n_changes);
    pthread_mutex_unlock(&set->lock);
    return is_all;
}

static void *compare(void *arg)
{
    contains_all(&ours, &theirs_all);
    return arg;
}

static void *change(void *arg)
{
    add(&theirs_all, 3);
    return arg;
}

int main(void)
{
    pthread_t t[THREADS];
    for (int i = 0; i < 2; i++) {
        add(&ours, (i * 5 + 2) % 8);
        add(&theirs_all, (i * 5 + 2) % 8);
    }
    for (int i = 0; i < THREADS; i++)
        pthread_create(&t[i], NULL, i % 2 ? change : compare, NULL);
    for (int i = 0; i < THREADS; i++)
        pthread_join(t[i], NULL);
    return 0;
}
