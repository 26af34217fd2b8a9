/* A cache of four entries, the one that was not used for longest goes. Who looks an entry up keeps its place
   and reads it in a second section: it may be another's by then. */
#include <assert.h>
#include <pthread.h>

enum { N_ENTRIES = 4, N_THREADS = 3, N_ROUNDS = 4 };
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct { int key, value, age; } entries[N_ENTRIES];
static int now;

static int place_of(int key)
{
    pthread_mutex_lock(&lock);
    int place = 0;
    for (int i = 0; i < N_ENTRIES; i++) {
        if (entries[i].key == key) {
            place = i;
            break;
        }
        if (entries[i].age < entries[place].age)
            place = i;
    }
    if (entries[place].key != key) {
        entries[place].key = key;
        entries[place].value = key * 10;
    }
    entries[place].age = ++now;
    pthread_mutex_unlock(&lock);
    return place;
}

static int value_at(int place)
{
    pthread_mutex_lock(&lock);
    int value = entries[place].value;
    for (int i = 0; i < N_ENTRIES; i++)
        assert(entries[i].age <= now);
    pthread_mutex_unlock(&lock);
    return value;
}

static void *work(void *arg)
{
    int base = (int)(long)arg * 10;
    for (int i = 1; i <= N_ROUNDS; i++)
        assert(value_at(place_of(base + i)) == (base + i) * 10);
    return NULL;
}

int main(void)
{
    pthread_t threads[N_THREADS];
    for (long i = 0; i < N_THREADS; i++)
        pthread_create(&threads[i], NULL, work, (void *)i);
    for (int i = 0; i < N_THREADS; i++)
        pthread_join(threads[i], NULL);
    return 0;
}
