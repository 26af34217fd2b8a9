/* A hash table behind one lock. To look whether a key is there, and to add it, are two sections: two threads
   can both find it missing, and it is there twice. */
#include <assert.h>
#include <pthread.h>

enum { N_SLOTS = 32, N_THREADS = 3, N_KEYS = 6 };
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int keys[N_SLOTS], counts[N_SLOTS], n_used;

static int find(int key)
{
    int slot = key * 7 % N_SLOTS;
    while (keys[slot] != 0 && keys[slot] != key)
        slot = (slot + 1) % N_SLOTS;
    return slot;
}

static int contains(int key)
{
    pthread_mutex_lock(&lock);
    int is_there = keys[find(key)] == key;
    pthread_mutex_unlock(&lock);
    return is_there;
}

static void add(int key)
{
    pthread_mutex_lock(&lock);
    int slot = find(key);
    keys[slot] = key;
    counts[slot]++;
    n_used = 0;
    for (int i = 0; i < N_SLOTS; i++)
        n_used += counts[i];
    pthread_mutex_unlock(&lock);
}

static void *work(void *arg)
{
    long first = (long)arg;
    for (int i = 0; i < N_KEYS; i++) {
        /* Only the last key is one that all of them want. */
        int key = i == N_KEYS - 1 ? 60 : (int)(first * N_KEYS + i + 1);
        if (!contains(key))
            add(key);
    }
    return NULL;
}

int main(void)
{
    pthread_t threads[N_THREADS];
    for (long i = 0; i < N_THREADS; i++)
        pthread_create(&threads[i], NULL, work, (void *)i);
    for (int i = 0; i < N_THREADS; i++)
        pthread_join(threads[i], NULL);
    int sum = 0;
    for (int i = 0; i < N_SLOTS; i++) {
        assert(counts[i] <= 1);
        sum += counts[i];
    }
    assert(sum == n_used);
    return 0;
}
