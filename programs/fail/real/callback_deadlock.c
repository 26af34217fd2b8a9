//@ expect: deadlock
//@ execs: 500
//@ cause: pthread_mutex_lock(&bus->lock); | pthread_mutex_lock(&model.lock);
//@ says: bus.lock model.lock T1 T2
// A bus calls its listeners while it holds its lock; a listener takes the lock of the model, whose owner publishes.
#include <pthread.h>
#include <stddef.h>

struct bus {
    pthread_mutex_t lock;
    void (*listener)(int event);
};

static struct {
    pthread_mutex_t lock;
    int value;
} model = {PTHREAD_MUTEX_INITIALIZER, 0};

static void publish(struct bus *bus, int event)
{
    pthread_mutex_lock(&bus->lock);
    if (bus->listener)
        bus->listener(event);
    pthread_mutex_unlock(&bus->lock);
}

static void on_event(int event)
{
    if (event == 0)
        return;
    pthread_mutex_lock(&model.lock);
    model.value = event;
    pthread_mutex_unlock(&model.lock);
}

static struct bus bus = {PTHREAD_MUTEX_INITIALIZER, on_event};

static void *editor(void *arg)
{
    pthread_mutex_lock(&model.lock);
    model.value++;
    publish(&bus, 0);
    pthread_mutex_unlock(&model.lock);
    return arg;
}

static void *timer(void *arg)
{
    publish(&bus, 1);
    return arg;
}

int main(void)
{
    bus.listener = on_event;
    pthread_t threads[2];
    pthread_create(&threads[0], NULL, timer, NULL);
    pthread_create(&threads[1], NULL, editor, NULL);
    for (int i = 0; i < 2; i++)
        pthread_join(threads[i], NULL);
    return 0;
}
