//@ expect: assert
//@ execs: 500
//@ cause: while (last->next) | last->next = node;
//@ says: node#1.next T1 T2
// Two threads append to one list; only the count of its nodes is locked, not the way to its end.
#include <assert.h>
#include <pthread.h>
#include <stdlib.h>

#ifndef N
#define N 3
#endif
struct node {
    struct node *next;
};
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct node list;
static int n_nodes;

static void append(struct node *node)
{
    struct node *last = &list;
    while (last->next)
        last = last->next;
    last->next = node;
    pthread_mutex_lock(&lock);
    n_nodes++;
    pthread_mutex_unlock(&lock);
}

static void *build(void *arg)
{
    for (int i = 0; i < N; i++)
        append(calloc(1, sizeof(struct node)));
    return arg;
}

int main(void)
{
    pthread_t a, b;
    pthread_create(&a, NULL, build, NULL);
    pthread_create(&b, NULL, build, NULL);
    pthread_join(a, NULL);
    pthread_join(b, NULL);
    int length = 0;
    for (struct node *it = list.next; it; it = it->next)
        length++;
    assert(length == n_nodes);
    return 0;
}
